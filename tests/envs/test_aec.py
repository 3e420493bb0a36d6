"""The PettingZoo environment: PettingZoo's own checkers, ours, and what neither looks at."""

import copy
import itertools
import operator
import pickle
import re
import sys
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.env_logger import EnvLogger

from mexenv import IllegalActionError, RulesetError, mexican_train_v0, testing
from mexenv.envs.aec import raw_env
from mexenv.testing.aec import play_randomly

# Small tiles, quick rounds; every kind of observation and episode once.
VARIANTS: list[dict[str, Any]] = [
    {},
    {"players": 2, "set_max": 6, "hand_size": 7, "episode": "match", "observation": "dict", "dtype": "int8"},
    {"ruleset": "parsons", "set_max": 9, "layout": "plan", "reward": "pips", "engine": "random"},
    {"ruleset": "pagat", "players": 5, "skip_forced": True, "reward": "win"},
    {"ruleset": "dominos_cc", "players": 3, "episode": "match", "skip_forced": True},
    {"ruleset": "wikipedia", "layout": "plan"},
    {"ruleset": "wikipedia_partners", "reward": "win"},
    {"ruleset": "parsons_wild", "players": 2, "set_max": 6, "hand_size": 7},
]
IDS = [" ".join(map(str, variant.values())) or "default" for variant in VARIANTS]
MAKERS = [mexican_train_v0.env, mexican_train_v0.raw_env]


