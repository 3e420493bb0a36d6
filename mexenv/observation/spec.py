"""What an observation layout is: named sections on one flat vector."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Section:
    """A named stretch of the observation.

    Attributes:
        name: what to call it.
        start: first index.
        stop: index after the last.
        shape: shape it is meant to be seen in; its product is `stop - start`.
        low: smallest whole number that occurs.
        high: largest whole number that occurs; larger ones are clipped to it.
        meaning: one sentence for the documentation.
    """

    name: str
    start: int
    stop: int
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str

    @property
    def scale(self) -> float:
        """Factor from the whole numbers of the int8 form to the float32 form."""
        return 1.0 / self.high

    @property
    def slice(self) -> slice:
        """Where the section lies in the flat vector."""
        return slice(self.start, self.stop)

    def of(self, observation: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """View of this section.

        Args:
            observation: array of shape [..., size].

        Returns:
            Array of shape [..., *shape].
        """
        return observation[..., self.start : self.stop].reshape(*observation.shape[:-1], *self.shape)


@dataclass(frozen=True)
class ObservationLayout:
    """A frozen, versioned arrangement of sections for one ruleset's numbers of values and seats.

    In the int8 form all entries are whole numbers. The float32 form is the same times each
    section's `scale`, so that entries lie in [0, 1] (scores in [-1, 1]).

    Attributes:
        name: `base` or `plan`.
        version: raised when anything about the layout changes; released layouts never change.
        n_values: pip values of the set.
        players: seats.
        sections: the sections by name, in order.
    """

    name: str
    version: int
    n_values: int
    players: int
    sections: Mapping[str, Section]
    size: int = field(init=False)
    low: npt.NDArray[np.int8] = field(init=False, repr=False, compare=False)
    high: npt.NDArray[np.int8] = field(init=False, repr=False, compare=False)
    scale: npt.NDArray[np.float32] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = list(self.sections.values())
        size = parts[-1].stop
        object.__setattr__(self, "size", size)
        for attribute, dtype in (("low", np.int8), ("high", np.int8), ("scale", np.float32)):
            values = np.concatenate([np.full(p.stop - p.start, getattr(p, attribute), dtype) for p in parts])
            values.setflags(write=False)
            object.__setattr__(self, attribute, values)

    def __getitem__(self, name: str) -> Section:
        return self.sections[name]

    def __iter__(self) -> Iterator[Section]:
        return iter(self.sections.values())

    @property
    def id(self) -> str:
        """Name and version, such as `base/1`."""
        return f"{self.name}/{self.version}"

    @property
    def digest(self) -> str:
        """16 hex digits that two layouts share exactly when every entry means the same."""
        rows = [[p.name, p.start, p.stop, list(p.shape), p.low, p.high] for p in self]
        text = json.dumps([self.id, rows], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_float(self, observation: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """The float32 form of an int8 observation of shape [..., size]."""
        scaled: npt.NDArray[np.float32] = observation * self.scale
        return scaled

    def to_int8(self, observation: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int8]:
        """The int8 form of a float32 observation of shape [..., size]."""
        whole: npt.NDArray[np.int8] = np.rint(observation / self.scale).astype(np.int8)
        return whole
