from __future__ import annotations

import numpy as np
import pytest

from mexenv.observation.trail import DISCOUNT, LENGTH_BONUS, MAX_TRAIL, best_trail, top_bit

Tile = tuple[int, int]


def masks(tiles: list[Tile], n_values: int) -> np.ndarray:
    hand = np.zeros(n_values, np.int32)
    for a, b in tiles:
        hand[a] |= 1 << b
        hand[b] |= 1 << a
    return hand


def index(a: int, b: int) -> int:
    return max(a, b) * (max(a, b) + 1) // 2 + min(a, b)


def search(tiles: list[Tile], ends: set[int], *, n_values=13, nodes=10**6, d=DISCOUNT, lam=LENGTH_BONUS):
    hand = masks(tiles, n_values)
    before = hand.copy()
    out = np.full(MAX_TRAIL, -1, np.int16)
    value, length, pips = best_trail(hand, sum(1 << e for e in ends), nodes, out, d, lam)
    assert (hand == before).all(), "the hand is restored"
    return value, length, pips, out[:length].tolist()


def exhaustive(tiles: frozenset[Tile], end: int, d: float, lam: float, weight: float = 1.0) -> float:
    best = 0.0
    for a, b in tiles:
        if end in (a, b):
            rest = exhaustive(tiles - {(a, b)}, a + b - end, d, lam, weight * d)
            best = max(best, weight * (a + b) + lam + rest)
    return best


def worth(trail: list[int], tiles: list[Tile], ends: set[int], d: float, lam: float) -> float:
    """Value of a reported trail, checked tile by tile: held, not used before, joining the end."""
    held = {index(*t): t for t in tiles}
    total, weight = 0.0, 1.0
    for k, i in enumerate(trail):
        a, b = held.pop(i)
        if k == 0:
            ends = {a + b - e for e in ends if e in (a, b)}
            assert ends
        else:
            ends = {a + b - e for e in ends if e in (a, b)}
        assert ends, f"tile {a}-{b} does not join"
        total += weight * (a + b) + lam
        weight *= d
    return total


def test_a_loop_back_to_the_end_is_walked_before_leaving_it() -> None:
    tiles = [(12, 5), (7, 5), (12, 7), (12, 3)]
    value, length, pips, trail = search(tiles, {12})
    assert length == 4
    assert trail[-1] == index(12, 3)
    assert set(trail) == {index(*t) for t in tiles}
    # 12-7, 7-5, 5-12, 12-3 beats the other way round: heavy tiles early.
    assert trail[:3] == [index(12, 7), index(7, 5), index(12, 5)]
    assert pips == pytest.approx(19 + 12 * 0.92 + 17 * 0.92**2 + 15 * 0.92**3)
    assert value == pytest.approx(pips + 4 * 8)


def test_a_double_extends_its_value_and_leaves_it_open() -> None:
    value, length, pips, trail = search([(6, 6), (6, 2)], {6})
    assert trail == [index(6, 6), index(6, 2)]
    assert (length, pips, value) == (2, pytest.approx(12 + 0.92 * 8), pytest.approx(12 + 0.92 * 8 + 16))


def test_a_lone_double_is_a_trail_of_one_tile() -> None:
    assert search([(6, 6), (3, 2)], {6})[1:] == (1, 12.0, [index(6, 6)])


@pytest.mark.parametrize(("tiles", "ends"), [([], {12}), ([(3, 2), (1, 0)], {12}), ([(3, 2)], set())])
def test_nothing_fits(tiles: list[Tile], ends: set[int]) -> None:
    assert search(tiles, ends) == (0.0, 0, 0.0, [])


def test_the_length_bonus_decides_between_one_heavy_and_many_light_tiles() -> None:
    tiles = [(12, 11), (12, 2), (2, 1)]
    assert search(tiles, {12}, lam=8.0)[3] == [index(12, 2), index(2, 1)]
    assert search(tiles, {12}, lam=0.1)[3] == [index(12, 11)]


def test_of_several_ends_the_better_one_is_taken() -> None:
    tiles = [(9, 8), (8, 7), (4, 3)]
    assert search(tiles, {9, 4})[3] == [index(9, 8), index(8, 7)]
    assert search(tiles, {4})[3] == [index(4, 3)]


@pytest.mark.parametrize(
    ("set_max", "n_tiles", "d", "lam"), [(6, 8, 0.92, 8.0), (4, 9, 0.8, 1.0), (18, 8, 1.0, 8.0)]
)
def test_an_unbounded_search_equals_trying_every_order(
    set_max: int, n_tiles: int, d: float, lam: float
) -> None:
    rng = np.random.default_rng(set_max)
    everything = [(a, b) for a in range(set_max + 1) for b in range(a + 1)]
    values = range(max(0, set_max - 5), set_max + 1)  # few values, so that tiles do join
    everything = [t for t in everything if t[0] in values and t[1] in values]
    for _ in range(60):
        tiles = [everything[k] for k in rng.choice(len(everything), n_tiles, replace=False)]
        ends = {int(e) for e in rng.choice(list(values), 2, replace=False)}
        value, _, _, trail = search(tiles, ends, n_values=set_max + 1, d=d, lam=lam)
        assert value == pytest.approx(max(exhaustive(frozenset(tiles), e, d, lam) for e in ends))
        assert value == pytest.approx(worth(trail, tiles, ends, d, lam))


def test_a_bounded_search_is_nearly_optimal_and_honest_about_what_it_found() -> None:
    rng = np.random.default_rng(5)
    everything = [(a, b) for a in range(13) for b in range(a + 1)][:-1]
    loss = []
    for _ in range(300):
        tiles = [everything[k] for k in rng.choice(len(everything), 15, replace=False)]
        best = search(tiles, {12})[0]
        value, _, _, trail = search(tiles, {12}, nodes=200)
        assert value == pytest.approx(worth(trail, tiles, {12}, DISCOUNT, LENGTH_BONUS))
        assert value <= best + 1e-6
        loss.append(best - value)
    assert np.mean(loss) < 0.2  # of about 150
    assert np.mean(np.array(loss) < 1e-6) > 0.95


def test_huge_hands_stay_within_the_bound() -> None:
    tiles = [(a, b) for a in range(19) for b in range(a + 1)][-45:]
    value, length, _, trail = search(tiles, {18}, n_values=19, nodes=200)
    assert length > 30
    assert value == pytest.approx(worth(trail, tiles, {18}, DISCOUNT, LENGTH_BONUS))
    assert search(tiles, {18}, n_values=19, nodes=1)[1] <= 1


def test_top_bit_of_every_mask() -> None:
    for bit in range(20):
        assert top_bit(1 << bit) == bit
        assert top_bit((1 << bit) | 1) == bit


def test_a_trail_longer_than_the_scratch_space_is_cut_not_overrun() -> None:
    tiles = [(a, b) for a in range(19) for b in range(a + 1)]
    _, length, _, trail = search(tiles, {18}, n_values=19, nodes=300)
    assert length == MAX_TRAIL
    worth(trail, tiles, {18}, DISCOUNT, LENGTH_BONUS)
