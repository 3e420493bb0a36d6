"""What the named variations change: doubles and covers, branches, wild blanks, ties.

The double-12 set with engine 12 unless a test says otherwise; all results worked out by hand. Tiles named
nowhere are out of the game.
`test_edge_cases_wikipedia.py` has the plain cases of the same rules.
"""

from __future__ import annotations

from typing import Any

import pytest

from mexenv.games import Game
from mexenv.rules import Ruleset, RulesetError, all_tiles, preset
from tests.games.board import Board, tiles

EACH = pytest.mark.parametrize("name", ["wikipedia", "wikipedia_no_branching"])
DOWN = [False, False, False]


def rules(name: str, players: int = 3, **changes: Any) -> Ruleset:
    return preset(name, players=players, **changes)


def pile(ruleset: Ruleset, front: str, engine: int | None = None) -> list[tuple[int, int]]:
    """A whole pile that begins with given tiles; an engine set aside is left out."""
    first = tiles(front)
    gone = {*first, (engine, engine)} if engine is not None else {*first}
    return [*first, *(tile for tile in all_tiles(ruleset.set_max) if tile not in gone)]


# --- doubles, covers and blocks under `wikipedia` -------------------------------------------------


@EACH
def test_04_any_number_of_doubles_in_a_turn(name: str) -> None:
    trains: dict[int | str, str] = {0: "12-5", "M": "12-9", 1: "12-7"}
    board = Board.of(
        rules(name), ["5-5 9-9 7-7 7-3 11-0", "4-3", "2-1"], trains, markers=[False, True, False]
    )
    board.do("5-5@0", "9-9@M", "7-7@1")
    assert board.now == (0, "extra")
    board.do("7-3@1")
    assert board.game.waiting == [(5, 0), (9, 3)]
    assert board.game.in_force == [(5, 0)]
    assert board.now == (2, "cover")  # seat 1 is marked and 5-5 is not on its train


@EACH
def test_05_a_drawn_double_may_be_kept(name: str) -> None:
    board = Board.of(rules(name), ["4-3 2-1", "12-3", "12-1"], {0: "12-6"}, "6-6 6-2")
    board.do("draw", "pass")
    assert board.now == (1, "play")
    assert board.game.markers == [True, False, False]  # a pass all the same
    assert (6, 6) in board.game.hands[0]


@EACH
def test_11_a_drawn_tile_that_is_no_cover_is_not_playable(name: str) -> None:
    board = Board.of(rules(name), ["1-0 9-8", "3-2 8-4", "12-2"], {0: "12-5 5-5"}, "12-7 5-4", to_move=1)
    board.do("draw")
    assert board.game.drawn == (12, 7)  # would start the own train
    assert board.legal == {"pass"}


@EACH
def test_11_a_drawn_cover_may_be_kept(name: str) -> None:
    board = Board.of(rules(name), ["1-0 9-8", "3-2 8-4", "12-2"], {0: "12-5 5-5"}, "5-4", to_move=1)
    board.do("draw")
    assert board.legal == {"5-4@0", "pass"}


@EACH
def test_12_a_dead_double_waits_to_the_block(name: str) -> None:
    # Double-3, engine 3: 3-2, 2-1 and 2-0 are out, so nothing will ever cover 2-2.
    ruleset = preset(name, set_max=3, players=2, hand_size=2)
    board = Board.of(ruleset, ["2-2 1-1", "0-0 1-0"], {0: "3-2", "M": "3-1 1-2 2-0"})
    board.do("2-2@0")
    assert (board.now, board.legal) == ((0, "extra"), {"pass"})
    board.do("pass")
    assert (board.now, board.legal) == ((1, "cover"), {"pass"})  # though 0-0 fits the Mexican Train
    board.do("pass")
    # Seat 1 is marked now and the double is not on its train: only seat 0 is left to be asked.
    assert (board.now, board.legal) == ((0, "cover"), {"pass"})
    board.do("pass")
    assert board.last_round["blocked"]
    assert board.last_round["scores"] == [2, 51]


@EACH
def test_13_a_double_nobody_covers_blocks_though_trains_could_grow(name: str) -> None:
    board = Board.of(rules(name), ["1-0 9-8", "12-4 3-1", "12-2"], {0: "12-5 5-5"}, to_move=1)
    board.do("pass", "pass")
    assert board.game.markers == [False, True, True]
    assert board.now == (0, "cover")
    board.do("pass")  # marks the last seat; the two others are skipped, so nobody else is to be asked
    assert board.last_round["blocked"]
    assert board.last_round["scores"] == [18, 20, 14]


