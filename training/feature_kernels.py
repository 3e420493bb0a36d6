"""Compiled twins of `PositionFeatures` and `Critic.inputs`: from int8 observations to normalised inputs.

PyTorch's version in `features.py` says what the columns mean and is what gets exported. Here each position
is read once, while it is in the cache, and nothing is computed for actions that are not legal. A test
compares the two, column by column.
"""

from typing import NamedTuple

import numba
import numpy as np

# Order of the gathered columns behind those that exist for both halves of a tile.
END_HIGH, OPEN, LENGTH, WAITING, MARKER, OWNER_HAND, OWN_MARKER, OWN_LENGTH, FEWEST = range(9)
OWN_LEN, OWN_PIPS, ELSE_LEN, ELSE_PIPS, PLACE, BEST_PIPS, BEST_LEN = range(9, 16)
# Order of the columns for both halves.
OWN_COUNT, UNSEEN, LACK_NEXT, LACK_MEAN, OPEN_ENDS, DOUBLE_TRAIN, DOUBLE_ORDER = range(7)
# Order of the fixed properties.
IS_DRAW, IS_PASS, PIPS, DOUBLE, HIGH, LOW, OWN, MEXICAN, NEXT, DISTANCE, TRAIN, JOINED = range(12)
PLACES = (
    "hand", "ends", "train_open", "hand_size", "lacks", "double_train", "trail_place", "own_count",
    "spare_count", "spare_pips", "open_ends", "lack_next", "lack_mean", "waiting", "fewest",
)  # fmt: skip
"""Sections whose first columns the kernels look up."""
CUT = np.float32(8.0)
"""Normalised inputs stay within plus and minus this, as in `InputNorm`."""


class Tables(NamedTuple):
    """What follows from the ruleset and the layout.

    Attributes:
        players: Number of seats.
        trains: Number of trains.
        values: Number of pip values.
        both: How many properties there are for both halves of a tile.
        two_way: Whether an action says which half is joined.
        planned: Whether the layout has trails.
        size: Columns of a position, derived ones included.
        at: int64, first columns of `PLACES`.
        scale: float32 `[observation_size]`, from whole numbers to scaled ones.
        halves: int64 `[n_tiles, 2]`.
        state_columns: int64, the columns of a position that make up the state.
        summary: float32 `[n_tiles, k]`, what the critic is told about a hand.
        columns: int64 `[n_actions, gathered]`, the columns of a position that concern an action.
        constants: float32 `[n_actions, fixed]`.
        units: float32, units of `double_train` and `double_order`, and from `trail` to `trail_else_len`.
    """

    players: int
    trains: int
    values: int
    both: int
    two_way: bool
    planned: bool
    size: int
    at: np.ndarray
    scale: np.ndarray
    halves: np.ndarray
    state_columns: np.ndarray
    summary: np.ndarray
    columns: np.ndarray
    constants: np.ndarray
    units: np.ndarray