def quietly(check: Any, *args: Any, **kwargs: Any) -> None:
    """Run a PettingZoo checker; a warning fails, but for those that every classic game draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in (
            "Observation is not a NumPy array",
            "Observation space for each agent probably should be",
            ".*no longer needed",
        ):
            warnings.filterwarnings("ignore", known)
        check(*args, **kwargs)


@pytest.mark.parametrize("make", MAKERS, ids=["env", "raw_env"])
@pytest.mark.parametrize("options", VARIANTS, ids=IDS)
def test_pettingzoo_checkers(make: Any, options: dict[str, Any], capsys: Any) -> None:
    quietly(api_test, make(**options), num_cycles=60)
    quietly(seed_test, lambda: make(**options), num_cycles=60)


@pytest.mark.parametrize("make", MAKERS, ids=["env", "raw_env"])
@pytest.mark.parametrize("options", VARIANTS, ids=IDS)
def test_our_checkers(make: Any, options: dict[str, Any]) -> None:
    env = make(**options)
    testing.check_masks(env, episodes=1)
    testing.check_off_turn_masks(env)
    testing.check_rewards_through_last(env)
    testing.check_copies(env)
    testing.check_illegal_actions(env)
    testing.check_seeding(lambda: make(**options))


def test_flat_observations_pass_the_api_test(capsys: Any) -> None:
    quietly(api_test, mexican_train_v0.env(observation="flat"), num_cycles=60)
    env = mexican_train_v0.raw_env(observation="flat")
    env.reset(seed=0)
    view, *_, info = env.last()
    assert view.shape == (env.layout.size,)
    assert info["action_mask"].any()


def test_renders_in_every_mode(capsys: Any) -> None:
    render_test(mexican_train_v0.env)
    assert "player_0" in capsys.readouterr().out


def test_parallel_wrapper(capsys: Any) -> None:
    parallel = turn_based_aec_to_parallel(mexican_train_v0.env())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unmasked actions are illegal soon, and the wrapper says so
        parallel_api_test(parallel, num_cycles=50)


@pytest.mark.parametrize("ruleset", ["tournament", "wikipedia", "pagat"])
def test_state_is_in_its_space_and_tells_everything(ruleset: str) -> None:
    test_module = sys.modules["pettingzoo.test.state_test"]
    env = mexican_train_v0.raw_env(ruleset=ruleset)
    test_module.test_state_space(env)
    with pytest.MonkeyPatch.context() as patch:
        # PettingZoo's check plays unmasked actions, which only the wrapped environment survives.
        wrapped = mexican_train_v0.env(ruleset=ruleset)
        patch.setattr("pettingzoo.utils.env_logger.EnvLogger.warn_on_illegal_move", lambda: None)
        test_module.test_state(wrapped, num_cycles=5)
    for turn in play_randomly(env, 1, 3):
        if turn.over:
            break
        state = env.state()
        views = state[: -env.ruleset.n_tiles].reshape(env.ruleset.players, -1)
        held = env.layout["hand"].of(views).sum(axis=0)
        laid = (env.layout["table"].of(views) > 0).any(axis=0)
        everywhere = held + laid + (state[-env.ruleset.n_tiles :] > 0)
        assert (everywhere == 1).all(), "a tile is in no place or in two"


@pytest.mark.parametrize("action", [0, 10**6, -1, None, 1.5, "draw", np.float32(3)])
def test_illegal_actions_name_themselves_and_the_legal_ones(action: Any) -> None:
    env = mexican_train_v0.raw_env()
    env.reset(seed=1)
    before = env.state()
    legal = np.flatnonzero(env.last()[0]["action_mask"])
    assert 0 not in legal
    with pytest.raises(IllegalActionError, match=env.agent_selection) as caught:
        env.step(action)
    if action is not None:
        assert str(action) in str(caught.value)
        assert all(str(number) in str(caught.value) for number in legal)
    assert np.array_equal(before, env.state())
    env.step(np.int32(legal[0]))


def test_illegal_action_ends_the_wrapped_episode(caplog: Any) -> None:
    env = mexican_train_v0.env()
    env.reset(seed=1)
    loser = env.agent_selection
    env.step(0)
    heard = {}
    for agent in env.agent_iter():
        observation, heard[agent], terminated, _, _ = env.last()
        assert terminated
        assert not observation["action_mask"].any(), "a mask shows the hand of the seat to move"
        env.step(None)
    assert heard == {agent: -1.0 if agent == loser else 0.0 for agent in env.possible_agents}


def test_options_are_checked() -> None:
    for options, text in [
        ({"episode": "game"}, "episode 'game': allowed"),
        ({"engine": 99}, "engine 99: allowed"),
        ({"reward": "score"}, "reward 'score': allowed"),
        ({"dtype": "float64"}, "dtype float64: allowed"),
        ({"layout": "images"}, "layout 'images': allowed"),
        ({"observation": "list"}, "observation 'list': allowed"),
        ({"render_mode": "3d"}, "render_mode '3d': allowed"),
    ]:
        with pytest.raises(ValueError, match=text):
            mexican_train_v0.env(**options)
    with pytest.raises(RulesetError, match="players"):
        mexican_train_v0.env(players=40)
    with pytest.raises(TypeError, match="unknown option 'rounds_long'"):
        mexican_train_v0.env(rounds_long=True)


@pytest.mark.parametrize("episode", ["round", "match"])
def test_plays_the_same_game_as_the_engine(episode: Any) -> None:
    env = mexican_train_v0.raw_env(players=3, set_max=6, hand_size=7, episode=episode)
    env.reset(seed=5)
    rounds = 0
    rng = np.random.default_rng(0)
    totals = np.zeros(3)
    while env.agents:
        observation, _, terminated, _, info = env.last()
        assert set(info) == {"action_mask"}
        if terminated:
            env.step(None)
            continue
        game = env.game
        assert env.possible_agents[game.to_move] == env.agent_selection
        assert np.array_equal(observation["action_mask"], game.action_mask())
        for seat, agent in enumerate(env.possible_agents):
            assert np.array_equal(env.observe(agent)["observation"], game.observe(seat))
        env.step(int(rng.choice(game.legal_actions())))
        if env._rewarded:
            rounds += 1
            scored = env._slot.slots["round_pips"][0, :3]
            totals += scored
            others = (scored.sum() - scored) / 2
            expected = 0.04 * (others - scored)
            given = [env.rewards[agent] for agent in env.possible_agents]
            assert np.allclose(given, expected, atol=1e-6)
            assert env.game.totals == totals.tolist()
    assert rounds == (1 if episode == "round" else env.ruleset.match_rounds)


def test_the_documentation_page_runs() -> None:
    text = mexican_train_v0.__doc__ or ""
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    env, observation = names["env"], names["observation"]
    raw = env.unwrapped
    assert f"Discrete({mexican_train_v0.raw_env().actions.n_actions})" in text
    assert f"float32 ({mexican_train_v0.raw_env().layout.size},)" in text
    assert raw.layout["hand"].of(observation["observation"]).shape == (raw.ruleset.n_tiles,)


def test_the_mover_may_stay() -> None:
    env = mexican_train_v0.raw_env()
    stayed = 0
    last = None
    for turn in play_randomly(env, 1, 0):
        stayed += turn.agent == last and not turn.over
        last = turn.agent
    assert stayed > 0


def test_get_and_set_state() -> None:
    env = mexican_train_v0.raw_env(players=2, set_max=6, hand_size=7)

    def play_out() -> list[Any]:
        rng = np.random.default_rng(9)
        seen = []
        while env.agents:
            observation, reward, terminated, _, _ = env.last()
            seen.append((env.agent_selection, reward, observation["observation"].tobytes()))
            env.step(None if terminated else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        return seen

    env.reset(seed=2)
    for _ in range(5):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    state = env.get_state()
    first = play_out()
    for kept in (state, copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        env.set_state(kept)
        assert play_out() == first
    fresh = raw_env(players=2, set_max=6, hand_size=7)
    fresh.set_state(state)
    assert fresh.agent_selection == first[0][0]
    with pytest.raises(ValueError, match="another ruleset"):
        raw_env(players=9, set_max=15, hand_size=9).set_state(state)


def test_observations_are_new_at_each_call() -> None:
    env = mexican_train_v0.raw_env()
    env.reset(seed=0)
    first, _, _, _, info = env.last()
    second = env.last()[0]
    for key in first:
        assert not np.shares_memory(first[key], second[key])
    first["action_mask"][:] = 0
    info["action_mask"][:] = 0
    assert env.last()[0]["action_mask"].any()


def test_step_after_the_end_needs_none() -> None:
    env = mexican_train_v0.raw_env(players=2, set_max=6, hand_size=7)
    for turn in play_randomly(env, 1, 0):
        if turn.over:
            with pytest.raises(ValueError, match="None"):
                env.step(0)


def test_nothing_handed_out_is_shared_or_changes() -> None:
    env = mexican_train_v0.raw_env(players=3, set_max=6, hand_size=7, episode="match")
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    given: list[tuple[Any, Any]] = []
    while env.agents:
        over = env.terminations[env.agent_selection]
        observation, _, _, _, info = env.last()
        calls = [list(observation.values()), list(env.last()[0].values())]
        calls += [list(env.observe(agent).values()) for agent in env.agents]
        calls += [[env.infos[agent]["action_mask"]] for agent in env.agents]
        assert env.infos[env.agent_selection] is info is env.last()[4], "an info is kept until the next step"
        arrays = [array for call in calls for array in call]
        assert all(array.flags.writeable for array in arrays)
        given.extend((array, array.copy()) for array in arrays)
        for at, call in enumerate(calls if not over else ()):
            others = [array for other in calls[:at] + calls[at + 1 :] for array in other]
            assert not any(np.shares_memory(one, other) for one in call for other in others)
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    assert all(np.array_equal(array, kept) for array, kept in given)


def test_truncation_from_outside_shows_each_agent_its_own_view() -> None:
    env = mexican_train_v0.raw_env()
    env.reset(seed=1)
    views = {agent: env.observe(agent)["observation"] for agent in env.agents}
    mover = env.agent_selection
    env.truncations = dict.fromkeys(env.agents, True)  # as PettingZoo's MultiEpisodeEnv does
    for agent in env.agent_iter():
        observation, _, _, _, info = env.last()
        assert np.array_equal(observation["observation"], views.pop(agent))
        assert observation["action_mask"].any() == info["action_mask"].any() == (agent == mover)
        env.step(None)
    assert not views


def generic_env(**options: Any) -> Any:
    """What `env()` stands for: the wrappers that PettingZoo's classic games get."""
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(**options), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