@EACH
def test_13_on_the_mexican_train_everybody_is_asked_once_more(name: str) -> None:
    board = Board.of(rules(name), ["1-0 9-8", "12-4", "12-2"], {"M": "12-5 5-5"})
    board.do("pass", "pass", "pass")
    # The third marker starts the count anew; all would be skipped, so nobody is.
    assert board.game.markers == [True, True, True]
    assert board.now == (0, "cover")
    board.do("pass")
    assert board.now == (1, "cover")
    board.do("pass")
    assert board.last_round["blocked"]


@EACH
def test_25_with_tiles_left_to_draw_holding_back_means_drawing(name: str) -> None:
    board = Board.of(rules(name), ["12-5 4-3", "12-7", "12-2"], {}, "11-10")
    assert board.legal == {"12-5@0", "draw"}
    board.do("draw")
    assert board.legal == {"pass"}  # only the drawn tile counts now


@EACH
def test_33_a_plain_end_of_the_same_value_is_no_cover(name: str) -> None:
    board = Board.of(
        rules(name), ["6-4 1-0", "12-9", "6-3 6-2 12-1"], {1: "12-6 6-6", "M": "12-8 8-6"}, to_move=2
    )
    assert (board.now, board.legal) == ((2, "cover"), {"6-3@1", "6-2@1", "pass"})


def test_33_a_plain_end_of_the_same_value_on_the_same_train_is_covered_second() -> None:
    # 12-5, 5-5, then 5-4 on its first outlet: open are 4 and two 5s. On the 4 go 4-6, 6-6: its end is 6.
    board = Board.of(
        rules("wikipedia"), ["6-1 5-2 1-0", "12-9", "12-2"], {0: "12-5 5-5 5-4 4-6 6-6", "M": "12-6"}
    )
    assert board.game.ends[0] == [5, 5, 6]
    assert board.legal == {"6-1@0", "pass"}
    board.do("6-1@0")
    assert board.game.ends[0] == [1, 5, 5, 6, 6]


@EACH
def test_34_a_double_covered_in_the_same_turn_leaves_no_duty(name: str) -> None:
    board = Board.of(rules(name), ["5-5 5-3 1-0", "12-9 2-0", "12-1 2-1"], {0: "12-5"})
    board.do("5-5@0", "5-3@0")
    assert board.game.waiting == []
    assert (board.now, board.legal) == ((1, "play"), {"12-9@1", "pass"})
    assert board.game.markers == DOWN


@EACH
def test_declining_the_extra_marks_as_a_failure_does(name: str) -> None:
    board = Board.of(rules(name), ["5-5 5-3 1-0", "12-9 2-0", "12-1 2-1"], {0: "12-5"})
    board.do("5-5@0")
    assert board.legal == {"5-3@0", "pass"}
    board.do("pass")
    assert board.game.markers == [True, False, False]
    assert board.now == (1, "cover")


@EACH
def test_declining_a_cover_draws_first(name: str) -> None:
    board = Board.of(rules(name), ["5-4 9-8", "5-3", "12-2"], {2: "12-5 5-5"}, "11-10")
    assert board.legal == {"5-4@2", "draw"}
    board.do("draw", "pass")
    assert board.game.markers == [True, False, False]
    assert board.now == (1, "cover")


# --- branching ------------------------------------------------------------------------------------


def test_23_a_further_outlet_is_closed_before_the_first_cover() -> None:
    hands = ["8-3 8-1 5-0", "12-4 9-1", "12-2 4-1"]
    board = Board.of(rules("wikipedia"), hands, {0: "12-8 8-8"})
    assert board.game.ends[0] == [8]
    board.do("8-3@0")
    assert board.game.ends[0] == [3, 8, 8]
    board = Board.of(rules("wikipedia"), hands, {0: "12-8 8-8 8-7"})
    assert board.legal == {"8-3@0", "8-1@0", "pass"}


def test_a_branch_is_an_ordinary_end_and_grows_doubles_of_its_own() -> None:
    board = Board.of(rules("wikipedia"), ["8-3 3-3 3-1 5-0 2-1", "12-4 9-1", "12-2 4-1"], {0: "12-8 8-8 8-7"})
    board.do("8-3@0", "pass", "pass", "3-3@0")
    assert board.game.ends[0] == [3, 7, 8]
    assert board.game.waiting == [(3, 0)]
    board.do("3-1@0")
    assert board.game.ends[0] == [1, 3, 3, 7, 8]


