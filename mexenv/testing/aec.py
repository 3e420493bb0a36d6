"""Checks for PettingZoo AEC environments whose observations are Dicts with an `action_mask`."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo import AECEnv


class Turn(NamedTuple):
    """What `last()` gave for one agent, and the action the check is about to play (None for a dead agent)."""

    agent: str
    observation: Any
    reward: float
    over: bool
    info: dict[str, Any]
    action: int | None


def play_randomly(env: AECEnv, episodes: int, seed: int) -> Iterator[Turn]:
    """Play random legal episodes; each turn is handed out before its action is played.

    Args:
        env: environment with Dict observations `{"observation", "action_mask"}`.
        episodes: number of episodes to play to the end, dead agents included.
        seed: episode k is reset with `seed + k`; the choice of actions depends on nothing else.

    Yields:
        One `Turn` for every call of `step()`.
    """
    rng = np.random.default_rng(seed)
    for episode in range(episodes):
        env.reset(seed=seed + episode)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            over = bool(terminated or truncated)
            action = None
            if not over:
                assert observation is not None, f"{agent}: last() gave no observation"
                legal = np.flatnonzero(observation["action_mask"])
                assert legal.size, f"{agent} is to move and its action mask is all zero"
                action = int(rng.choice(legal))
            yield Turn(agent, observation, float(reward), over, info, action)
            env.step(action)


def check_masks(env: AECEnv, episodes: int = 2, seed: int = 0) -> None:
    """Check shape, type and place of the masks, and that every legal action is accepted.

    The mover's mask is int8 of 0 and 1 with at least one 1, lies in the observation and in `info`, and `info`
    has the same keys from reset on. On some turns a copy of the environment plays each legal action.

    Args:
        env: the environment, wrapped or raw; its game must survive `copy.deepcopy`.
        episodes: number of random episodes.
        seed: seed of the first episode.

    Raises:
        AssertionError: with the agent and what is wrong.
    """
    keys: set[str] | None = None
    for count, turn in enumerate(play_randomly(env, episodes, seed)):
        space = env.observation_space(turn.agent)
        assert space.contains(turn.observation), f"{turn.agent}: observation is not in its space"
        mask = turn.observation["action_mask"]
        n_actions = int(env.action_space(turn.agent).n)
        assert mask.dtype == np.int8, f"{turn.agent}: mask is {mask.dtype}, Discrete.sample wants int8"
        assert mask.shape == (n_actions,), f"{turn.agent}: mask has shape {mask.shape}, not ({n_actions},)"
        assert set(np.unique(mask)) <= {0, 1}, f"{turn.agent}: mask holds other values than 0 and 1"
        assert "action_mask" in turn.info, f"{turn.agent}: info has no action_mask"
        assert np.array_equal(mask, turn.info["action_mask"]), f"{turn.agent}: info holds another mask"
        keys = keys or set(turn.info)
        assert set(turn.info) == keys, f"{turn.agent}: info keys {sorted(turn.info)} were {sorted(keys)}"
        if turn.over:
            assert not mask.any(), f"{turn.agent}: the episode is over and the mask offers actions"
        elif count % 40 == 0:
            for action in np.flatnonzero(mask):
                copied = deepcopy(env.unwrapped)
                copied.step(int(action))


def check_off_turn_masks(env: AECEnv, episodes: int = 1, seed: int = 0) -> None:
    """Check that waiting agents are offered nothing, and that looking at them changes nothing.

    In a game of hidden hands a mask shows its owner's hand, so only the mover may get one.

    Args:
        env: the environment, wrapped or raw.
        episodes: number of random episodes.
        seed: seed of the first episode.

    Raises:
        AssertionError: with the agent and what is wrong.
    """
    for turn in play_randomly(env, episodes, seed):
        for other in env.agents:
            seen = env.observe(other)
            assert env.observation_space(other).contains(seen), f"{other}: observe() is not in its space"
            assert seen is not None
            if other != turn.agent:
                assert not seen["action_mask"].any(), f"{other} waits for {turn.agent} and its mask has a 1"
                offered = env.infos[other]["action_mask"]
                assert not offered.any(), f"{other} waits for {turn.agent} and the mask in its info has a 1"
        again = env.last()[0]
        assert data_equivalence(turn.observation, again, exact=True), (
            f"observe() changed what {turn.agent} sees"
        )


def check_rewards_through_last(env: AECEnv, episodes: int = 3, seed: int = 0) -> None:
    """Check that `last()` hands every agent all of its rewards, and that all agents end on the same step.

    A reward that arrives on another agent's move must wait for its owner's next `last()`.

    Args:
        env: the environment, wrapped or raw.
        episodes: number of random episodes; at least one must give somebody a reward.
        seed: seed of the first episode.

    Raises:
        AssertionError: with the agent and both sums.
    """
    rewarded = False
    for episode in range(episodes):
        given: dict[str, float] = {}
        heard: dict[str, float] = {}
        ended: list[str] = []
        for turn in play_randomly(env, 1, seed + episode):
            if ended:
                assert turn.over, f"{turn.agent} plays on although {ended[0]} has ended"
            else:
                # `rewards` belongs to the step just made; the steps of dead agents only repeat or clear it.
                for agent, reward in env.rewards.items():
                    given[agent] = given.get(agent, 0.0) + float(reward)
            heard[turn.agent] = heard.get(turn.agent, 0.0) + turn.reward
            if turn.over:
                ended.append(turn.agent)
        assert sorted(ended) == sorted(env.possible_agents), f"ended: {ended}, of {env.possible_agents}"
        for agent in env.possible_agents:
            assert np.isclose(given[agent], heard[agent]), (
                f"{agent} was given {given[agent]} and heard of {heard[agent]} through last()"
            )
        rewarded = rewarded or any(given.values())
    assert rewarded, f"nobody got any reward in {episodes} episodes"


def check_copies(env: AECEnv, seed: int = 0, turns: int = 12) -> None:
    """Check that a deepcopy and a pickle of a running game go on exactly as the game itself.

    Args:
        env: the environment, wrapped or raw.
        seed: seed of the game.
        turns: number of turns played before the copies are made.

    Raises:
        AssertionError: when a copy starts anew, goes another way, or moves the original.
    """
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)

    def step(games: list[AECEnv]) -> None:
        observation, _, terminated, truncated, _ = games[0].last()
        action = None
        if not (terminated or truncated):
            assert observation is not None
            action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        for game in games:
            game.step(action)

    for _ in range(turns):
        if env.agents:
            step([env])
    copies: dict[str, AECEnv] = {
        "deepcopy": deepcopy(env),
        "pickle": pickle.loads(pickle.dumps(env)),  # bytes made on this line
    }
    before = {agent: env.observe(agent) for agent in env.agents}
    ahead = deepcopy(env)
    while ahead.agents:
        step([ahead])
    after = {agent: env.observe(agent) for agent in env.agents}
    assert data_equivalence(before, after, exact=True), "playing on with a copy changed the original"
    while env.agents:
        for name, copied in copies.items():
            assert copied.agent_selection == env.agent_selection, f"{name}: another agent is to move"
            for mine, other in zip(env.last(), copied.last(), strict=True):
                assert data_equivalence(mine, other, exact=True), f"{name}: last() differs"
        step([env, *copies.values()])
    assert not any(copied.agents for copied in copies.values()), "a copy plays on after the end"
    env.reset()
    for name, copied in copies.items():
        copied.reset()
        assert data_equivalence(env.last()[0], copied.last()[0], exact=True), f"{name}: the next deal differs"


def check_seeding(make: Callable[[], AECEnv], seed: int = 7) -> None:
    """Check that a seed fixes the whole game, and that nothing random comes from or goes to the outside.

    Args:
        make: returns a fresh environment at each call.
        seed: the seed tried.

    Raises:
        AssertionError: when equal seeds part, unequal ones agree, or NumPy's global generator moved.
    """
    first, second = make(), make()
    np.random.seed(1)  # noqa: NPY002 - the global generator is what must stay out of it
    state = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    games = [list(play_randomly(env, 2, seed)) for env in (first, second)]
    assert state == np.random.get_state()[1].tolist(), "NumPy's global generator was used"  # type: ignore[index]  # noqa: NPY002
    assert len(games[0]) == len(games[1]), "the same seed gave games of different length"
    for one, other in zip(*games, strict=True):
        assert data_equivalence(list(one), list(other), exact=True), "the same seed gave other turns"
    starts = []
    for value in (seed, seed + 1):
        first.reset(seed=value)
        starts.append(first.last()[0])
    first.reset()
    starts.append(first.last()[0])
    assert not data_equivalence(starts[0], starts[1], exact=True), "two seeds gave the same deal"
    assert not data_equivalence(starts[1], starts[2], exact=True), "reset() dealt the same game again"


def check_illegal_actions(env: AECEnv, seed: int = 0, turns: int = 25) -> None:
    """Check that the raw environment refuses illegal actions and stays as it was.

    Args:
        env: the environment; its `unwrapped` core is tested.
        seed: seed of the game.
        turns: number of turns on which one illegal action is tried.

    Raises:
        AssertionError: when an illegal action was accepted or a refused one changed something.
    """
    rng = np.random.default_rng(seed)
    for count, turn in enumerate(play_randomly(env, 1, seed)):
        if turn.over or count >= turns:
            break
        raw = env.unwrapped
        mask = turn.observation["action_mask"]
        action = int(rng.choice(np.flatnonzero(mask == 0)))
        before = {agent: raw.observe(agent) for agent in raw.agents}
        try:
            raw.step(action)
        except ValueError:
            pass
        else:
            raise AssertionError(f"{turn.agent}: action {action} is masked and was accepted")
        after = {agent: raw.observe(agent) for agent in raw.agents}
        assert data_equivalence(before, after, exact=True), f"the refused action {action} changed the game"
        assert raw.agent_selection == turn.agent, f"the refused action {action} moved the turn"