# What a user can look at, in any order and at any time.
LOOKS: list[Any] = [str, lambda env: list(itertools.islice(env.agent_iter(), 2))]
for look in (
    "agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents",
    "_cumulative_rewards", "possible_agents", "metadata", "render_mode", "_other", "unknown", "game.to_move",
):  # fmt: skip
    LOOKS.append(operator.attrgetter(look))
for look, *given in (
    ("last",), ("last", False), ("state",), ("render",), ("observe", "player_1"), ("observe", "nobody"),
    ("action_space", "player_0"), ("action_space", "nobody"), ("observation_space", "player_0"),
):  # fmt: skip
    LOOKS.append(operator.methodcaller(look, *given))


def outcome(call: Any, env: Any) -> tuple[Any, list[Any]]:
    """What a call gives or raises, and the warnings it logs."""
    EnvLogger.flush()
    try:
        result = call(env)
    except Exception as error:
        result = (type(error), str(error))
    return result, list(EnvLogger.mqueue)


def assert_same(call: Any, ours: Any, theirs: Any) -> None:
    mine, other = outcome(call, ours), outcome(call, theirs)
    assert data_equivalence(mine, other, exact=True), f"{call}: {mine}, of PettingZoo's wrappers {other}"


def some_action(env: Any, rng: np.random.Generator) -> Any:
    """Mostly a legal action, sometimes another type or number."""
    if not env.agents or env.terminations[env.agent_selection]:
        return [None, None, None, 0, 10**6, -1, 1.5][rng.integers(7)]
    mask = env.unwrapped.infos[env.agent_selection]["action_mask"]
    legal, illegal = rng.choice(np.flatnonzero(mask)), rng.choice(np.flatnonzero(mask == 0))
    if rng.random() < 0.9:
        return int(legal) if rng.random() < 0.5 else legal
    others = [
        None, np.int32(legal), np.uint64(legal), np.array(legal), np.array([legal]), float(legal), str(legal),
        np.float32(legal), Fraction(3), -1, 10**6, 2**70, np.int64(mask.size), illegal, int(illegal),
    ]  # fmt: skip
    return others[rng.integers(len(others))]


