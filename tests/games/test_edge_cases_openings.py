"""Openings in which nobody sees the others, and chains that are laid whenever a train begins.

The double-12 set with engine 12 unless a test says otherwise; all results worked out by hand. Tiles named
nowhere are out of the game.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mexenv.games import Game
from mexenv.observation import make_layout
from mexenv.rules import Ruleset, all_tiles, preset
from tests.games.board import Board, tiles

DOWN = [False, False, False]


def rules(name: str, players: int = 3, **changes: Any) -> Ruleset:
    return preset(name, players=players, **changes)


def pile(ruleset: Ruleset, front: str, engine: int | None = None) -> list[tuple[int, int]]:
    """A whole pile that begins with given tiles; an engine set aside is left out."""
    first = tiles(front)
    gone = {*first, (engine, engine)} if engine is not None else {*first}
    return [*first, *(tile for tile in all_tiles(ruleset.set_max) if tile not in gone)]


# --- openings -------------------------------------------------------------------------------------


def seen(board: Board, seat: int) -> Any:
    return board.game.observe(seat=seat, layout="plan", dtype=np.int8)


HIDDEN_HANDS = ["12-5 5-3 3-3", "12-7 8-4 5-0", "12-9 6-1 3-1"]


@pytest.mark.parametrize("name", ["wikipedia", "wikipedia_partners", "wikipedia_swan_drive"])
def test_hidden_opening_shows_nothing_of_other_chains(name: str) -> None:
    players = 4 if name == "wikipedia_partners" else 3
    hands = HIDDEN_HANDS if players == 3 else [*HIDDEN_HANDS, "12-2 2-0 1-0"]
    chains = [["pass"], ["12-5@0", "pass"], ["12-5@0", "5-3@0", "pass"], ["12-5@0", "5-3@0", "3-3@0"]]
    boards = [Board.of(rules(name, players), hands, {}, "11-10", opening=True).do(*chain) for chain in chains]
    assert {board.now for board in boards} == {(1, "opening")}
    for seat in range(1, players):
        for board in boards[1:]:
            assert (seen(board, seat) == seen(boards[0], seat)).all(), f"seat {seat}"
    own = [seen(board, 0).tolist() for board in boards]
    assert len({tuple(row) for row in own}) == len(chains)  # its own chain everybody knows
    for board in boards[:3]:
        board.do(*["pass"] * (players - 1))
    for seat in range(1, players):
        assert len({tuple(seen(board, seat).tolist()) for board in boards[:3]}) == 3


def test_hidden_opening_a_marker_for_laying_nothing_is_not_seen_either() -> None:
    ruleset = rules("wikipedia", opening_must_start=True)
    able = Board.of(ruleset, ["12-5 4-3", "12-7 8-4", "12-9 6-1"], {}, "11-10", opening=True)
    unable = Board.of(ruleset, ["11-10 4-3", "12-7 8-4", "12-9 6-1"], {}, "12-5", opening=True)
    able.do("12-5@0", "pass")
    unable.do("pass")
    for seat in (1, 2):
        assert (seen(able, seat) == seen(unable, seat)).all()
    for board in (able, unable):
        board.do("12-7@1", "pass", "12-9@2", "pass")
    assert able.game.markers == DOWN
    assert unable.game.markers == [True, False, False]
    layout = make_layout("base", ruleset)
    assert layout["marker"].of(unable.game.observe(seat=1, layout=layout, dtype=np.int8)).tolist() == [
        0,
        0,
        1,
    ]


def test_open_chains_are_seen_at_once() -> None:
    ruleset = rules("pagat", opening_must_start=False)
    laid, none = (
        Board.of(ruleset, HIDDEN_HANDS, {}, "11-10", opening=True).do(*chain)
        for chain in (["12-5@0", "pass"], ["pass"])
    )
    assert (seen(laid, 1) != seen(none, 1)).any()


def test_17_doubles_of_hidden_chains_come_in_force_in_the_order_of_the_seats() -> None:
    hands = ["12-5 5-5 1-0 8-3", "12-7 8-4 2-0", "12-9 9-9 6-1"]
    board = Board.of(rules("wikipedia"), hands, {}, "11-10", opening=True, to_move=1, starter=1)
    board.do("12-7@1", "pass", "12-9@2", "9-9@2", "pass", "12-5@0", "5-5@0", "pass")
    assert board.game.waiting == [(9, 2), (5, 0)]
    assert (board.now, board.game.in_force) == ((1, "cover"), [(9, 2)])


def test_opening_has_no_draw() -> None:
    board = Board.of(rules("wikipedia"), ["11-5 5-3", "12-7 8-4", "12-9 6-1"], {}, "11-10", opening=True)
    assert board.legal == {"pass"}


def test_slow_variation_begins_left_of_the_holder_with_single_tiles() -> None:
    ruleset = preset("wikipedia_slow", set_max=6, players=3, hand_size=3)
    game = Game(ruleset, seed=0, deals=[pile(ruleset, "1-0 2-0 3-0 6-6 6-1 1-1 6-5 6-4 5-4")])
    board = Board(game)
    assert (board.now, game.starter, game.engine) == ((2, "play"), 2, 6)  # seat 1 held the engine
    assert board.legal == {"6-5@2", "6-4@2", "draw"}
    board.do("6-5@2")
    assert board.now == (0, "play")


def test_private_trains_variation_has_no_mexican_train() -> None:
    board = Board.of(
        rules("wikipedia_private_trains"), ["12-8 4-3", "12-9 2-0", "12-1 2-1"], {0: "12-5", 1: "12-4"},
        markers=[False, True, False],
    )  # fmt: skip
    assert board.legal == {"4-3@1", "pass"}


# --- delayed chains -------------------------------------------------------------------------------

DELAYED = rules("wikipedia_delayed")


def test_delayed_a_player_that_cannot_start_keeps_its_right() -> None:
    board = Board.of(DELAYED, ["7-3 4-3", "11-2 8-4", "10-1 6-1"], {1: "12-11", 2: "12-10"}, "9-8 12-3 6-5")
    assert board.legal == {"draw"}
    board.do("draw", "pass")
    assert board.game.markers == [True, False, False]
    board.do("11-2@1", "10-1@2", "draw")
    assert board.legal == {"12-3@0", "pass"}
    board.do("12-3@0")
    assert board.game.markers == DOWN
    assert (board.now, board.legal) == ((0, "chain"), {"7-3@0", "4-3@0", "pass"})


def test_delayed_a_turn_elsewhere_is_an_ordinary_one_and_keeps_the_right() -> None:
    board = Board.of(
        DELAYED, ["7-3 12-4 4-0", "11-7 8-5", "12-2 6-1"], {1: "12-7", 2: "12-10"},
        markers=[False, True, False],
    )  # fmt: skip
    assert board.legal == {"7-3@1", "12-4@0", "pass"}
    board.do("7-3@1")
    assert board.now == (1, "play")  # one tile, no chain on a foreign train
    board.do("pass", "pass", "12-4@0")
    assert (board.now, board.legal) == ((0, "chain"), {"4-0@0", "pass"})


def test_delayed_chain_goes_on_from_its_last_tile_and_may_stop_after_any() -> None:
    board = Board.of(DELAYED, ["12-4 4-4 4-1 12-3 9-0", "8-5 7-1", "6-1 3-2"], {1: "12-7", 2: "12-10"})
    board.do("12-4@0")
    assert board.legal == {"4-4@0", "4-1@0", "pass"}
    board.do("4-4@0", "4-1@0")  # a double inside owes nothing
    assert (board.now, board.legal) == ((0, "chain"), {"pass"})  # asked though nothing fits
    board.do("pass")
    assert (board.now, board.game.waiting) == ((1, "play"), [])
    assert board.game.markers == DOWN


def test_delayed_chain_is_laid_once() -> None:
    board = Board.of(DELAYED, ["12-4 4-1 1-0 9-0", "11-2 2-1", "10-3 3-2"], {1: "12-11", 2: "12-10"})
    board.do("12-4@0", "pass", "11-2@1", "10-3@2", "4-1@0")
    assert board.now == (1, "play")


def test_delayed_trailing_double_of_the_last_tile_and_out_on_double() -> None:
    ruleset = rules("wikipedia_delayed", out_on_double=False)
    board = Board.of(ruleset, ["12-4 4-4", "4-3 8-5", "6-1 3-2"], {1: "12-7", 2: "12-10"})
    board.do("12-4@0", "4-4@0")
    assert (board.now, board.game.in_force) == ((1, "cover"), [(4, 0)])  # the chain stops by itself
    board.do("4-3@0")
    assert board.last_round["out"] == [0]
