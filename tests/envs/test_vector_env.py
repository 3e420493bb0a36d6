"""The Gymnasium vector environment."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from mexenv import IllegalActionError, MexicanTrainVectorEnv, SeatEnv
from mexenv.testing import check_vector

ID = "mexenv/MexicanTrain-v0"
SMALL: dict[str, Any] = {"players": 3, "set_max": 6, "hand_size": 6}


@pytest.mark.parametrize(
    "options",
    [
        {"opponents": ["greedy", "random", "planner"]},
        {"observation": "flat", "seat": "random", **SMALL},
        {"skip_forced": True, "dtype": "int8", **SMALL},
        {"episode": "match", "layout": "plan", "players": 2, "set_max": 3, "hand_size": 2},
        {"ruleset": "pagat", "reward": "win", "seat": 0},
    ],
    ids=lambda options: " ".join(map(str, options.values())),
)
@pytest.mark.parametrize("num_envs", [1, 5])
def test_conforms(options: dict[str, Any], num_envs: int) -> None:
    env = gymnasium.make_vec(ID, num_envs=num_envs, **options)
    assert isinstance(env, MexicanTrainVectorEnv)
    check_vector(env, steps=120)


def test_the_check_finds_what_a_wrong_environment_does() -> None:
    class Forgetful(MexicanTrainVectorEnv):
        def action_masks(self) -> Any:
            masks = super().action_masks()
            masks[0] = 0
            return masks

    with pytest.raises(AssertionError, match="all zero"):
        check_vector(Forgetful(2, **SMALL))

    class Reusing(MexicanTrainVectorEnv):
        def action_masks(self) -> Any:
            return self._games.masks

    with pytest.raises(AssertionError, match="step\\(\\)"):
        check_vector(Reusing(2, **SMALL))


def test_one_game_is_a_seat_env() -> None:
    vector = MexicanTrainVectorEnv(1, "random", seat=1, **SMALL)
    single = SeatEnv("random", seat=1, **SMALL)
    views, infos = vector.reset(seed=3)
    view, info = single.reset(seed=3)
    rng = np.random.default_rng(0)
    over = False
    while not over:
        for key in view:
            assert np.array_equal(views[key][0], view[key])
        for key in info:
            assert np.array_equal(infos[key][0], info[key])
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        views, rewards, terminations, _, infos = vector.step(np.array([action]))
        view, reward, over, _, info = single.step(action)
        assert rewards[0] == reward
        assert terminations[0] == over
    for key in view:
        assert np.array_equal(infos["final_obs"][0][key], view[key])
    for key in info:
        assert np.array_equal(infos["final_info"][key][0], info[key])


def test_seats_rotate_and_rewards_follow() -> None:
    env = MexicanTrainVectorEnv(6, **SMALL)
    _, info = env.reset(seed=0)
    assert info["seat"].tolist() == [0, 1, 2, 0, 1, 2]
    rng = np.random.default_rng(0)
    ends = 0
    while ends < 30:
        seats = info["seat"]
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in info["action_mask"]])
        _, rewards, over, _, info = env.step(actions)
        assert ((rewards != 0) <= over).all()
        for index in np.flatnonzero(over):
            scored = env._games._table.round_pips[index]
            seat = seats[index]
            expected = 0.04 * ((scored.sum() - scored[seat]) / 2 - scored[seat])
            assert rewards[index] == pytest.approx(expected, abs=1e-5)
            assert info["final_info"]["points"][index] == scored[seat]
            assert info["seat"][index] == (seat + 1) % 3
        ends += int(over.sum())


def test_illegal_actions_end_one_game_only() -> None:
    env = MexicanTrainVectorEnv(3, **SMALL)
    _, info = env.reset(seed=0)
    actions = np.array([np.flatnonzero(row)[0] for row in info["action_mask"]])
    actions[1] = np.flatnonzero(info["action_mask"][1] == 0)[0]
    actions[2] = -5
    _, rewards, over, _, info = env.step(actions)
    assert rewards.tolist() == [0.0, -1.0, -1.0]
    assert over.tolist() == [False, True, True]
    assert info["final_info"]["illegal_action"].tolist() == [False, True, True]
    assert info["action_mask"].any(axis=1).all()
    strict = MexicanTrainVectorEnv(3, illegal="raise", **SMALL)
    strict.reset(seed=0)
    before = strict._games._table.games.copy()
    with pytest.raises(IllegalActionError, match=r"game 1: action .* is not legal; allowed"):
        strict.step(actions)
    assert np.array_equal(before, strict._games._table.games)


def test_refuses_what_is_no_action() -> None:
    env = MexicanTrainVectorEnv(2, **SMALL)
    env.reset(seed=0)
    with pytest.raises(TypeError, match="float64: allowed are integers"):
        env.step(np.zeros(2))
    with pytest.raises(ValueError, match=r"actions of shape \(3,\): allowed is \(2,\)"):
        env.step(np.zeros(3, np.int64))


def test_rendering() -> None:
    env = MexicanTrainVectorEnv(2, render_mode="ansi", **SMALL)
    env.reset(seed=0)
    frames = env.render()
    assert frames is not None and len(frames) == 2 and "player_0" in frames[0]
    assert MexicanTrainVectorEnv(2, **SMALL).render() is None
