"""Observations of every seat at every step against a plain reference, and what they must not tell."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mexenv.engine import state as st
from mexenv.engine.deal import give
from mexenv.games import BatchGame, Game
from mexenv.observation import ObservationLayout, make_layout
from mexenv.rules import PRESETS, Ruleset, RulesetError, preset
from mexenv.rules.tiles import Tile, tile_index, tile_of
from tests.differential import random_ruleset
from tests.games.board import Board
from tests.observation import reference

SIZES: dict[str, dict[str, Any]] = {
    name: {"set_max": 6, "players": 4 if "partners" in name else 3, "hand_size": 5, "rounds": 2}
    for name in PRESETS
}
OTHERS = [
    preset("parsons", players=2),
    preset("wikipedia", players=5, set_max=9, hand_size=8, rounds=1),
    preset("pagat", players=8, rounds=1),
    preset("wikipedia_partners", players=6, rounds=1),
    preset("parsons_chickenfoot", players=9, set_max=15, rounds=1),
    preset("dominos_cc", players=18, set_max=18, hand_size=4, rounds=1),
    preset("wikipedia", players=2, set_max=18, hand_size=40, rounds=1),
]
RULESETS = [preset(name, **size) for name, size in SIZES.items()] + OTHERS


def random_rules(seed: int) -> Ruleset:
    return random_ruleset(random.Random(f"observation/{seed}"))


def label(ruleset: Ruleset) -> str:
    return f"{ruleset.name}-{ruleset.players}-{ruleset.set_max}"


def walk(ruleset: Ruleset, seed: int, steps: int = 400) -> Any:
    """(game, seats whose pass counts) at every step of a match with random, mostly playing, seats."""
    rng = random.Random(seed)
    game = Game(ruleset, seed=seed)
    count = reference.PassCount(ruleset.block == "stalled")
    eager = rng.random()
    for _ in range(steps):
        yield game, count.passed
        if game.over:
            break
        plays = [a for a in game.legal_actions() if a < game.actions.draw]
        count.follow(game.step(rng.choice(plays if plays and rng.random() < eager else game.legal_actions())))


def check_base(
    game: Game, view: Any, seat: int, passed: set[int], layout: ObservationLayout
) -> npt.NDArray[np.int8]:
    seen = game.observe(seat, layout, np.int8)
    for name, wanted in reference.base(view, seat, passed).items():
        got = reference.as_rows(layout[name].of(seen))
        assert got == wanted, f"{name} of seat {seat} in stage {game.stage}, {game.to_move} to move"
    return seen


@pytest.mark.parametrize("ruleset", RULESETS, ids=label)
def test_base_as_the_reference_says(ruleset: Ruleset) -> None:
    layout = make_layout("base", ruleset)
    covered = set(reference.base(reference.look(Game(ruleset, seed=0)), 0, set())) | {"lacks"}
    assert covered == set(layout.sections)
    steps = 400 if ruleset.set_max <= 6 else 240 // ruleset.players
    for game, passed in walk(ruleset, 1, steps):
        view = reference.look(game)
        for seat in range(game.players):
            seen = check_base(game, view, seat, passed, layout)
            assert (seen >= layout.low).all() and (seen <= layout.high).all()
            assert np.array_equal(game.observe(seat, layout), layout.to_float(seen))
            assert np.array_equal(layout.to_int8(layout.to_float(seen)), seen)
            if seat != game.to_move:
                assert not game.action_mask(seat).any()


@pytest.mark.parametrize("seed", range(24))
def test_base_of_random_rules_as_the_reference_says(seed: int) -> None:
    ruleset = random_rules(seed)
    layout = make_layout("base", ruleset)
    for game, passed in walk(ruleset, seed, 60):
        view = reference.look(game)
        for seat in range(game.players):
            check_base(game, view, seat, passed, layout)


def test_a_game_that_is_over_asks_nobody() -> None:
    ruleset = preset("parsons", set_max=3, players=2, hand_size=2, rounds=1)
    *_, (game, passed) = walk(ruleset, 1)
    assert game.over
    for seat in range(2):
        check_base(game, reference.look(game), seat, passed, make_layout("base", ruleset))


# --- plan -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["parsons", "wikipedia", "parsons_wild", "pagat"])
def test_plan_as_the_reference_says(name: str) -> None:
    ruleset = preset(name, **SIZES["parsons"])
    layout, base = make_layout("plan", ruleset), make_layout("base", ruleset)
    looked = 0
    for game, _ in walk(ruleset, 3):
        for seat in range(game.players):
            seen = game.observe(seat, layout, np.int8)
            assert np.array_equal(seen[: base.size], game.observe(seat, base, np.int8))
            assert (seen >= layout.low).all() and (seen <= layout.high).all()
            if len(game.hands[seat]) <= 7:
                check_plan(game, seat, {s.name: s.of(seen).astype(int) for s in layout})
                looked += 1
    assert looked > 50


def check_plan(game: Game, seat: int, plan: dict[str, Any]) -> None:
    hand, ends = frozenset(game.hands[seat]), tuple(set(game.ends[seat]))
    value, starts = reference.trail_values(hand, ends)
    pips, length, plain = plan["trail"]
    near = pytest.approx
    assert reference.worth(length, pips) == near(value, abs=0.51)
    # The places describe a real trail of that length and worth.
    trail = [tile_of(int(np.flatnonzero(plan["trail_place"] == k + 1)[0])) for k in range(length)]
    assert np.count_nonzero(plan["trail_place"]) == length
    assert sum(map(sum, trail)) // 2 == plain
    assert sum(sum(t) * 0.92**i for i, t in enumerate(trail)) == near(pips, abs=0.51)
    assert set(trail) <= hand
    walkers = set(ends)
    for tile in trail:
        walkers = {sum(tile) - end for end in walkers if end in tile}
        assert walkers, f"{tile} does not join in {trail}"
    for tile in (tile_of(k) for k in range(game.ruleset.n_tiles)):
        k = tile_index(*tile)
        own, rest = ((plan[f"trail_{x}_len"][k], plan[f"trail_{x}_pips"][k]) for x in ("own", "else"))
        assert reference.worth(*own) == near(starts.get(tile, 0.0), abs=0.51)
        without = reference.trail_values(hand - {tile}, ends)[0] if tile in hand else 0.0
        assert reference.worth(*rest) == near(without, abs=0.51)


# --- what may be known ----------------------------------------------------------------------------


def true_lacks(games: npt.NDArray[Any], players: int, values: int) -> npt.NDArray[np.int64]:
    """[games, seats, values]: tiles in the hand that really do not have the value."""
    held = np.bitwise_count(games["hand"][:, :players, :values]).astype(np.int64)
    return games["hand_n"][:, :players, None].astype(np.int64) - held


def check_lacks(ruleset: Ruleset, n: int, steps: int) -> int:
    """Play games at random and compare what is claimed with the true hands; returns the sum of claims."""
    batch = BatchGame(ruleset, n, seed=1, layout=None, engine="random")
    layout = make_layout("base", ruleset)
    p = ruleset.players
    rng = np.random.default_rng(1)
    claims = 0
    for _ in range(steps):
        truth = true_lacks(batch.games, p, ruleset.n_values)
        for seat in range(p):
            seen = batch.observe(layout, seats=np.full(n, seat))
            lacks = layout["lacks"].of(seen)
            for k in range(1, p):
                excess = lacks[:, k - 1] > truth[:, (seat + k) % p]
                assert not excess.any(), (
                    f"{ruleset}: claims too much in game {np.flatnonzero(excess.any(axis=1))}"
                )
                assert (lacks[:, k - 1] >= 0).all()
            claims += int(lacks.sum())
        weights = rng.random(batch.masks.shape) * batch.masks
        batch.step(weights.argmax(axis=1))
    return claims


@pytest.mark.parametrize("name", PRESETS)
def test_lacks_never_claims_too_much(name: str) -> None:
    claims = check_lacks(preset(name, **SIZES[name]), 60, 80)
    assert bool(claims) is preset(name).must_play


@pytest.mark.parametrize("chunk", range(8))
def test_lacks_never_claims_too_much_under_random_rules(chunk: int) -> None:
    for seed in range(chunk, 120, 8):
        check_lacks(random_rules(seed), 40, 60)


def lacks(board: Board, seat: int, other: int) -> list[int]:
    layout = make_layout("base", board.game.ruleset)
    rows = layout["lacks"].of(board.game.observe(seat, layout, np.int8))
    shown: list[int] = rows[(other - seat) % board.game.players - 1].tolist()
    return shown


def test_what_a_draw_and_a_pass_prove() -> None:
    board = Board.of(
        preset("parsons", players=2),
        ["4-3 5-4 6-4", "12-8 12-7 7-2"],
        {0: "12-9", "M": "12-8"[:3] + "10"},
        "3-2 10-9",
    )
    # Seat 0 may play on 9 and 10 only: drawing tells that its three tiles have neither.
    board.do("draw")
    assert lacks(board, 1, 0) == [3 if v in (9, 10) else 0 for v in range(13)]
    board.do("pass")  # nor has the drawn tile
    assert lacks(board, 1, 0) == [4 if v in (9, 10) else 0 for v in range(13)]
    board.do("12-8@1", "draw")  # 10-9: the new tile only may have them
    assert lacks(board, 1, 0) == [4 if v in (9, 10) else 0 for v in range(13)]
    board.do("10-9@0")
    assert lacks(board, 1, 0) == [4 if v in (9, 10) else 0 for v in range(13)]
    assert lacks(board, 0, 1) == [0] * 13


def test_what_an_empty_chain_proves() -> None:
    hands = ["5-4 4-3 6-4", "12-8 12-7 7-2"]
    board = Board.of(preset("pagat", players=2), hands, {}, opening=True)
    board.do("pass")
    assert lacks(board, 1, 0) == [3 if v == 12 else 0 for v in range(13)]
    hidden = Board.of(
        preset("wikipedia", players=2, must_play=True, opening_must_start=True), hands, {}, opening=True
    )
    hidden.do("pass")
    assert lacks(hidden, 1, 0) == [0] * 13  # not before all chains are shown
    hidden.do("12-8@1", "pass")
    assert lacks(hidden, 1, 0) == [3 if v == 12 else 0 for v in range(13)]


def test_a_tile_that_was_proven_away_came_from_a_later_draw() -> None:
    board = Board.of(preset("pagat", players=2), ["4-3 5-4", "12-8 7-2 7-1"], {0: "12-9"}, "9-2 1-1 0-0")
    board.do("draw", "pass")  # 9-2 is kept: one of three tiles may have a 9
    assert lacks(board, 1, 0)[9] == 2
    board.do("12-8@1", "9-2@0")
    assert lacks(board, 1, 0)[9] == 2  # it was that one


def test_a_double_that_was_held_back_proves_nothing() -> None:
    # 9-9 may not be the second double, so its holder has to draw; a 9 is not proven to be missing.
    board = Board.of(
        preset("parsons_one_double", players=2),
        ["5-5 9-9 4-3", "12-7 7-2"],
        {0: "12-5", "M": "12-9"},
        "1-1 0-0",
    )
    board.do("5-5@0")
    assert board.legal == {"draw"}
    board.do("draw")
    assert lacks(board, 1, 0)[9] == 0
    assert lacks(board, 1, 0)[5] == 2  # 5-5 lies on the table


def test_hands_beyond_the_range_of_a_byte_are_clipped() -> None:
    ruleset = preset("parsons", players=2, set_max=18, hand_size=2, draws="until_playable")
    fives = [(max(5, v), min(5, v)) for v in range(19) if v not in (5, 18)]
    position = {"hands": [[(1, 0)], fives], "trains": [[(18, 5), (5, 5)], [], []]}
    game = Game.from_position(ruleset, position)
    while game.to_move == 0 and game.stage == "cover" and game.boneyard:
        game.step(game.actions.draw)
    assert len(game.hands[0]) == 190 - 3 - len(fives)  # it drew all there was
    layout = make_layout("plan", ruleset)
    for seat in range(2):
        seen = game.observe(seat, layout, np.int8)
        assert (seen >= layout.low).all() and (seen <= layout.high).all()
        sizes = layout["hand_size"].of(seen).tolist()
        assert sizes == ([127, len(fives)] if seat == 0 else [len(fives), 127])
    claims = layout["lacks"].of(seen)[0]
    assert claims[5] == 127  # of 171 tiles; one may have been drawn since the proof
    assert layout["pips"].of(seen).tolist() == [min(127, sum(map(sum, fives)) // 2)]


def swapped(game: Game, seat: int, rng: random.Random) -> st.StateArray:
    """The record with all tiles that `seat` cannot see dealt anew among their places."""
    record = game._games.copy()
    g = record[0]
    tiles = [t for s, hand in enumerate(game.hands) if s != seat for t in hand] + game.boneyard
    sizes = [len(hand) for hand in game.hands]
    if game.ruleset.opening == "chain_hidden" and game.stage == "opening":
        for s in range(game.players):
            if s != seat:
                sizes[s] += unlay(g, game, s, tiles)
    rng.shuffle(tiles)
    for s, size in enumerate(sizes):
        if s != seat:
            hand, tiles = tiles[:size], tiles[size:]
            for name in ("hand", "hand_n", "held", "points"):
                g[name][s] = 0
            for hi, lo in hand:
                give(g, s, hi, lo)
            if s == game.to_move:
                g["own_fits"] ^= 1
                if g["drawn"]:
                    g["drawn"] = tile_index(*rng.choice(hand)) + 1
    g["pile"][g["pile_next"] : g["pile_end"]] = [tile_index(*t) for t in tiles]
    g["pile"][: g["pile_next"]] = 0
    g["rng"] = rng.getrandbits(64)
    return record


def unlay(g: Any, game: Game, seat: int, tiles: list[Tile]) -> int:
    """Take a seat's chain off the table again; returns its length."""
    chain = [(max(t), min(t)) for t in game.trains[seat]]
    tiles += chain
    laid = [t for t in g["order"][: g["n_laid"]].tolist() if tile_of(t) not in chain]
    g["order"] = 0
    g["order"][: len(laid)] = laid
    g["n_laid"] = len(laid)
    for hi, lo in chain:
        g["where"][tile_index(hi, lo)] = 0
        for v in {hi, lo}:
            g["laid"][v] -= 1
    g["length"][seat] = 0
    g["end_mask"][seat] = 1 << game.engine
    g["end_n"][seat] = 0
    g["end_n"][seat, game.engine] = 1
    g["marker"] &= ~(1 << seat)
    kept = [q for q, (_, train) in enumerate(game.waiting) if train != seat and q < g["q_n"]]
    for name in ("q_value", "q_train", "q_covers", "q_fresh"):
        g[name][: len(kept)] = g[name][kept]
    g["q_n"] = len(kept)
    if seat == game.to_move:
        g["turn_plays"] = 0
        g["chain_end"] = game.engine
    return len(chain)


