"""Network inputs of many positions at once, made by compiled kernels straight from int8 observations."""

from dataclasses import dataclass

import numpy as np
import torch as th

from mexenv.rules.tiles import all_tiles
from training.feature_kernels import PLACES, Norms, Tables, count_legal, write_inputs
from training.features import PositionFeatures


@dataclass(frozen=True)
class PositionInputs:
    """What the networks are told about some positions, normalised.

    Attributes:
        inputs: float32 `[n, state and critic]`, the actor's columns in front.
        starts: int64 `[n + 1]`, where each position's legal actions begin.
        legal: int32 `[k]`, the legal actions, position by position.
        action_inputs: float32 `[k, action_size]`.
    """

    inputs: np.ndarray
    starts: np.ndarray
    legal: np.ndarray
    action_inputs: np.ndarray

    def part(self, begin: int, end: int) -> "PositionInputs":
        """Returns a stretch of the positions, as views."""
        starts = self.starts[begin : end + 1]
        actions = slice(starts[0], starts[-1])
        return PositionInputs(
            self.inputs[begin:end], starts - starts[0], self.legal[actions], self.action_inputs[actions]
        )

    def rows(self) -> th.Tensor:
        """Returns int64 `[k]`, the position of each action."""
        return th.from_numpy(np.repeat(np.arange(len(self.inputs)), np.diff(self.starts)))


def input_tables(features: PositionFeatures) -> Tables:
    """Returns what the kernels need to know of a ruleset and a layout."""
    places = features.starts()
    return Tables(
        features.players,
        features.n_trains,
        features.n_values,
        features.both_halves,
        features.two_way,
        features.planned,
        features.position_size,
        np.array([places.get(name, 0) for name in PLACES], np.int64),
        _array(features.scale),
        np.array(list(all_tiles(features.n_values - 1)), np.int64),
        _array(features.state_columns),
        _array(features.hand_summary),
        _array(features.columns),
        _array(features.constants),
        np.array(features.units(), np.float32),
    )


class InputWriter:
    """Writes `PositionInputs`.

    Args:
        tables: Of the ruleset and the layout.
        norms: Modules that normalise state, actions and the critic's rows.
    """

    def __init__(self, tables: Tables, *norms: th.nn.Module) -> None:
        self.tables = tables
        self.norms = Norms(*(_array(values) for norm in norms for values in (norm.mean, norm.inverse)))
        self.state_size = len(self.norms.state_mean)

    def counts(self, masks: np.ndarray) -> np.ndarray:
        """Returns how many actions are legal, int64 `[n]`."""
        counts = np.empty(len(masks), np.int64)
        count_legal(masks, counts)
        return counts

    def write(
        self,
        into: PositionInputs,
        observations: np.ndarray,
        hidden: np.ndarray | None,
        masks: np.ndarray,
        critic: bool = True,
    ) -> None:
        """Writes the inputs of positions.

        Args:
            into: Where to; its `starts` are filled in already.
            observations: int8 `[n, size]`.
            hidden: int8 `[n, others * n_tiles]`; None for a critic that does not see hands.
            masks: int8 `[n, n_actions]`.
            critic: Whether to write the critic's columns too.
        """
        write_inputs(
            observations,
            np.zeros((len(masks), 0), np.int8) if hidden is None else hidden,
            masks,
            into.starts,
            self.tables,
            self.norms,
            critic,
            into.inputs,
            into.legal,
            into.action_inputs,
        )

    def actor_inputs(self, observations: np.ndarray, masks: np.ndarray) -> PositionInputs:
        """Returns the actor's part of the inputs in new arrays.

        Args:
            observations: int8 `[n, at least observation_size]`.
            masks: int8 or bool `[n, n_actions]`.
        """
        masks = np.ascontiguousarray(masks).astype(np.int8, copy=False)
        starts = np.concatenate([[0], np.cumsum(self.counts(masks))])
        into = PositionInputs(
            np.empty((len(masks), self.state_size), np.float32),
            starts,
            np.empty(starts[-1], np.int32),
            np.empty((starts[-1], len(self.norms.action_mean)), np.float32),
        )
        self.write(into, np.ascontiguousarray(observations), None, masks, critic=False)
        return into


def _array(values: th.Tensor) -> np.ndarray:
    return values.detach().cpu().numpy()
