"""Turns, markers, limits and ends of rounds beyond the listed edge cases; results worked out by hand.

The double-12 set with engine 12. Tiles named nowhere are out of the game.
"""

from __future__ import annotations

from typing import Any

import pytest

from mexenv.games import Game
from mexenv.rules import Ruleset, preset
from mexenv.rules.tiles import all_tiles
from tests.games.board import Board


def rules(name: str, players: int = 3, **changes: Any) -> Ruleset:
    return preset(name, players=players, **changes)


# --- an empty hand that waits for its double ------------------------------------------------------

ONE_LEFT = ["5-5", "5-3 12-4 9-8", "12-2 2-0"]


def test_waiting_hand_goes_out_when_somebody_covers() -> None:
    board = Board.of(rules("tournament"), ONE_LEFT, {0: "12-5"})
    board.do("5-5@0")
    assert (board.now, board.legal) == ((0, "extra"), {"pass"})
    board.do("pass")
    assert board.game.markers == [True, False, False]
    assert board.now == (1, "cover")
    board.do("5-3@0")
    assert board.last_round["out"] == [0]
    assert board.last_round["scores"] == [0, 16 + 17, 14 + 2]


def test_waiting_hand_that_has_drawn_is_no_longer_out_by_a_cover() -> None:
    board = Board.of(rules("tournament"), ONE_LEFT, {0: "12-5"}, "8-7 6-6")
    board.do("5-5@0", "draw", "pass", "5-3@0")
    assert not board.game.round_history
    assert board.game.hands[0] == {(8, 7)}


def test_waiting_hand_covers_with_the_tile_it_draws() -> None:
    board = Board.of(rules("tournament"), ONE_LEFT, {0: "12-5"}, "5-1")
    board.do("5-5@0", "draw")
    assert board.legal == {"5-1@0"}
    board.do("5-1@0")
    assert board.last_round["out"] == [0]


def test_waiting_hand_takes_its_turns_and_draws() -> None:
    board = Board.of(rules("tournament", 2), ["5-5", "9-8 9-7"], {0: "12-5"}, "8-7 6-6")
    board.do("5-5@0", "draw", "pass", "draw", "pass")
    assert (board.now, board.game.hands[0]) == ((0, "cover"), {(8, 7)})
    board = Board.of(rules("tournament", 2), ["5-5", "9-8 9-7"], {0: "12-5"})
    board.do("5-5@0", "pass", "pass")
    assert (board.now, board.legal) == ((0, "cover"), {"pass"})  # asked with an empty hand
    board.do("pass")
    assert board.last_round["blocked"]
    assert board.last_round["scores"] == [0, 17 + 16]


def test_cover_by_a_last_tile_puts_two_seats_out() -> None:
    board = Board.of(rules("tournament"), ["5-5", "5-3", "12-2"], {0: "12-5"})
    board.do("5-5@0", "pass", "5-3@0")
    assert board.last_round["out"] == [0, 1]
    assert board.last_round["scores"] == [0, 0, 14]


def test_chain_that_ends_the_hand_with_a_double_waits_too() -> None:
    ruleset = rules("pagat", out_on_double=False)
    board = Board.of(ruleset, ["12-5 5-5", "12-7 5-4 1-0", "12-9 6-1"], {}, opening=True)
    board.do("12-5@0", "5-5@0", "12-7@1", "pass", "12-9@2", "pass")
    assert (board.now, board.legal) == ((0, "cover"), {"pass"})
    board.do("pass", "5-4@0")
    assert board.last_round["out"] == [0]


def test_only_a_cover_of_the_last_double_puts_its_seat_out() -> None:
    board = Board.of(
        rules("dominos_cc", out_on_double=False), ["5-5 9-9", "5-1", "9-1"], {0: "12-5", "M": "12-9"}
    )
    board.do("5-5@0", "9-9@M", "pass")
    assert board.game.waiting == [(5, 0), (9, 3)]
    board.do("5-1@0")  # 9-9 was the last tile: covering 5-5 is not enough, but seat 1 is out
    assert board.last_round["out"] == [1]