def test_chickenfoot_extra_is_the_first_cover_only() -> None:
    board = Board.of(
        rules("parsons_chickenfoot"), ["5-5 5-4 8-1", "5-3 10-1", "12-2 11-9"], {0: "12-5"}, "11-10 11-8"
    )
    board.do("5-5@0")
    assert board.legal == {"5-4@0"}
    board.do("5-4@0")  # the turn ends with it, two covers are still owed
    assert (board.now, board.game.in_force) == ((1, "cover"), [(5, 0)])
    board.do("5-3@0")
    assert (board.now, board.legal) == ((2, "cover"), {"draw"})
    board.do("draw", "pass")
    assert board.game.markers == [False, False, True]
    assert (board.now, board.legal) == ((0, "cover"), {"draw"})


def test_chickenfoot_chain_leaves_the_other_ends_open() -> None:
    ruleset = rules("parsons_chickenfoot", opening="chain")
    board = Board.of(ruleset, ["12-5 5-5 5-4 8-1", "12-3 5-1", "12-2 11-9"], {}, opening=True)
    board.do("12-5@0", "5-5@0", "5-4@0", "pass", "12-3@1", "pass", "12-2@2", "pass")
    assert board.game.ends[0] == [4, 5, 5]
    assert board.game.waiting == []  # a double inside a chain is never in force


# --- wild blanks ----------------------------------------------------------------------------------


def test_32_the_two_ends_of_the_same_blank_tile() -> None:
    ruleset = rules("parsons_wild")
    by_blank = Board.of(ruleset, ["5-0 4-3", "12-1 2-1", "12-2 10-1"], {0: "12-9"}).do("0-5@0")
    assert by_blank.game.ends[0] == [5]
    by_five = Board.of(ruleset, ["5-0 4-3", "12-1 2-1", "12-2 10-1"], {0: "12-9 9-5"}).do("5-0@0")
    assert by_five.game.ends[0] == [0]
    assert by_five.do("12-1@1", "12-2@2").legal == {"4-3@0", "3-4@0"}  # either half


def test_wild_blanks_fit_every_train_and_start_the_mexican_train() -> None:
    board = Board.of(
        rules("parsons_wild"), ["7-0 4-3", "12-1 2-1", "12-2 10-1"], {0: "12-9", 1: "12-8"},
        markers=[False, True, False],
    )  # fmt: skip
    assert board.legal == {"0-7@0", "0-7@1", "0-7@M"}
    board.do("0-7@M")
    assert board.game.ends[3] == [7]


def test_the_double_blank_is_covered_by_anything_later_too() -> None:
    board = Board.of(rules("parsons_wild"), ["8-7 9-3", "4-3 1-1", "12-2 10-1"], {0: "12-9 0-0"}, to_move=1)
    assert board.game.in_force == [(0, 0)]
    assert (board.now, board.legal) == ((1, "cover"), {"4-3@0", "3-4@0", "1-1@0"})
    board.do("1-1@0")
    # A double that covers is a double: its own extra is owed.
    assert (board.now, board.game.waiting) == ((1, "extra"), [(1, 0)])
    board.do("pass")
    assert board.game.markers == [False, True, False]


def test_with_wild_blanks_no_double_is_dead() -> None:
    # Double-3: 3-2, 2-1, 2-0 are out. Without wild blanks 2-2 would be released; so it waits for 1-0 or 0-0.
    trains: dict[int | str, str] = {0: "3-2", "M": "3-1 1-2 2-0"}
    for wild, now in ((False, (1, "play")), (True, (0, "extra"))):
        ruleset = preset(
            "parsons", set_max=3, players=2, hand_size=2, blanks_wild=wild, dead_double="released"
        )
        board = Board.of(ruleset, ["2-2 1-1 3-0", "0-0 1-0"], trains)
        board.do("2-2@0")
        assert board.now == now
    assert board.legal >= {"0-3@0"}
    board.do("0-3@0")
    assert (board.game.waiting, board.game.ends[0]) == ([], [3])


def test_wild_blanks_do_not_go_with_branching() -> None:
    for covers in (1, 3):
        with pytest.raises(RulesetError, match="blanks_wild=True with double_outlets=3"):
            rules("parsons_wild", double_outlets=3, double_covers=covers)


def test_at_a_train_with_one_end_a_tile_with_both_values_is_two_actions_only_where_it_can_be() -> None:
    board = Board.of(rules("parsons_wild"), ["9-0 9-3", "12-1 2-1", "12-2 10-1"], {0: "12-9", "M": "12-8"})
    assert board.legal == {"9-0@0", "0-9@0", "0-9@M", "9-3@0"}


# --- other named variations -----------------------------------------------------------------------