@pytest.mark.filterwarnings("ignore:.*without a render_mode")
@pytest.mark.parametrize("options", [*VARIANTS[:3], {"observation": "flat"}, {"render_mode": "ansi"}])
def test_env_answers_as_the_generic_wrappers(options: dict[str, Any], caplog: Any) -> None:
    ours, theirs = mexican_train_v0.env(**options), generic_env(**options)
    for look in [*LOOKS, operator.methodcaller("step", 3)]:
        assert_same(look, ours, theirs)
    rng = np.random.default_rng(0)
    for seed in range(12):
        assert_same(operator.methodcaller("reset", seed), ours, theirs)
        over = False
        while not over:
            over = not ours.agents  # one step more than there is
            assert_same(operator.methodcaller("step", some_action(ours, rng)), ours, theirs)
            for look in [operator.methodcaller("last"), *rng.choice(np.array(LOOKS, object), 2)]:
                assert_same(look, ours, theirs)
        for look in LOOKS:
            assert_same(look, ours, theirs)


@pytest.mark.parametrize("acts", ["step step step step", "step idle step", "step reset step", "idle", ""])
@pytest.mark.parametrize("most", [2**63, 3, 1, 0])
def test_env_iterates_as_the_generic_wrappers(acts: str, most: int) -> None:
    seen: list[list[Any]] = []
    for env in (mexican_train_v0.env(), generic_env()):
        env.reset(seed=4)
        turns = env.agent_iter(most)
        seen.append([])
        for _ in range(2):  # each pass over it counts anew
            try:
                for agent, act in zip(turns, acts.split(), strict=False):
                    seen[-1].append(agent)
                    if act == "step":
                        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
                    elif act == "reset":
                        env.reset()
            except AssertionError as error:
                seen[-1].append(str(error))
    assert seen[0] == seen[1]


def test_env_is_one_of_pettingzoos_wrappers() -> None:
    env = mexican_train_v0.env()
    assert isinstance(env, wrappers.OrderEnforcingWrapper) and type(env.unwrapped) is raw_env
    env.reset(seed=1)
    state, before = env.get_state(), env.last()
    env.step(int(np.flatnonzero(before[0]["action_mask"])[0]))
    env.set_state(state)
    for copied in (env, copy.copy(env), copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert type(copied) is type(env)
        assert data_equivalence(copied.last(), before, exact=True)
