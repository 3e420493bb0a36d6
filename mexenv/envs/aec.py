"""PettingZoo AEC adapter: every seat is an agent. The documentation page is `mexenv.mexican_train_v0`."""

from __future__ import annotations

import operator
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from mexenv.engine.episode import EPISODE
from mexenv.engine.state import copy_records
from mexenv.envs.checked import CheckedEnv
from mexenv.envs.options import (
    ActionSpace,
    GameOptions,
    Settings,
    check_render_mode,
    fresh_seed,
    observation_space,
    show,
)
from mexenv.games import Game, IllegalActionError
from mexenv.games.options import illegal_text, options_record, seeds_for
from mexenv.games.slot import ENDED, ILLEGAL, Slot
from mexenv.observation import make_layout
from mexenv.rules import ActionLayout

Observation = npt.NDArray[Any] | dict[str, npt.NDArray[Any]]


def env(**options: Any) -> AECEnv:
    """The environment for learning code, wrapped as PettingZoo's classic games are.

    An illegal action ends the episode with reward -1 for its agent (and a warning) instead of an error; a
    number that is no action, and calls in the wrong order, are errors.

    Args:
        **options: see `raw_env`.
    """
    return CheckedEnv(raw_env(**options))


class EnvState(NamedTuple):
    """A position of a `raw_env`, as `get_state` returns it. Opaque, but it can be copied and pickled."""

    games: npt.NDArray[np.void]
    api: dict[str, Any]
    ruleset: str


# What PettingZoo's bookkeeping of an episode consists of, besides the game itself. The infos follow from it.
_API_STATE = (
    "agents", "agent_selection", "terminations", "truncations", "rewards", "_cumulative_rewards",
    "_skip_agent_selection",
)  # fmt: skip