def test_parsons_answer_the_extra_goes_on_the_double_only() -> None:
    for name, legal in (("parsons_answer", {"draw"}), ("parsons", {"9-4@M"})):
        board = Board.of(rules(name), ["5-5 9-4 3-2", "12-8", "12-1"], {0: "12-5", "M": "12-9"}, "11-11")
        assert board.do("5-5@0").legal == legal


def test_parsons_one_double_the_extra_is_no_double_unless_it_is_the_last_tile() -> None:
    trains: dict[int | str, str] = {0: "12-5", "M": "12-9"}
    board = Board.of(rules("parsons_one_double"), ["5-5 9-9 9-4", "12-8", "12-1"], trains).do("5-5@0")
    assert board.legal == {"9-4@M"}
    last = Board.of(rules("parsons_one_double"), ["5-5 9-9", "12-8", "12-1"], trains).do("5-5@0")
    assert last.legal == {"9-9@M"}
    last.do("9-9@M")
    assert last.last_round["out"] == [0]


def test_pagat_lifo_the_newest_double_comes_first() -> None:
    hands = ["1-0 2-0", "5-1 9-1", "5-2 9-2"]
    trains: dict[int | str, str] = {0: "12-5 5-5", "M": "12-9 9-9"}
    board = Board.of(rules("pagat_lifo"), hands, trains, to_move=1, waiting=[(5, 0), (9, 3)])
    assert board.legal == {"9-1@M"}
    board.do("9-1@M")
    assert (board.now, board.legal) == ((2, "cover"), {"5-2@0"})


def test_pagat_no_duty_an_open_double_closes_nothing() -> None:
    board = Board.of(
        rules("pagat_no_duty"), ["1-0 2-0", "12-4 5-1", "5-2 9-2"], {0: "12-5 5-5", "M": "12-9"}, to_move=1
    )
    assert (board.now, board.game.in_force) == ((1, "play"), [])
    assert board.legal == {"12-4@1"}  # and 5-5 lies on a private train
    board.do("12-4@1", "9-2@M")
    assert (board.now, board.legal) == ((0, "play"), {"2-0@M"})


def test_pagat_single_starts_the_mexican_train_at_once() -> None:
    board = Board.of(rules("pagat_single"), ["12-5 4-3", "12-8", "12-1"])
    assert (board.now, board.legal) == ((0, "play"), {"12-5@0", "12-5@M"})


def test_parsons_fifty_counts_the_double_blank() -> None:
    for name, points in (("parsons_fifty", 57), ("parsons", 7)):
        board = Board.of(rules(name), ["12-5", "4-3 0-0", "2-1"])
        board.do("12-5@0")
        assert board.last_round["scores"] == [0, points, 3]


# --- ties -----------------------------------------------------------------------------------------


def rigged(tie_break: str, rounds: list[tuple[str, list[str]]]) -> Board:
    """A match of two seats with one tile each; each round its hands and boneyard front, and what is done."""
    ruleset = preset("parsons", set_max=4, players=2, hand_size=1, rounds=len(rounds), tie_break=tie_break)
    deals = [pile(ruleset, f"{front} 0-0", 4 - k) for k, (front, _) in enumerate(rounds)]
    board = Board(Game(ruleset, seed=0, deals=deals, first_starter=0))
    for _, words in rounds:
        board.do(*words)
    return board


def test_30_of_equal_totals_more_rounds_without_points_win() -> None:
    rounds = [
        ("4-1 2-0", ["4-1@0"]),  # seat 1 keeps 2
        ("3-1 1-0", ["draw", "pass", "3-1@0"]),  # seat 1 begins and keeps 1
        ("3-0 2-1", ["draw", "pass", "2-1@1"]),  # seat 0 begins and keeps 3
    ]
    board = rigged("zero_rounds", rounds)
    assert board.game.totals == [3, 3]
    assert board.game.places == [1, 2]  # two rounds without points against one
    assert rigged("share", rounds).game.places == [1, 1]


def test_30_then_the_lowest_round_with_points_wins() -> None:
    rounds = [
        ("4-1 2-0", ["4-1@0"]),  # seat 1: 2
        ("3-1 2-1", ["draw", "pass", "3-1@0"]),  # seat 1: 3
        ("1-0 2-1", ["draw", "pass", "2-1@1"]),  # seat 0: 1
        ("4-0 1-0", ["1-0@1"]),  # seat 1 begins; seat 0: 4
    ]
    board = rigged("zero_rounds", rounds)
    assert [entry["scores"] for entry in board.game.round_history] == [[0, 2], [0, 3], [1, 0], [4, 0]]
    assert board.game.totals == [5, 5]
    assert board.game.places == [1, 2]  # two rounds without points each; 1 is lower than 2
