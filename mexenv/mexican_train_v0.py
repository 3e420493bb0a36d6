"""Mexican Train, the domino game, as a PettingZoo environment.

| | |
|---|---|
| Creation | `mexican_train_v0.env()`, or `pettingzoo.make("aec", "mexenv/mexican_train-v0")` |
| Agents | `player_0`, `player_1`, … in clockwise order; 4 unless the options say otherwise |
| Actions | `Discrete(457)` with double-12 tiles and 4 players |
| Observations | `{"observation": float32 (396,), "action_mask": int8 (457,)}` with the same |
| Parallel API | no; `pettingzoo.utils.conversions.turn_based_aec_to_parallel` makes one with idle seats |
| Rendering | `ansi`, `rgb_array`, `human` (prints the text) |

```python
from mexenv import mexican_train_v0

env = mexican_train_v0.env(players=3)
env.reset(seed=42)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    if termination or truncation:
        action = None
    else:
        action = env.action_space(agent).sample(observation["action_mask"])  # your policy here
    env.step(action)
env.close()
```

`env()` is wrapped as PettingZoo's classic games are: an illegal action ends the episode, with reward -1 for
its agent and 0 for the others. In `raw_env()` an illegal action is an error that names it and the legal ones,
and changes nothing.

### Actions

An action lays a tile on a train, draws, or passes (which also ends an opening chain). Trains are counted from
the mover: 0 is its own, 1 that of the next seat clockwise, and so on; the last is the Mexican Train. So an
action means the same for every seat, and the numbers do not depend on the position:
`tile_index * (players + 1) + train`, then draw, then pass. Rulesets in which a tile can join a train in two
ways have two actions for each such pair. `env.unwrapped.actions` (`mexenv.rules.ActionLayout`) encodes,
decodes and describes them.

The same agent may be to move several times in a row (after a draw, after a double): `agent_selection` stays.

### Observations

A flat vector made of named sections, everything as seen from the observing seat: its hand, where every tile
on the table lies, the ends, markers and lengths of the trains, uncovered doubles, the stage of the turn, hand
sizes, what the other seats are known not to hold, the scores. It holds only what the seat may know.

```python
for section in env.unwrapped.layout:
    print(section.name, section.shape, section.low, section.high, section.meaning)
env.unwrapped.layout["hand"].of(observation["observation"])
```

As float32 (default) all entries lie in [0, 1], scores in [-1, 1]; as int8 they are whole numbers. The layout
`plan` adds, for each tile in hand, the length and worth of the best trail that begins with it.

`observe(agent)` works for every agent at any time. The mask of a seat that is not to move is all zero: in
this game the mask shows the hand. The mover's mask always has a 1.

### Info

`action_mask`, the same as in the observation; nothing else, at any time. Whatever else there is to know about
a game (round, points, trains, all hands) `env.unwrapped.game` tells.

### Rewards and end

Rewards come to all seats on the step that ends a round, whoever made it; each agent gets its own through
`last()`. All agents terminate together, at the end of the round or match; nothing is truncated.

* `relative` (default): mean of the other seats' points minus the own points, times 0.04;
* `pips`: the own points as a cost, times 0.04;
* `win`: 1 at the end of the episode for the best place, shared by ties.

With partners the other seats are those of the other teams. Under rulesets in which points are gains the signs
turn over.

### Options

| option | default | |
|---|---|---|
| `ruleset` | `dominos_cc` | name of a preset, path of a YAML file, mapping of fields, or `Ruleset` |
| `players`, `set_max`, `hand_size` | the ruleset's | seats, highest half, tiles dealt to each seat |
| `episode` | `round` | `round` or `match` |
| `engine` | `first` | the round that single-round episodes play: `first`, `random`, or its index |
| `layout` | `base` | `base` or `plan` |
| `dtype` | `float32` | `float32` or `int8` |
| `observation` | `dict` | `dict`, or `flat` for the vector alone (the mask is in `info` both ways) |
| `reward` | `relative` | `relative`, `pips` or `win` |
| `reward_scale` | 0.04; `win` 1 | factor of the reward |
| `skip_forced` | `False` | play moves without a choice at once, but for a round's first decision |
| `render_mode` | `None` | `ansi`, `rgb_array` or `human` |

Everything random follows from `reset(seed)`; `reset()` without a seed goes on with the same generator. Live
games can be copied (`copy.deepcopy`) and pickled; `env.unwrapped.get_state()` and `set_state()` go back to a
position. `state()` is the full truth (all hands, order of the boneyard) for centralised critics.

### Version history

* v0: first release
"""

from mexenv.envs.aec import EnvState, env, raw_env

__all__ = ["EnvState", "env", "raw_env"]