# --- limits on doubles ----------------------------------------------------------------------------


def test_parsons_drawn_first_double_allows_another_draw() -> None:
    board = Board.of(rules("parsons"), ["4-3 2-1", "12-3", "12-1"], {0: "12-5"}, "5-5 5-2")
    board.do("draw", "5-5@0")
    assert board.legal == {"draw"}
    board.do("draw")
    assert board.legal == {"5-2@0"}


def test_parsons_second_double_drawn_as_the_extra_is_not_playable() -> None:
    board = Board.of(rules("parsons"), ["5-5 4-3 8-2", "12-3", "12-1"], {0: "12-5", "M": "12-9"}, "9-9 5-2")
    board.do("5-5@0", "draw")
    assert board.legal == {"pass"}  # 9-9 fits the Mexican Train


def test_parsons_second_double_may_be_the_last_tile() -> None:
    board = Board.of(rules("parsons"), ["5-5 9-9", "12-3", "12-1"], {0: "12-5", "M": "12-9"}, "5-2")
    board.do("5-5@0")
    assert board.legal == {"9-9@M"}


def test_parsons_third_tile_is_no_double_unless_it_is_the_last() -> None:
    # 9-9 needs a third tile: 9-2. The third may not be 7-7 on the marked train, nor 9-2 elsewhere.
    board = Board.of(
        rules("parsons"), ["5-5 9-9 9-2 7-7", "12-3", "12-1"], {0: "12-5", "M": "12-9", 1: "12-7"},
        markers=[False, True, False],
    )  # fmt: skip
    board.do("5-5@0", "9-9@M")
    assert (board.now, board.legal) == ((0, "third"), {"9-2@M"})
    board.do("9-2@M")
    assert (board.now, board.game.waiting) == ((1, "cover"), [(5, 0)])


def test_one_double_a_turn_unless_it_is_the_last_tile() -> None:
    trains: dict[int | str, str] = {0: "12-5", "M": "12-9"}
    board = Board.of(rules("parsons_one_double"), ["5-5 9-9 9-2", "12-3", "12-1"], trains)
    board.do("5-5@0")
    assert board.legal == {"9-2@M"}
    board = Board.of(rules("parsons_one_double"), ["5-5 9-9", "12-3", "12-1"], trains)
    board.do("5-5@0")
    assert board.legal == {"9-9@M"}


def test_extra_on_the_double_only() -> None:
    board = Board.of(
        rules("parsons_answer"), ["5-5 9-9 9-2 5-1", "12-3", "12-1"], {0: "12-5", "M": "12-9"}, "9-4"
    )
    board.do("5-5@0")
    assert board.legal == {"5-1@0"}


# --- draws and markers ----------------------------------------------------------------------------


@pytest.mark.parametrize(("draws", "taken"), [(1, 1), (2, 2), ("until_playable", 3)])
def test_draws_per_need(draws: Any, taken: int) -> None:
    board = Board.of(rules("parsons", draws=draws), ["4-3", "12-3", "12-1"], {0: "12-5"}, "9-8 9-7 5-2 5-1")
    for _ in range(taken):
        assert board.legal == {"draw"}
        board.do("draw")
    assert board.legal == ({"5-2@0"} if taken == 3 else {"pass"})
    assert len(board.game.boneyard) == 4 - taken


def test_draw_until_the_boneyard_is_empty() -> None:
    board = Board.of(
        rules("parsons", draws="until_playable"), ["4-3", "12-3", "12-1"], {0: "12-5"}, "9-8 9-7"
    )
    board.do("draw", "draw")
    assert board.legal == {"pass"}


def test_a_drawn_tile_that_does_not_fit_shuts_out_the_hand() -> None:
    board = Board.of(rules("pagat"), ["4-3", "12-3", "12-1"], {0: "12-5"}, "5-2")
    board.do("draw")
    assert board.game.drawn == (5, 2)
    board.do("pass")  # allowed, and marked
    assert board.game.markers == [True, False, False]
    assert board.game.drawn is None