class Norms(NamedTuple):
    """Shifts and factors of the three `InputNorm`s, all float32."""

    state_mean: np.ndarray
    state_inverse: np.ndarray
    action_mean: np.ndarray
    action_inverse: np.ndarray
    critic_mean: np.ndarray
    critic_inverse: np.ndarray


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_legal(masks: np.ndarray, counts: np.ndarray) -> None:
    """Counts the legal actions of positions.

    Args:
        masks: int8 `[n, n_actions]`.
        counts: int64 `[n]`, written.
    """
    for i in range(masks.shape[0]):
        total = 0
        for a in range(masks.shape[1]):
            total += masks[i, a]
        counts[i] = total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _normalise(value: float, mean: float, inverse: float) -> float:
    return min(max((value - mean) * inverse, -CUT), CUT)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _fill_position(raw: np.ndarray, t: Tables, x: np.ndarray) -> None:
    """Writes a position as `PositionFeatures.position` does."""
    players, trains, values, scale, halves = t.players, t.trains, t.values, t.scale, t.halves
    hand, ends, train_open, hand_size, lacks = t.at[0], t.at[1], t.at[2], t.at[3], t.at[4]
    double_train, trail_place, own, spare, spare_pips = t.at[5], t.at[6], t.at[7], t.at[8], t.at[9]
    open_ends, lack_next, lack_mean, waiting, fewest = t.at[10], t.at[11], t.at[12], t.at[13], t.at[14]
    half = np.float32(0.5)
    for c in range(scale.shape[0]):
        x[c] = np.float32(raw[c]) * scale[c]
    for c in range(scale.shape[0], x.shape[0]):
        x[c] = 0.0
    for tile in range(halves.shape[0]):
        if raw[hand + tile]:
            high, low = halves[tile, 0], halves[tile, 1]
            x[own + high] += np.float32(0.25)
            if low != high:
                x[own + low] += np.float32(0.25)
            if t.planned and not raw[trail_place + tile]:
                pips = np.float32(high + low) / np.float32(25.0)
                x[spare + high] += np.float32(0.25)
                x[spare_pips + high] += pips
                if low != high:
                    x[spare + low] += np.float32(0.25)
                    x[spare_pips + low] += pips
    for train in range(trains):
        if raw[train_open + train]:
            for value in range(values):
                x[open_ends + value] += half * x[ends + train * values + value] * x[train_open + train]
    share = np.float32(1.0 / (players - 1))
    for other in range(players - 1):
        tiles = np.float32(1.0) / np.float32(max(raw[hand_size + 1 + other], 1))
        for value in range(values):
            lack = np.float32(raw[lacks + other * values + value]) * tiles
            if other == 0:
                x[lack_next + value] = lack
            x[lack_mean + value] += lack * share
    for value in range(values):
        train = raw[double_train + value]
        if 1 <= train <= trains:
            x[waiting + train - 1] += np.float32(1.0)
    least = x[hand_size + 1]
    for other in range(1, players - 1):
        least = min(least, x[hand_size + 1 + other])
    x[fewest] = least


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _fill_action(x: np.ndarray, action: int, t: Tables, norms: Norms, out: np.ndarray) -> None:
    """Writes what `PositionFeatures.actions` says of one action, normalised, in the same order."""
    columns, f, both = t.columns[action], t.constants[action], t.both
    one, zero = np.float32(1.0), np.float32(0.0)
    rest = 2 * both
    play = one - f[IS_DRAW] - f[IS_PASS]
    by_high = f[JOINED] if t.two_way else x[columns[rest + END_HIGH]]
    own, pips, double = f[OWN], f[PIPS], f[DOUBLE]
    place, train = zero, zero
    free_own = zero
    told = (
        f[IS_DRAW], f[IS_PASS], pips, double, f[HIGH], f[LOW], own, f[MEXICAN], f[NEXT], f[DISTANCE],
        f[LOW] + by_high * (f[HIGH] - f[LOW]), f[HIGH] + by_high * (f[LOW] - f[HIGH]),
    )  # fmt: skip
    for k, value in enumerate(told):
        out[k] = value
    for name in range(both):
        high, low = x[columns[2 * name]], x[columns[2 * name + 1]]
        joined, free = low + by_high * (high - low), high + by_high * (low - high)
        if name in (OWN_COUNT, UNSEEN, LACK_NEXT):
            out[12 + name] = joined
        if name == OWN_COUNT:
            free_own = free
        if name == DOUBLE_TRAIN:
            train = joined / t.units[0]
        elif name == DOUBLE_ORDER:
            place = joined / t.units[1]
        else:
            out[15 + (name if name < DOUBLE_TRAIN else name - 2)] = free
    c = 15 + both - 2
    half = np.float32(0.5)
    covers = play if abs(train - f[TRAIN] - one) < half else zero
    first = one if abs(place - one) < half else zero
    follow = one if free_own > np.float32(0.26) else zero
    own_marker, own_length = x[columns[rest + OWN_MARKER]], x[columns[rest + OWN_LENGTH]]
    for value in (
        follow, double * follow, double * free_own, covers, covers * first, x[columns[rest + OPEN]],
        x[columns[rest + LENGTH]], x[columns[rest + WAITING]], x[columns[rest + MARKER]],
        x[columns[rest + OWNER_HAND]], own_marker * play, own_marker * own, own_length * play,
        own if own_length == zero else zero, x[columns[rest + FEWEST]] * pips, own * pips,
    ):  # fmt: skip
        out[c] = value
        c += 1
    if t.planned:
        own_pips, else_pips = x[columns[rest + OWN_PIPS]], x[columns[rest + ELSE_PIPS]]
        own_len, else_len = x[columns[rest + OWN_LEN]], x[columns[rest + ELSE_LEN]]
        best_pips, best_len = x[columns[rest + BEST_PIPS]], x[columns[rest + BEST_LEN]] * t.units[2]
        on_trail = x[columns[rest + PLACE]]
        elsewhere = play - own
        after_pips = own * own_pips + elsewhere * else_pips
        after_len = own * own_len + elsewhere * else_len
        on = one if on_trail > zero else zero
        for value in (
            after_pips, after_len, after_pips - play * best_pips, after_len - play * best_len,
            else_pips - play * best_pips, else_len - play * best_len, on_trail, on, own * on,
            double * after_pips, f[MEXICAN] * (else_pips - best_pips),
        ):  # fmt: skip
            out[c] = value
            c += 1
    for k in range(c):
        out[k] = _normalise(out[k], norms.action_mean[k], norms.action_inverse[k])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _fill_inputs(x: np.ndarray, hidden: np.ndarray, t: Tables, norms: Norms, out: np.ndarray) -> None:
    """Writes the actor's state and, behind it, what the critic reads."""
    width, tiles, told = t.state_columns.shape[0], t.summary.shape[0], t.summary.shape[1]
    for k in range(width):
        value = x[t.state_columns[k]]
        out[k] = _normalise(value, norms.state_mean[k], norms.state_inverse[k])
        out[width + k] = _normalise(value, norms.critic_mean[k], norms.critic_inverse[k])
    c = width
    for k in range(t.trains * t.values):
        out[width + c] = _normalise(x[t.at[1] + k], norms.critic_mean[c], norms.critic_inverse[c])
        c += 1
    for other in range(hidden.shape[0] // tiles):
        hand = out[width + c : width + c + told]
        hand[:] = 0.0
        for tile in range(tiles):
            if hidden[other * tiles + tile]:
                for k in range(told):
                    hand[k] += t.summary[tile, k]
        for k in range(told):
            hand[k] = _normalise(hand[k], norms.critic_mean[c], norms.critic_inverse[c])
            c += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def write_inputs(
    observations: np.ndarray,
    hidden: np.ndarray,
    masks: np.ndarray,
    starts: np.ndarray,
    t: Tables,
    norms: Norms,
    critic: bool,
    inputs: np.ndarray,
    legal: np.ndarray,
    action_inputs: np.ndarray,
) -> None:
    """Writes what the networks are told about positions and about each legal action in them.

    Args:
        observations: int8 `[n, size]`.
        hidden: int8 `[n, others * n_tiles]`, or no columns for a critic that does not see hands.
        masks: int8 `[n, n_actions]`.
        starts: int64 `[n + 1]`, where each position's actions begin in the lists.
        t: What follows from the ruleset and the layout.
        norms: Shifts and factors.
        critic: Whether to write the critic's columns too.
        inputs: float32 `[n, state and critic]`, written.
        legal: int32 `[k]`, written: the legal actions, position by position.
        action_inputs: float32 `[k, action_size]`, written.
    """
    x = np.empty(t.size, np.float32)
    width = t.state_columns.shape[0]
    for i in range(masks.shape[0]):
        _fill_position(observations[i], t, x)
        if critic:
            _fill_inputs(x, hidden[i], t, norms, inputs[i])
        else:
            for k in range(width):
                inputs[i, k] = _normalise(x[t.state_columns[k]], norms.state_mean[k], norms.state_inverse[k])
        k, action = starts[i], 0
        while k < starts[i + 1]:
            if masks[i, action]:
                legal[k] = action
                _fill_action(x, action, t, norms, action_inputs[k])
                k += 1
            action += 1
