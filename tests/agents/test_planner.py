from __future__ import annotations

import numpy as np
import pytest

from mexenv.agents import AgentError, PlannerAgent
from mexenv.arena import evaluate
from mexenv.games import BatchGame
from mexenv.observation import make_layout
from mexenv.rules import ActionLayout, preset, tile_index

RULES = preset("dominos_cc")
ACTIONS = ActionLayout(RULES)
BASE = make_layout("base", RULES)
STAGES = ("opening", "play", "cover", "extra")


def position(hand, ends, *, stage="play", marked=(), others=(9, 9, 9)):
    """A base observation with what the planner reads, and the mask of all plays that fit.

    `ends` maps a train (0 own, 4 the Mexican Train) to its end value; only those are open.
    """
    observation = np.zeros(BASE.size, np.int8)
    mask = np.zeros(ACTIONS.n_actions, np.int8)
    for tile in hand:
        BASE["hand"].of(observation)[tile_index(*tile)] = 1
        for train, end in ends.items():
            if end in tile:
                mask[ACTIONS.encode(tile, train)] = 1
    for train, end in ends.items():
        BASE["ends"].of(observation)[train, end] = 1
    for seat in marked:
        BASE["marker"].of(observation)[seat] = 1
    BASE["stage"].of(observation)[STAGES.index(stage)] = 1
    BASE["hand_size"].of(observation)[:] = [len(hand), *others]
    return observation, mask


def choice(*args, **kwargs):
    agent = PlannerAgent().bind(RULES)
    _, tile, train, _ = ACTIONS.decode(agent(*position(*args, **kwargs)))
    return tile, train


def test_a_tile_off_the_trail_goes_elsewhere_first_the_heaviest_of_them() -> None:
    # The trail is 12-9, 9-6, 6-3; 11-1 and 7-1 are on none of it.
    hand = [(12, 9), (9, 6), (6, 3), (11, 1), (7, 1)]
    assert choice(hand, {0: 12, 4: 1}) == ((11, 1), 4)


def test_a_trail_tile_stays_for_the_own_train() -> None:
    # 9-6 fits the Mexican Train, but it is the bridge of the trail.
    assert choice([(12, 9), (9, 6), (6, 3)], {0: 12, 4: 9}) == ((12, 9), 0)


def test_the_own_train_is_played_along_the_longest_trail() -> None:
    # The heavier 12-11 is a dead end, 12-5 leads through three more tiles.
    hand = [(12, 11), (12, 5), (7, 5), (7, 4), (4, 2)]
    assert choice(hand, {0: 12})[0] == (12, 5)


def test_the_own_marker_comes_down_with_a_trail_tile() -> None:
    hand = [(12, 9), (9, 6), (2, 1)]
    assert choice(hand, {0: 12, 4: 1}) == ((2, 1), 4)
    assert choice(hand, {0: 12, 4: 1}, marked=(0,)) == ((12, 9), 0)


def test_a_double_is_laid_while_it_can_be_covered() -> None:
    assert choice([(5, 5), (5, 1), (9, 2), (8, 3)], {4: 5}) == ((5, 5), 4)


def test_a_double_is_covered_with_a_tile_off_the_trail() -> None:
    # 9-6 and 9-1 both cover 9-9 on train 2; 9-6 is on the trail from 12.
    hand = [(12, 9), (9, 6), (6, 3), (9, 1)]
    observation, mask = position(hand, {2: 9}, stage="cover")
    BASE["ends"].of(observation)[0, 12] = 1
    chosen = PlannerAgent().bind(RULES)(observation, mask)
    assert ACTIONS.decode(chosen)[1:3] == ((9, 1), 2)


def test_near_the_end_of_the_round_pips_count_for_more() -> None:
    # On the trail: the light 12-1, 1-0, 0-2. Off it the heavy 12-11.
    hand = [(12, 11), (12, 1), (1, 0), (2, 0)]
    assert choice(hand, {0: 12}) == ((12, 1), 0)
    assert choice(hand, {0: 12}, others=(9, 1, 9)) == ((12, 11), 0)


def test_a_chain_opening_is_laid_to_its_end() -> None:
    rules = preset("pagat", set_max=9, players=2, hand_size=10)
    batch = BatchGame(rules, 40, seed=1, layout="base", skip_forced=False)
    agent = PlannerAgent().bind(rules)
    opening = make_layout("base", rules)["stage"]
    pass_ = ActionLayout(rules).pass_
    stopped = 0
    for _ in range(60):
        chosen = agent.act(batch.observations, batch.masks)
        laying = opening.of(batch.observations)[:, 0] == 1
        could = batch.masks[:, :pass_].any(axis=1)
        assert not (laying & could & (chosen == pass_)).any()
        stopped += int((laying & ~could).sum())
        batch.step(chosen)
    assert stopped > 0


def test_rows_of_a_batch_do_not_depend_on_each_other_and_plan_observations_serve_too() -> None:
    batch = BatchGame(RULES, 64, seed=3, layout="base")
    agent = PlannerAgent().bind(RULES)
    for _ in range(20):
        batch.step(agent.act(batch.observations, batch.masks))
    together = agent.act(batch.observations, batch.masks)
    assert batch.masks[np.arange(64), together].all()
    plan = make_layout("plan", RULES)
    wide = plan.to_float(batch.observe(plan))
    for i in range(0, 64, 5):
        scaled = BASE.to_float(batch.observations[i])
        assert agent({"observation": scaled, "action_mask": batch.masks[i]}) == together[i]
        assert agent(wide[i], batch.masks[i]) == together[i]


def test_observations_of_another_size_are_refused() -> None:
    agent = PlannerAgent().bind(RULES)
    with pytest.raises(AgentError, match=rf"\(1, 7\).*\(1, {BASE.size}\)"):
        agent.act(np.zeros((1, 7), np.int8), np.ones((1, 457), np.int8))
    with pytest.raises(AgentError, match=r"\(7,\)"):
        agent(np.zeros(7), np.ones(457, np.int8))


def test_the_planner_is_as_strong_as_trail_planning_makes_it() -> None:
    row = evaluate(["planner", "own_first"], RULES, 500, seed=11).rows[0]
    # Measured over 20,000 deals: 11.0; own_first in its place has 22.8.
    assert row.mean_pips < 13
    assert row.went_out > 0.5