class raw_env(AECEnv):  # type: ignore[misc]  # PettingZoo ships no types
    """The environment itself. An illegal action is an error and changes nothing.

    Live games can be copied, pickled, and taken back to an earlier position (`get_state`, `set_state`).

    Args:
        observation: `dict` for `{"observation", "action_mask"}`, `flat` for the observation alone (the mask
            is in `info` both ways).
        render_mode: `ansi` (text), `rgb_array` (picture), `human` (the text is printed after every step).
        **options: the options of the game, see `mexenv.envs.options.GameOptions`.

    Raises:
        ValueError: an option is not allowed (`RulesetError` where it belongs to the ruleset).
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "mexican_train_v0",
        "render_modes": ["ansi", "rgb_array", "human"],
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(
        self, *, observation: str = "dict", render_mode: str | None = None, **options: Unpack[GameOptions]
    ) -> None:
        super().__init__()
        check_render_mode(render_mode, self.metadata["render_modes"])
        settings = Settings(options)
        self.render_mode = render_mode
        self.ruleset = settings.ruleset
        self.layout = make_layout(settings.layout, self.ruleset)
        self._dtype = settings.dtype
        self._flat = observation == "flat"
        # It writes the mover's observation with every step.
        rules = options_record(self.ruleset, auto_reset=False, **settings.batch_options)
        self._slot = Slot(self.ruleset, rules, self.layout, floats=settings.dtype == np.float32)
        self._mover = 0
        self._seeded = False
        self.actions = ActionLayout(self.ruleset)

        players = self.ruleset.players
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._infos: dict[str, dict[str, Any]] = {}
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: observation_space(self.layout, self._dtype, self.actions.n_actions, observation)
            for agent in self.possible_agents
        }
        self.action_spaces = {a: ActionSpace(self.actions.n_actions) for a in self.possible_agents}
        base = make_layout("base", self.ruleset)
        self._base = base
        boneyard = np.ones(self.ruleset.n_tiles, np.float32)
        self.state_space = spaces.Box(
            np.concatenate([*[base.to_float(base.low)] * players, 0 * boneyard]),
            np.concatenate([*[base.to_float(base.high)] * players, boneyard]),
            dtype=np.float32,
        )

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of one agent's observations; the same for all."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of one agent's actions; the same for all."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode.

        Args:
            seed: everything random follows from it; None goes on with the generator of the game before.
            options: not used.
        """
        if seed is None and not self._seeded:
            seed = fresh_seed()
        self._seeded = True
        self._slot.deal(None if seed is None else seeds_for(seed, 1)[0])
        self._mover = int(self._slot.games["mover"][0])
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection: str | None = None
        self._rewarded = False
        self.agent_selection = self.possible_agents[self._mover]
        self._infos = {}
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Carry out an action of `agent_selection`; None for an agent whose episode is over.

        Raises:
            IllegalActionError: the action is not legal; nothing has changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        slot = self._slot
        try:
            number = operator.index(action)
            result = slot.call(slot.slots, number) if number >= 0 else ILLEGAL
        except (TypeError, OverflowError):
            result = ILLEGAL
        if result == ILLEGAL:
            raise IllegalActionError(self._complaint(agent, action))
        ended, self._mover = divmod(result, ENDED)
        self._cumulative_rewards[agent] = 0.0
        if self._rewarded:
            self._clear_rewards()
            self._rewarded = False
        self._infos = {}
        if ended:
            self._end_round(ended == EPISODE)
        else:
            self.agent_selection = self.possible_agents[self._mover]
        if self.render_mode == "human":
            self.render()

    def _end_round(self, last: bool) -> None:
        """Pay the rewards of a round, to all seats, and go on or end the episode."""
        self.rewards = dict(zip(self.possible_agents, self._slot.rewards.tolist(), strict=True))
        self._rewarded = True
        self._accumulate_rewards()
        if last:
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self.possible_agents[self._mover]

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The info of each agent: its mask and nothing else, since TorchRL stumbles over more beside it.

        Each is written when somebody first asks after a step, and then stays until the next.
        """
        if len(self._infos) < len(self.agents):
            known = self._infos
            self._infos = {a: known.get(a) or {"action_mask": self._mask(a)} for a in self.agents}
        return self._infos

    def _mask(self, agent: str) -> npt.NDArray[np.int8]:
        """A new action mask: all zero unless the agent is to move, and at the end of an episode."""
        if self._seat_of[agent] == self._mover:
            return self._slot.mask.copy()
        return np.zeros(self.actions.n_actions, np.int8)

    def _complaint(self, agent: str, action: Any) -> str:
        if action is None:
            return f"{agent}: action None is only for an agent whose episode is over; {agent} is to move"
        legal = self._slot.legal()
        try:
            return f"{agent}: {illegal_text(self.actions, operator.index(action), legal)}"
        except TypeError:
            return f"{agent}: action {action!r} is not a whole number; allowed: {', '.join(map(str, legal))}"

    def observe(self, agent: str) -> Observation:
        """What an agent may know now, whether it is to move or not.

        Args:
            agent: any of `possible_agents`.

        Returns:
            The observation, [layout.size], new at each call; in a dict together with the action mask (int8
            [n_actions], all zero unless the agent is to move) unless `observation="flat"`.
        """
        slot = self._slot
        seat = self._seat_of[agent]
        if seat == self._mover:
            view = slot.view.copy()
        else:
            view = slot.observe(seat, self.layout)
            if self._dtype == np.float32:
                view = self.layout.to_float(view)
        if self._flat:
            return view
        # An episode can also be ended from outside, by a wrapper, while somebody is still to move.
        over = self.terminations.get(agent, True)
        mask = np.zeros(self.actions.n_actions, np.int8) if over else self._mask(agent)
        return {"observation": view, "action_mask": mask}

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last action, termination, truncation and info of `agent_selection`.

        The observation is new at each call, the info new after each step.

        Args:
            observe: False for None instead of the observation.
        """
        agent = self.agent_selection
        rewards, ended, cut = self._cumulative_rewards, self.terminations, self.truncations
        if not observe or ended[agent] or cut[agent]:
            seen = self.observe(agent) if observe else None
            return seen, rewards[agent], ended[agent], cut[agent], self.infos[agent]
        # A live agent is the mover, whose observation and mask have been written already.
        slot = self._slot
        view = slot.view.copy()
        mask = slot.mask
        infos = self._infos
        if agent not in infos:
            infos[agent] = {"action_mask": mask.copy()}
        seen = view if self._flat else {"observation": view, "action_mask": mask.copy()}
        return seen, rewards[agent], False, False, infos[agent]

    def state(self) -> npt.NDArray[np.float32]:
        """The full truth, for centralised critics: nothing that plays may see it.

        Returns:
            float32 [state_space.shape]: what each seat sees, in the layout `base`, seat 0 first; then for
            each tile its place in the boneyard, as a share (1 / n_tiles: the next one to be drawn, 0: not
            there).
        """
        seats = range(self.ruleset.players)
        views = [self._base.to_float(self._slot.observe(seat, self._base)) for seat in seats]
        game = self._slot.games[0]
        boneyard = game["pile"][game["pile_next"] : game["pile_end"]]
        places = np.zeros(self.ruleset.n_tiles, np.float32)
        places[boneyard] = np.arange(1, boneyard.size + 1) / self.ruleset.n_tiles
        return np.concatenate([*views, places])

    def get_state(self) -> EnvState:
        """The position and PettingZoo's bookkeeping, to come back to with `set_state`."""
        api = {name: deepcopy(getattr(self, name)) for name in _API_STATE}
        return EnvState(copy_records(self._slot.games), api, self.ruleset.digest)

    def set_state(self, state: EnvState) -> None:
        """Go back to a position of this environment, or to one of another with the same options.

        Args:
            state: from `get_state`; it is not changed and can be used again.

        Raises:
            ValueError: the position belongs to another ruleset.
        """
        if state.ruleset != self.ruleset.digest:
            raise ValueError("state: it was taken from an environment with another ruleset")
        copy_records(state.games, to=self._slot.games)
        self._slot.show()
        self._mover = int(state.games["mover"][0])
        for name, value in state.api.items():
            setattr(self, name, deepcopy(value))
        self._infos = {}
        self._rewarded = True  # clear whatever rewards the position came with
        self._seeded = True

    @property
    def game(self) -> Game:
        """A readable copy of the position: hands, trains, points. It has no record of how it came about."""
        return Game.from_record(self.ruleset, self._slot.games, self._slot.options)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Draw the game, all hands face up: text, picture or nothing, as `render_mode` says."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: give one when making the environment")
            return None
        return show(self.game, self.render_mode, None)

    def close(self) -> None:
        """Nothing is held open."""