@pytest.mark.parametrize(("hand", "marker"), [("9-4 5-3", False), ("9-4 8-3", True)])
def test_own_unplayable_marks_a_turn_spent_elsewhere(hand: str, marker: bool) -> None:
    board = Board.of(rules("highest_double"), [hand, "12-3", "12-1"], {0: "12-5", "M": "12-9"})
    board.do("9-4@M")
    assert board.game.markers == [marker, False, False]


def test_own_unplayable_counts_the_drawn_tile() -> None:
    board = Board.of(rules("highest_double"), ["8-3", "12-3", "12-1"], {0: "12-5", "M": "12-9"}, "9-5")
    board.do("draw", "9-5@M")  # 9-5 would have fitted the own train
    assert board.game.markers == [False, False, False]


def test_highest_double_has_no_duty_to_cover() -> None:
    board = Board.of(rules("highest_double"), ["1-0 2-0", "12-3 5-1", "12-1"], {0: "12-5 5-5"}, to_move=1)
    assert board.now == (1, "play")
    assert board.legal == {"12-3@1", "12-3@M"}


@pytest.mark.parametrize(("name", "marker"), [("pagat", False), ("parsons", True)])
def test_any_play_takes_the_marker_down_or_only_one_on_the_own_train(name: str, marker: bool) -> None:
    board = Board.of(
        rules(name), ["9-4 1-0", "12-3", "12-1"], {0: "12-5", "M": "12-9"}, markers=[True, False, False]
    )
    board.do("9-4@M")
    assert board.game.markers[0] is marker


def test_a_foreign_cover_leaves_the_owners_marker_alone() -> None:
    board = Board.of(
        rules("parsons"),
        ["1-0", "12-3 5-1", "12-1"],
        {0: "12-5 5-5"},
        to_move=1,
        markers=[True, False, False],
    )
    board.do("5-1@0")
    assert board.game.markers == [True, False, False]


# --- where a player may play ----------------------------------------------------------------------


def test_own_first_keeps_a_player_at_home_covers_included() -> None:
    ruleset = rules("parsons", own_first=True)
    board = Board.of(ruleset, ["12-5 9-4", "12-3", "12-1"], {"M": "12-9"})
    assert board.legal == {"12-5@0"}
    board = Board.of(ruleset, ["12-5 9-4", "12-3", "12-1"], {"M": "12-9 9-9"}, "9-8")
    assert (board.now, board.legal) == ((0, "cover"), {"draw"})
    board.do("draw")
    assert board.legal == {"pass"}


@pytest.mark.parametrize(
    ("when", "trains", "allowed"),
    [
        ("after_own", {}, False),
        ("after_own", {0: "12-11"}, True),
        ("after_all", {0: "12-11", 1: "12-10"}, False),
        ("after_all", {0: "12-11", 1: "12-10", 2: "12-9"}, True),
        ("never", {0: "12-11", 1: "12-10", 2: "12-9"}, False),
        ("anytime", {}, True),
        ("after_opening", {}, True),
    ],
)
def test_when_the_mexican_train_may_be_started(
    when: str, trains: dict[int | str, str], allowed: bool
) -> None:
    board = Board.of(rules("parsons", mexican_train=when), ["12-5 1-0", "12-3", "12-1"], trains)
    assert ("12-5@M" in board.legal) is allowed


def test_cover_order_newest_first() -> None:
    for name, force in (("pagat", (5, 0)), ("pagat_lifo", (9, 3))):
        board = Board.of(
            rules(name), ["5-5 9-9 1-0 2-0", "5-1 9-1", "12-1"], {0: "12-5", "M": "12-9"}, "11-10"
        )
        board.do("5-5@0", "9-9@M", "draw", "pass")
        assert board.game.in_force == [force]
        board.do(f"{force[0]}-1@{'M' if force[1] == 3 else 0}")
        assert board.game.in_force == [(9, 3) if force[0] == 5 else (5, 0)]


