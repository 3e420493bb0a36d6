"""The Gymnasium environment of one seat."""

import copy
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import mexenv
from mexenv import IllegalActionError, SeatEnv, load_agent, mexican_train_v0
from mexenv.agents import Agent, AgentError, RandomAgent
from mexenv.envs import MexicanTrainVectorEnv

ID = "mexenv/MexicanTrain-v0"
SMALL: dict[str, Any] = {"players": 3, "set_max": 6, "hand_size": 6}


def play(env: Any, episodes: int, seed: int = 0) -> list[list[Any]]:
    """Random legal episodes: for each the rows (observation, reward, terminated, info)."""
    rng = np.random.default_rng(seed)
    result = []
    for episode in range(episodes):
        observation, info = env.reset(seed=seed + episode if episode == 0 else None)
        rows = [(observation, 0.0, False, info)]
        while not rows[-1][2]:
            action = rng.choice(np.flatnonzero(rows[-1][3]["action_mask"]))
            observation, reward, terminated, truncated, info = env.step(action)
            assert not truncated
            rows.append((observation, reward, terminated, info))
        result.append(rows)
    return result


@pytest.mark.parametrize("observation", ["dict", "flat"])
@pytest.mark.parametrize("options", [{}, {**SMALL, "dtype": "int8", "episode": "match", "seat": "random"}])
def test_gymnasium_checker(observation: str, options: dict[str, Any], capsys: Any) -> None:
    env = gymnasium.make(ID, observation=observation, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Two small integers of a Box are compared with one another, not with our values.
        warnings.filterwarnings("ignore", ".*minimum|maximum observation space value")
        check_env(env.unwrapped)


@pytest.mark.parametrize("options", [{}, {"skip_forced": True, **SMALL}, {"seat": "rotate", "reward": "win"}])
def test_masks_infos_and_spaces(options: dict[str, Any]) -> None:
    env = SeatEnv(**options)
    for rows in play(env, 3):
        keys = set(rows[0][3])
        assert keys == {"action_mask", "seat", "round", "engine", "points", "illegal_action"}
        for observation, _, terminated, info in rows:
            assert observation in env.observation_space
            mask = observation["action_mask"]
            assert np.array_equal(mask, info["action_mask"])
            assert set(info) == keys
            assert not info["illegal_action"]
            idle = env.layout["stage"].of(observation["observation"])[-1]
            assert idle == terminated, "the learner is asked on its own turns only"
            if terminated:
                assert np.flatnonzero(mask).tolist() == [env.actions.pass_]
            else:
                assert mask.any()
        assert sum(reward for _, reward, *_ in rows) != 0 or options.get("reward") == "win"


@pytest.mark.parametrize(
    "options", [SMALL, {"set_max": 3, "players": 3, "hand_size": 2, "skip_forced": True}], ids=["", "hasty"]
)
def test_rewards_of_a_match_are_all_heard(options: dict[str, Any]) -> None:
    """Also those of rounds that are over before the learner is asked anything (the hasty case)."""
    env = SeatEnv("random", episode="match", seat="random", **options)
    for seed in range(30):
        (rows,) = play(env, 1, seed)
        own = rows[-1][3]["points"]
        everybody = env._games.game(0).totals
        others = (sum(everybody) - own) / 2
        assert np.isclose(sum(reward for _, reward, *_ in rows), 0.04 * (others - own), atol=1e-4)


def test_equals_the_aec_environment_with_the_same_players() -> None:
    """Replay one episode on the AEC environment, the agents choosing for the other seats."""
    env = SeatEnv("own_first", seat=1, **SMALL)
    aec = mexican_train_v0.raw_env(**SMALL)
    agent = load_agent("own_first", env.ruleset)
    for episode in range(5):
        observation, _ = env.reset(seed=episode)
        # The same deal: the engine's record before anybody moved is lost, so take it from a second reset.
        table = env._games._table
        start = copy.deepcopy(env)
        start._games._play_others = lambda which: None
        start.reset(seed=episode)
        aec.reset(seed=0)
        aec.set_state(aec.get_state()._replace(games=start._games._table.games))
        aec.agent_selection = aec.possible_agents[aec._mover]
        rng = np.random.default_rng(episode)
        heard = 0.0
        over = False
        while not over:
            while aec.agent_selection != "player_1" and not any(aec.terminations.values()):
                aec.step(agent(aec.last()[0]))
            assert np.array_equal(aec.observe("player_1")["observation"], observation["observation"])
            assert np.array_equal(aec.last()[0]["action_mask"], observation["action_mask"])
            action = rng.choice(np.flatnonzero(observation["action_mask"]))
            aec.step(action)
            observation, reward, over, _, _ = env.step(action)
            heard += reward
        while aec.agent_selection != "player_1" and not any(aec.terminations.values()):
            aec.step(agent(aec.last()[0]))
        assert heard == pytest.approx(aec._cumulative_rewards["player_1"])
        assert np.array_equal(table.round_pips[0], aec._slot.slots["round_pips"][0, : aec.ruleset.players])
        assert np.array_equal(aec.observe("player_1")["observation"], observation["observation"])


def test_seat_options() -> None:
    assert {rows[0][3]["seat"] for rows in play(SeatEnv(seat=2, **SMALL), 2)} == {2}
    rotating = [rows[0][3]["seat"] for rows in play(SeatEnv(seat="rotate", **SMALL), 4)]
    assert rotating == [0, 1, 2, 0]
    assert len({rows[0][3]["seat"] for rows in play(SeatEnv(seat="random", **SMALL), 12)}) == 3


def test_unmasked_actions_end_the_episode_or_are_errors() -> None:
    env = SeatEnv(**SMALL)
    first, _ = env.reset(seed=0)
    illegal = int(np.flatnonzero(first["action_mask"] == 0)[0])
    for action in (illegal, -1, env.actions.n_actions):
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
        with pytest.raises(RuntimeError, match="reset"):
            env.step(0)
    strict = SeatEnv(illegal="raise", **SMALL)
    first, _ = strict.reset(seed=0)
    with pytest.raises(IllegalActionError, match=f"action {illegal} .* is not legal; allowed"):
        strict.step(illegal)
    legal = int(np.flatnonzero(first["action_mask"])[0])
    assert not strict.step(legal)[4]["illegal_action"]
    with pytest.raises(TypeError):
        strict.step(1.5)


def test_opponents() -> None:
    agent = RandomAgent(name="mine")
    env = SeatEnv([agent, "greedy"], **SMALL)
    assert [opponent.name for opponent in env._games.opponents] == ["mine", "greedy"]
    assert agent.ruleset == env.ruleset
    assert [o.name for o in SeatEnv(["greedy"], **SMALL)._games.opponents] == ["greedy", "greedy"]
    with pytest.raises(ValueError, match=r"opponents: got 3; allowed are 1 .* or 2"):
        SeatEnv(["greedy"] * 3, **SMALL)
    with pytest.raises(AgentError, match="unknown agent 'gredy'"):
        SeatEnv("gredy", **SMALL)
    for seat in (3, -1, "first", 1.0, True):
        with pytest.raises(ValueError, match=r"seat .*: allowed are 0 to 2"):
            SeatEnv(seat=seat, **SMALL)
    with pytest.raises(ValueError, match="illegal 'ignore': allowed"):
        SeatEnv(illegal="ignore", **SMALL)


def test_a_seed_fixes_everything_the_opponents_too() -> None:
    one, other = SeatEnv("random", **SMALL), SeatEnv("random", **SMALL)
    assert data_equivalence(play(one, 3, seed=4), play(other, 3, seed=4), exact=True)
    assert data_equivalence(play(one, 1, seed=4), play(one, 1, seed=4), exact=True)
    assert not data_equivalence(play(one, 1, seed=5), play(other, 1, seed=6), exact=True)


def test_live_copies_go_on_alike() -> None:
    env = SeatEnv("random", **SMALL)
    _, info = env.reset(seed=1)
    twin = copy.deepcopy(env)
    over = False
    while not over:
        action = int(np.flatnonzero(info["action_mask"])[0])
        mine, other = env.step(action), twin.step(action)
        assert data_equivalence(list(mine), list(other), exact=True)
        _, _, over, _, info = mine


def test_made_by_gymnasium() -> None:
    env = gymnasium.make(ID, opponents=["greedy", "random"], players=3)
    env.reset(seed=0)
    assert env.get_wrapper_attr("action_masks")().any()
    assert env.spec is not None and env.spec.id == ID
    assert mexenv.SeatEnv is SeatEnv


@pytest.mark.parametrize("mode", ["ansi", "rgb_array", "human"])
def test_rendering_shows_the_own_hand_only(mode: str, capsys: Any) -> None:
    env = SeatEnv(render_mode=mode)
    env.reset(seed=0)
    frame = env.render()
    if mode == "rgb_array":
        assert frame.dtype == np.uint8 and frame.shape[2] == 3
    elif mode == "ansi":
        assert "player_0" in frame
    else:
        assert frame is None and "player_0" in capsys.readouterr().out


class Failing(Agent):
    """Plays like nobody should: what it gives is not an action, or it fails."""

    def __init__(self, answer: Any) -> None:
        super().__init__("failing")
        self.answer = answer

    def act(self, observations: Any, masks: np.ndarray) -> Any:
        return self.answer(masks)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda masks: 1 // 0, ZeroDivisionError),
        (lambda masks: masks.argmin(1), IllegalActionError),
        (lambda masks: masks.argmax(1) + 0.6, AgentError),
        (lambda masks: 5, AgentError),
        (lambda masks: None, AgentError),
    ],
)
def test_after_an_opponent_fails_nobody_goes_on_in_its_place(answer: Any, error: type[Exception]) -> None:
    good = lambda masks: masks.argmax(1)  # noqa: E731
    for env in (SeatEnv(agent := Failing(good), **SMALL), MexicanTrainVectorEnv(3, agent, **SMALL)):
        if isinstance(env, MexicanTrainVectorEnv):
            with pytest.raises(RuntimeError, match="call reset"):
                env.step(np.zeros(3, np.int64))
        agent.answer = good
        env.reset(seed=1)
        agent.answer = answer
        with pytest.raises(error):
            for _ in range(200):
                env.step(env.action_masks().argmax(-1))
        with pytest.raises(RuntimeError, match="call reset"):
            env.step(env.action_masks().argmax(-1))
        agent.answer = good
        env.reset(seed=1)
        env.step(env.action_masks().argmax(-1))


def test_a_number_beyond_all_is_an_illegal_action() -> None:
    env = SeatEnv(**SMALL)
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(10**30)
    assert (reward, terminated, info["illegal_action"]) == (-1.0, True, True)
