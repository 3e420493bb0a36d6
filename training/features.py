"""What the network is told about a position and about each legal action in it.

Everything is read from the public observation through its named sections, so the same code serves every
ruleset, set and number of players. Nothing here is learned.
"""

import numpy as np
import torch as th
from torch import nn

from mexenv.observation import ObservationLayout
from mexenv.rules.actions import ActionLayout
from mexenv.rules.ruleset import Ruleset
from mexenv.rules.tiles import all_tiles

STATE_SECTIONS = (
    "hand_size",
    "boneyard",
    "pips",
    "stage",
    "rounds_left",
    "scores",
    "passed",
    "marker",
    "train_open",
    "length",
    "starter",
    "unseen",
    "engine",
    "trail",
)
"""The sections that describe the position as a whole, as far as a layout has them."""


class PositionFeatures(nn.Module):
    """Turns observations into rows of numbers for the position and for single actions.

    Args:
        ruleset: The ruleset played.
        layout: The observation layout; sections of trail planning are used where it has them.

    Attributes:
        state_size: Numbers in a row about a position.
        action_size: Numbers in a row about an action.
        observation_size: Numbers of a public observation.
    """

    scale: th.Tensor
    incidence: th.Tensor
    value_pips: th.Tensor
    hand_summary: th.Tensor
    columns: th.Tensor
    constants: th.Tensor
    state_columns: th.Tensor
    train_numbers: th.Tensor

    def __init__(self, ruleset: Ruleset, layout: ObservationLayout) -> None:
        super().__init__()
        self.players, self.n_values = ruleset.players, ruleset.n_values
        self.n_trains, self.n_tiles = ruleset.n_trains, ruleset.n_tiles
        self.observation_size = layout.size
        self.planned = "trail_own_pips" in layout.sections
        self._slices = {name: slice(s.start, s.stop) for name, s in layout.sections.items()}
        self._units = {name: s.scale for name, s in layout.sections.items()}

        tiles = np.array(list(all_tiles(ruleset.set_max)))
        incidence = np.zeros((self.n_tiles, self.n_values), np.float32)
        for index, (high, low) in enumerate(tiles):
            incidence[index, [high, low]] = 1.0
        self._buffer("scale", layout.scale)
        self._buffer("incidence", incidence)
        self._buffer("value_pips", incidence * tiles.sum(1, keepdims=True).astype(np.float32))
        # For hands that only a privileged critic sees: tiles per value, and pips.
        self._buffer(
            "hand_summary", np.hstack([incidence / 4, tiles.sum(1, keepdims=True) / 50.0]).astype(np.float32)
        )
        self._buffer("train_numbers", np.arange(1, self.n_trains + 1, dtype=np.float32))

        # Derived columns stand behind those of the observation; the last one is always zero.
        start = layout.size
        planned = (("spare_count", self.n_values), ("spare_pips", self.n_values)) if self.planned else ()
        for name, size in (
            ("own_count", self.n_values),
            *planned,
            ("open_ends", self.n_values),
            ("lack_next", self.n_values),
            ("lack_mean", self.n_values),
            ("waiting", self.n_trains),
            ("fewest", 1),
            ("zero", 1),
        ):
            self._slices[name] = slice(start, start + size)
            start += size
        self.position_size = start
        self._build_actions(ruleset, tiles)
        names = [*STATE_SECTIONS, "own_count", "spare_count", "open_ends", "waiting", "fewest"]
        kept = [np.arange(self._slices[n].start, self._slices[n].stop) for n in names if n in self._slices]
        self._buffer("state_columns", np.concatenate(kept).astype(np.int64))
        self.state_size = len(self.state_columns)

    def _unit(self, name: str) -> float:
        return self._units[name]

    def _buffer(self, name: str, values: np.ndarray) -> None:
        # Not part of the saved weights: all of it follows from the ruleset and the layout.
        self.register_buffer(name, th.from_numpy(np.array(values)), persistent=False)

    def _build_actions(self, ruleset: Ruleset, tiles: np.ndarray) -> None:
        """Lists, for each action, the columns of the position that concern it, and its fixed properties."""
        actions = ActionLayout(ruleset)
        ways = 2 if actions.two_way else 1
        n_plays = self.n_tiles * self.n_trains * ways
        ids = np.arange(n_plays)
        tile, train, half = ids // ways // self.n_trains, ids // ways % self.n_trains, ids % ways
        high, low = tiles[tile, 0], tiles[tile, 1]
        zero = self._slices["zero"].start
        seat_train = train < self.players

        def column(name: str, index: np.ndarray | int) -> np.ndarray:
            return self._slices[name].start + index + np.zeros(n_plays, np.int64)

        columns: dict[str, np.ndarray] = {}
        self._by_half = ("own_count", "unseen", "lack_next", "lack_mean", "open_ends", "double_train")
        self._by_half += ("double_order", "drawn", *(("spare_count", "spare_pips") if self.planned else ()))
        for name in self._by_half:
            columns[name + ":high"] = column(name, high)
            columns[name + ":low"] = column(name, low)
        columns["end:high"] = column("ends", train * self.n_values + high)
        columns["open"] = column("train_open", train)
        columns["length"] = column("length", train)
        columns["waiting"] = column("waiting", train)
        columns["marker"] = np.where(seat_train, column("marker", np.minimum(train, self.players - 1)), zero)
        columns["owner_hand"] = np.where(
            seat_train, column("hand_size", np.minimum(train, self.players - 1)), zero
        )
        columns["own_marker"] = column("marker", 0)
        columns["own_length"] = column("length", 0)
        columns["fewest"] = column("fewest", 0)
        if self.planned:
            for name in ("own_len", "own_pips", "else_len", "else_pips", "place"):
                columns[name] = column("trail_" + name, tile)
            columns["best_pips"], columns["best_len"] = column("trail", 0), column("trail", 1)
        self._gathered = {name: place for place, name in enumerate(columns)}
        table = np.full((actions.n_actions, len(columns)), zero, np.int64)
        table[:n_plays] = np.stack(list(columns.values()), 1)
        self._buffer("columns", table)

        pips = (high + low).astype(np.float32)
        blank = (pips == 0) * ruleset.double_blank
        fixed = {
            "is_draw": np.zeros(n_plays),
            "is_pass": np.zeros(n_plays),
            "pips": (pips + blank) / (2 * ruleset.set_max),
            "double": (high == low),
            "high": high / ruleset.set_max,
            "low": low / ruleset.set_max,
            "own": train == 0,
            "mexican": train == self.players,
            "next": train == 1,
            "distance": np.where(seat_train, train / self.players, 0.0),
            "train": np.float32(train),
            "joined": (half == 0) if ways == 2 else np.full(n_plays, -1.0),
        }
        self._fixed = {name: place for place, name in enumerate(fixed)}
        values = np.zeros((actions.n_actions, len(fixed)), np.float32)
        values[:n_plays] = np.stack([np.asarray(v, np.float32) for v in fixed.values()], 1)
        values[actions.draw, self._fixed["is_draw"]] = 1.0
        values[actions.pass_, self._fixed["is_pass"]] = 1.0
        self._buffer("constants", values)
        self.two_way = ways == 2
        self.both_halves = len(self._by_half)
        empty = th.zeros(1, len(columns)), th.zeros(1, len(fixed))
        self.action_size = self._assemble(*empty).shape[1]

    def position(self, observation: th.Tensor) -> th.Tensor:
        """Returns the observation in scaled units, with the derived columns behind it.

        Args:
            observation: `[batch, at least observation_size]`; whole numbers, or floats already scaled.

        Returns:
            float32 `[batch, observation_size + derived]`.
        """
        public = observation[:, : self.observation_size]
        x = public if public.is_floating_point() else public.float() * self.scale

        def part(name: str) -> th.Tensor:
            return x[:, self._slices[name]]

        def whole(name: str) -> th.Tensor:
            return part(name) / self._unit(name)

        values, trains, others = self.n_values, self.n_trains, self.players - 1
        own_count = part("hand") @ self.incidence / 4
        ends = part("ends").reshape(-1, trains, values)
        open_ends = (ends * part("train_open").unsqueeze(2)).sum(1) / 2
        sizes = whole("hand_size")[:, 1:]
        lacks = whole("lacks").reshape(-1, others, values) / sizes.clamp(min=1.0).unsqueeze(2)
        lies_on = (whole("double_train").unsqueeze(2) - self.train_numbers).abs() < 0.5
        waiting = lies_on.float().sum(1)
        fewest = part("hand_size")[:, 1:].min(1, keepdim=True).values
        derived = [own_count]
        if self.planned:
            # Tiles in hand that are not on the best trail have to find a place on other trains.
            spare = part("hand") * (part("trail_place") == 0)
            derived += [spare @ self.incidence / 4, spare @ self.value_pips / 25]
        derived += [open_ends, lacks[:, 0], lacks.mean(1), waiting, fewest, th.zeros_like(fewest)]
        return th.cat([x, *derived], 1)

    def state(self, position: th.Tensor) -> th.Tensor:
        """Returns the rows about the positions: `[batch, state_size]` from what `position` returned."""
        return position[:, self.state_columns]

    def named(self, name: str) -> int:
        """Returns the place of a property in the rows about actions."""
        return self.action_names.index(name)

    def starts(self) -> dict[str, int]:
        """Returns the first column of each section, derived ones included."""
        return {name: place.start for name, place in self._slices.items()}

    def units(self) -> tuple[float, float, float]:
        """Returns units of `double_train` and `double_order`, and from `trail` to `trail_else_len`."""
        lengths = self._unit("trail_else_len") / self._unit("trail") if self.planned else 1.0
        return self._unit("double_train"), self._unit("double_order"), lengths

    def width(self, name: str) -> int:
        """Returns how many columns a section has."""
        return self._slices[name].stop - self._slices[name].start

    def part(self, position: th.Tensor, name: str) -> th.Tensor:
        """Returns the columns of one section."""
        return position[:, self._slices[name]]

    def actions(self, position: th.Tensor, rows: th.Tensor, actions: th.Tensor) -> th.Tensor:
        """Returns the rows about single actions.

        Args:
            position: What `position` returned, `[batch, n]`.
            rows: int64 `[k]`, the position of each action.
            actions: int64 `[k]`, the ids.

        Returns:
            float32 `[k, action_size]`.
        """
        where = self.columns[actions] + (rows * position.shape[1]).unsqueeze(1)
        return self._assemble(position.reshape(-1)[where], self.constants[actions])

    def _assemble(self, gathered: th.Tensor, fixed: th.Tensor) -> th.Tensor:
        g = {name: gathered[:, place] for name, place in self._gathered.items()}
        f = {name: fixed[:, place] for name, place in self._fixed.items()}
        play = 1 - f["is_draw"] - f["is_pass"]
        # A train with one end takes a tile by the half that the end shows.
        by_high = f["joined"] if self.two_way else g["end:high"]
        joined, free = {}, {}
        for name in self._by_half:
            high, low = g[name + ":high"], g[name + ":low"]
            joined[name] = low + by_high * (high - low)
            free[name] = high + by_high * (low - high)
        here = (joined["double_train"] / self._unit("double_train") - f["train"] - 1).abs() < 0.5
        covers = here.float() * play
        place = (joined["double_order"] / self._unit("double_order") - 1).abs() < 0.5
        follow_up = (free["own_count"] > 0.26).float()  # counts are in quarters, the tile itself is one
        own, pips, double = f["own"], f["pips"], f["double"]
        columns = {
            "is_draw": f["is_draw"],
            "is_pass": f["is_pass"],
            "pips": pips,
            "double": double,
            "high": f["high"],
            "low": f["low"],
            "own": own,
            "mexican": f["mexican"],
            "next": f["next"],
            "distance": f["distance"],
            "joined": f["low"] + by_high * (f["high"] - f["low"]),
            "free": f["high"] + by_high * (f["low"] - f["high"]),
            "joined_own_count": joined["own_count"],
            "joined_unseen": joined["unseen"],
            "joined_lack_next": joined["lack_next"],
            **{f"free_{n}": free[n] for n in self._by_half if n not in ("double_train", "double_order")},
            "follow_up": follow_up,
            "double_follow_up": double * follow_up,
            "double_count": double * free["own_count"],
            "covers": covers,
            "covers_first": covers * place.float(),
            "open": g["open"],
            "length": g["length"],
            "waiting": g["waiting"],
            "marker": g["marker"],
            "owner_hand": g["owner_hand"],
            "own_marker": g["own_marker"] * play,
            "takes_marker_down": g["own_marker"] * own,
            "own_length": g["own_length"] * play,
            "starts_own": (g["own_length"] == 0).float() * own,
            "pips_late": g["fewest"] * pips,
            "pips_own": own * pips,
        }
        if self.planned:
            elsewhere = play - own
            after_pips = own * g["own_pips"] + elsewhere * g["else_pips"]
            after_len = own * g["own_len"] + elsewhere * g["else_len"]
            # `trail` counts tiles in another unit than the sections for single tiles.
            best_len = g["best_len"] * (self._unit("trail_else_len") / self._unit("trail"))
            on_trail = (g["place"] > 0).float()
            columns |= {
                "after_pips": after_pips,
                "after_len": after_len,
                "after_pips_change": after_pips - play * g["best_pips"],
                "after_len_change": after_len - play * best_len,
                "without_pips": g["else_pips"] - play * g["best_pips"],
                "without_len": g["else_len"] - play * best_len,
                "place": g["place"],
                "on_trail": on_trail,
                "on_trail_own": own * on_trail,
                "double_after_pips": double * after_pips,
                "mexican_without_pips": f["mexican"] * (g["else_pips"] - g["best_pips"]),
            }
        self.action_names = list(columns)
        return th.stack(list(columns.values()), 1)