def test_cover_order_any() -> None:
    board = Board.of(
        rules("pagat", cover_order="any"),
        ["1-0", "5-1 9-1", "12-1"],
        {0: "12-5 5-5", "M": "12-9 9-9"},
        to_move=1,
    )
    assert board.legal == {"5-1@0", "9-1@M"}


def test_no_duty_leaves_doubles_open() -> None:
    board = Board.of(rules("pagat_no_duty"), ["1-0", "5-1 12-2", "12-1"], {0: "12-5 5-5"}, to_move=1)
    assert (board.now, board.legal) == ((1, "play"), {"12-2@1", "12-2@M"})


# --- blocked rounds -------------------------------------------------------------------------------

STUCK = ["5-4", "6-3", "11-9"]


def test_row_of_passes_blocks_at_once_stalled_only_without_new_markers() -> None:
    board = Board.of(rules("dominos_cc"), STUCK).do("pass", "pass", "pass")
    assert board.last_round["blocked"]
    board = Board.of(rules("parsons"), STUCK).do("pass", "pass", "pass")
    assert not board.game.round_history  # the third marker was new and starts the count anew
    board.do("pass", "pass")
    assert board.last_round["blocked"]
    assert board.last_round["scores"] == [9, 9, 20]


def test_passes_before_the_last_draw_count() -> None:
    board = Board.of(rules("dominos_cc"), STUCK, {}, "8-7", passed=[1, 2])
    board.do("draw", "pass")
    assert board.last_round["blocked"]
    board = Board.of(rules("dominos_cc"), STUCK, {}, "8-7 8-6", passed=[1, 2])
    board.do("draw", "pass")
    assert not board.game.round_history  # one tile is left to draw
    board.do("draw", "pass")
    assert board.last_round["blocked"]  # all have passed since the last play, and now it is empty


def test_a_play_starts_the_count_anew() -> None:
    board = Board.of(rules("dominos_cc"), ["5-4", "12-3 7-1", "11-9"], {}, passed=[0, 2], to_move=1)
    board.do("12-3@1", "pass", "pass")
    assert not board.game.round_history
    board.do("pass")
    assert board.last_round["blocked"]


def test_a_failed_extra_is_a_pass() -> None:
    board = Board.of(rules("dominos_cc", 2), ["5-5 1-0", "11-9"], {0: "12-5"})
    board.do("5-5@0", "pass", "pass")
    assert board.last_round["blocked"]


# --- points and starters --------------------------------------------------------------------------


@pytest.mark.parametrize(("points", "booked"), [(0, 0), (25, 25), (50, 50)])
def test_the_price_of_the_double_blank(points: int, booked: int) -> None:
    board = Board.of(rules("parsons", double_blank=points), ["12-5", "0-0", "7-7"], {})
    assert board.do("12-5@0").last_round["scores"] == [0, booked, 14]


def test_starters() -> None:
    tiles = [t for t in all_tiles(12) if t != (12, 12)]
    game = Game(rules("parsons", 4), seed=0, deals=[tiles], first_starter=2)
    assert (game.starter, game.to_move) == (2, 2)
    held_by_1 = [*tiles[:20], (12, 12), *tiles[20:]]
    assert Game(rules("pagat", 4), seed=0, deals=[held_by_1]).starter == 1
    assert Game(rules("wikipedia_slow", 4), seed=0, deals=[held_by_1]).starter == 2
    assert Game(rules("pagat", 4, starter="rotate"), seed=0, deals=[held_by_1], first_starter=3).starter == 3


def test_rotating_starter_moves_on_clockwise() -> None:
    game = Game(rules("parsons", 3, set_max=3, hand_size=2), seed=5, first_starter=2)
    while not game.over:
        game.step(game.legal_actions()[0])
    assert [entry["starter"] for entry in game.round_history] == [2, 0, 1, 2]
    assert [entry["engine"] for entry in game.round_history] == [3, 2, 1, 0]