def check_secrets(ruleset: Ruleset, seed: int, steps: int) -> None:
    pair = BatchGame(ruleset, 2, layout=None)
    layout = make_layout("plan", ruleset)
    rng = random.Random(seed)
    for game, _ in walk(ruleset, seed, steps):
        if game.over:
            break
        for seat in range(game.players):
            pair.games[:1] = game._games
            pair.games[1:] = swapped(game, seat, rng)
            seen = pair.observe(layout, seats=np.array([seat, seat]))
            told = [s.name for s in layout if not np.array_equal(s.of(seen[0]), s.of(seen[1]))]
            assert not told, f"{told} of seat {seat} depends on hidden tiles, {game.to_move} to move"
            if seat == game.to_move:
                pair.refresh()
                assert np.array_equal(pair.masks[0], pair.masks[1])


@pytest.mark.parametrize("ruleset", RULESETS, ids=label)
def test_hidden_tiles_do_not_show(ruleset: Ruleset) -> None:
    check_secrets(ruleset, 2, 120 if ruleset.set_max <= 6 else 25)


@pytest.mark.parametrize("seed", range(24))
def test_hidden_tiles_do_not_show_under_random_rules(seed: int) -> None:
    check_secrets(random_rules(seed), seed, 60)


@pytest.mark.parametrize("mexican_train", ["anytime", "after_own", "after_all"])
@pytest.mark.parametrize("partners", [False, True])
def test_hidden_chains_do_not_show(mexican_train: str, partners: bool) -> None:
    try:
        ruleset = preset("wikipedia", partners=partners, mexican_train=mexican_train, opening_must_start=True)
    except RulesetError:
        pytest.skip("not a ruleset")
    for seed in range(4):
        check_secrets(ruleset, seed, 40)
