"""The edge cases of the rules that are special to `wikipedia` and its variations, partners, wild blanks.

The double-12 set with engine 12 unless a test says otherwise. Tiles named nowhere are out of the game.
"""

from __future__ import annotations

import numpy as np
import pytest

from mexenv.engine import state as st
from mexenv.games import Game
from mexenv.rules import Ruleset, preset
from tests.games.board import Board

FLAT = "wikipedia_no_branching"
EACH = pytest.mark.parametrize("name", ["wikipedia", FLAT])


def rules(name: str, players: int = 3) -> Ruleset:
    return preset(name, players=players)


# --- doubles and markers --------------------------------------------------------------------------


@EACH
def test_05_a_drawn_double_may_be_played_and_its_extra_allows_a_second_draw(name: str) -> None:
    board = Board.of(rules(name), ["4-3 2-1", "12-3", "12-1"], {0: "12-6"}, "6-6 6-2")
    board.do("draw")
    assert board.legal == {"6-6@0", "pass"}
    board.do("6-6@0")
    assert (board.now, board.legal) == ((0, "extra"), {"draw"})
    board.do("draw", "6-2@0")
    assert (board.now, board.game.waiting) == ((1, "play"), [])


@EACH
def test_06_no_extra_and_no_boneyard_marks_the_train_of_the_double(name: str) -> None:
    board = Board.of(rules(name), ["5-5 1-0", "5-3 12-4", "12-2 2-0"], {0: "12-5"})
    board.do("5-5@0")
    assert board.legal == {"pass"}
    board.do("pass")
    assert board.game.markers == [True, False, False]
    assert (board.now, board.legal) == ((1, "cover"), {"5-3@0", "pass"})


@EACH
def test_07_failed_extra_of_a_double_on_the_mexican_train_marks_nobody(name: str) -> None:
    board = Board.of(rules(name), ["5-5 1-0", "5-3 12-4", "12-2"], {"M": "12-5", 0: "12-8"}, "2-1")
    board.do("5-5@M", "draw", "pass")
    assert board.game.markers == [False, False, False]
    assert board.game.in_force == [(5, 3)]


@EACH
def test_08_failed_extra_of_a_double_on_a_marked_train_changes_nothing(name: str) -> None:
    board = Board.of(
        rules(name), ["5-5 1-0", "5-3 12-4", "12-2"], {2: "12-5", 0: "12-8"}, "2-1",
        markers=[False, False, True],
    )  # fmt: skip
    board.do("5-5@2", "draw", "pass")
    assert board.game.markers == [False, False, True]


@EACH
def test_09_marker_down_as_the_double_lands_and_up_when_the_extra_fails(name: str) -> None:
    board = Board.of(
        rules(name), ["5-5 1-0 12-9", "5-3", "12-2"], {0: "12-5", "M": "12-8"}, "8-2",
        markers=[True, False, False],
    )  # fmt: skip
    assert board.legal == {"5-5@0", "draw"}
    board.do("5-5@0")
    assert board.game.markers == [False, False, False]
    board.do("draw")
    assert board.legal == {"8-2@M", "pass"}  # its marker is down, so that the extra may go anywhere
    board.do("pass")
    assert board.game.markers == [True, False, False]


@EACH
def test_10_cover_on_a_private_train_is_for_the_owner_and_unmarked_players(name: str) -> None:
    board = Board.of(
        rules(name, 4), ["5-4 9-8", "5-3", "5-2 12-7", "12-2"], {1: "12-11", "M": "12-5 5-5"},
        markers=[False, True, False, True],
    )  # fmt: skip
    assert board.now == (0, "cover")
    board.do("pass")
    assert board.now == (2, "cover")  # seat 1 is marked and the double is not on its train
    assert board.legal == {"5-2@M", "pass"}
    board.do("5-2@M")
    assert board.now == (3, "play")


@EACH
def test_10_marked_owner_is_not_skipped(name: str) -> None:
    board = Board.of(
        rules(name), ["5-4 9-8", "5-3", "5-2 12-7"], {1: "12-5 5-5"}, markers=[False, True, True]
    )
    board.do("pass")
    assert board.now == (1, "cover")
    assert board.game.markers == [True, True, True]
    board.do("5-3@1")
    assert board.last_round["out"] == [1]


@EACH
def test_skipping_stops_when_everybody_would_be_skipped(name: str) -> None:
    board = Board.of(
        rules(name), ["4-3 9-8", "5-3 2-1", "12-1 12-7"], {"M": "12-5 5-5"}, "11-10",
        markers=[False, True, True],
    )  # fmt: skip
    board.do("draw", "pass")
    assert board.game.markers == [True, True, True]
    assert board.now == (1, "cover")
    assert board.legal == {"5-3@M", "pass"}  # where it lies, though seat 1 is marked
    board.do("5-3@M")
    assert board.game.markers == [True, True, True]
    assert board.now == (2, "play")
    assert board.legal == {"12-1@2", "12-7@2", "pass"}  # marked: only its own train


@EACH
def test_14_owner_covers_the_double_on_its_own_train_and_its_marker_comes_down(name: str) -> None:
    board = Board.of(rules(name), ["5-3 1-0", "12-4", "12-2"], {0: "12-5 5-5"}, markers=[True, False, False])
    assert board.now == (0, "cover")
    board.do("5-3@0")
    assert board.game.markers == [False, False, False]


@EACH
def test_20_own_train_before_the_mexican_train(name: str) -> None:
    board = Board.of(rules(name), ["12-5 12-3", "12-7 4-0", "12-2 6-1"])
    assert board.legal == {"12-5@0", "12-3@0", "pass"}
    board.do("12-5@0", "12-7@1", "12-2@2")
    assert board.legal == {"12-3@M", "pass"}


@EACH
def test_25_a_player_that_could_play_may_pass_with_an_empty_boneyard(name: str) -> None:
    board = Board.of(rules(name), ["12-5 4-3", "12-7", "12-2"])
    assert board.legal == {"12-5@0", "pass"}
    board.do("pass")
    assert board.game.markers == [True, False, False]


@EACH
def test_35_a_marked_player_may_not_play_on_the_mexican_train(name: str) -> None:
    board = Board.of(
        rules(name), ["8-3 1-0", "12-9 2-0", "12-1 2-1"], {0: "12-5", "M": "12-8"}, "8-2",
        markers=[True, False, True],
    )  # fmt: skip
    assert board.legal == {"draw"}  # 8-3 fits the Mexican Train, 12-x the other marked one
    board.do("draw")
    assert board.legal == {"pass"}


# --- branches -------------------------------------------------------------------------------------


def test_23_branches_open_after_the_first_cover_and_there_are_two() -> None:
    board = Board.of(
        rules("wikipedia", 2), ["8-3 8-1 8-0 10-10", "8-4 6-5 7-6"], {0: "12-8 8-8", 1: "12-11"}, to_move=1
    )
    assert board.game.ends[0] == [8]
    assert (board.now, board.legal) == ((1, "cover"), {"8-4@0", "pass"})
    board.do("8-4@0")
    assert board.game.ends[0] == [4, 8, 8]
    assert board.legal == {"8-3@0", "8-1@0", "8-0@0", "pass"}
    board.do("8-3@0", "pass")
    assert board.game.ends[0] == [3, 4, 8]
    board.do("8-1@0", "pass")
    assert board.game.ends[0] == [1, 3, 4]
    assert board.legal == {"pass"}  # 8-0 would be the fourth


def test_24_any_end_of_the_own_train_takes_the_marker_down() -> None:
    for tile in ("4-0", "8-3"):
        board = Board.of(
            rules("wikipedia"),
            [f"{tile} 1-0", "12-4", "12-2"],
            {0: "12-8 8-8 8-4"},
            markers=[True, False, False],
        )
        assert board.game.ends[0] == [4, 8, 8]
        board.do(f"{tile}@0")
        assert board.game.markers == [False, False, False]


def test_one_tile_joins_one_train_in_two_ways() -> None:
    board = Board.of(rules("wikipedia"), ["8-4 1-0", "12-9", "12-2"], {0: "12-8 8-8 8-5 5-4"})
    assert board.game.ends[0] == [4, 8, 8]
    assert board.legal == {"8-4@0", "4-8@0", "pass"}
    other = Board(board.game.clone())
    board.do("8-4@0")
    assert board.game.ends[0] == [4, 4, 8]
    other.do("4-8@0")
    assert other.game.ends[0] == [8, 8, 8]


def test_an_uncovered_double_takes_the_tile_before_a_plain_end_of_its_value() -> None:
    trains: dict[int | str, str] = {0: "12-8 8-8 8-5 8-4 4-5 5-5"}
    board = Board.of(rules("wikipedia"), ["5-1 8-3 1-0", "12-9", "12-2"], trains)
    assert board.game.ends[0] == [5, 5, 8]  # a plain 5, and 5-5 which lies on the other
    assert (board.now, board.legal) == ((0, "cover"), {"5-1@0", "pass"})
    board.do("5-1@0")
    assert board.game.waiting == []
    assert board.game.ends[0] == [1, 5, 5, 5, 8]


def test_chickenfoot_shows_three_ends_and_needs_three_covers() -> None:
    board = Board.of(
        rules("parsons_chickenfoot", 2), ["5-5 5-4 1-1", "12-1 5-3 5-2 10-9"], {0: "12-5", 1: "12-11"}
    )
    board.do("5-5@0")
    assert board.game.ends[0] == [5, 5, 5]
    board.do("5-4@0")
    assert (board.now, board.game.waiting, board.game.ends[0]) == ((1, "cover"), [(5, 0)], [4, 5, 5])
    assert board.legal == {"5-3@0", "5-2@0"}
    board.do("5-3@0", "pass", "5-2@0")
    assert (board.now, board.game.waiting, board.game.ends[0]) == ((0, "play"), [], [2, 3, 4])


# --- openings -------------------------------------------------------------------------------------


@EACH
def test_opening_may_be_skipped_without_a_marker(name: str) -> None:
    hands = ["12-5 5-3 1-0", "12-7 8-4 2-0", "9-8 6-1 4-2"]
    board = Board.of(rules(name), hands, {}, "11-10", opening=True)
    assert (board.now, board.legal) == ((0, "opening"), {"12-5@0", "pass"})
    board.do("pass")
    board.do("12-7@1", "pass")
    assert board.legal == {"pass"}  # asked, though nothing fits
    board.do("pass")
    assert board.game.markers == [False, False, False]
    assert board.now == (0, "play")


@EACH
def test_opening_is_completed_before_the_round_ends_and_several_may_be_out(name: str) -> None:
    board = Board.of(rules(name), ["12-5 5-3", "12-7 7-7", "12-9 6-1"], {}, opening=True)
    board.do("12-5@0", "5-3@0")
    assert board.now == (1, "opening")  # an empty hand stops by itself
    board.do("12-7@1", "7-7@1")
    assert board.now == (2, "opening")
    board.do("12-9@2", "pass")
    assert board.last_round["out"] == [0, 1]
    assert board.last_round["scores"] == [0, 0, 7]


def test_double_inside_a_chain_opens_its_branches_for_later_turns_only() -> None:
    hands = ["12-5 5-5 5-3 5-1 0-0", "12-7 8-4", "12-9 6-1"]
    board = Board.of(rules("wikipedia"), hands, {}, opening=True)
    board.do("12-5@0", "5-5@0")
    assert board.legal == {"5-3@0", "5-1@0", "pass"}
    board.do("5-3@0")
    assert board.legal == {"pass"}  # 5-1 would go on a branch
    board.do("pass", "12-7@1", "pass", "12-9@2", "pass")
    assert board.game.ends[0] == [3, 5, 5]
    assert "5-1@0" in board.legal


def test_19_a_train_that_somebody_else_started_gives_no_chain() -> None:
    hands = ["7-3 3-1 12-4 4-0", "12-7 8-4 6-6", "12-2 6-1 9-9"]
    board = Board.of(
        rules("wikipedia_delayed"), hands, {1: "12-11", 2: "12-10"}, to_move=1, markers=[True, False, False]
    )
    board.do("12-7@0", "pass")
    assert board.now == (0, "play")
    board.do("7-3@0")
    assert board.now == (1, "play")
    # With its train unstarted the same seat lays a chain.
    board = Board.of(rules("wikipedia_delayed"), hands, {1: "12-11", 2: "12-10"})
    board.do("12-4@0")
    assert (board.now, board.legal) == ((0, "chain"), {"4-0@0", "pass"})


def test_delayed_trailing_double_owes_no_extra_and_is_in_force_next() -> None:
    board = Board.of(
        rules("wikipedia_delayed"), ["12-4 4-4 9-0", "12-7 8-4", "12-2 6-1"], {1: "12-11", 2: "12-10"}
    )
    board.do("12-4@0", "4-4@0", "pass")
    assert board.game.markers == [False, False, False]
    assert (board.now, board.game.in_force) == ((1, "cover"), [(4, 0)])


def test_delayed_chain_of_the_whole_hand_ends_the_round_at_once() -> None:
    board = Board.of(rules("wikipedia_delayed"), ["12-4 4-4", "12-7 8-4", "12-2 6-1"], {})
    board.do("12-4@0", "4-4@0")
    assert board.last_round["out"] == [0]


def test_delayed_chain_may_begin_with_the_drawn_tile() -> None:
    board = Board.of(rules("wikipedia_delayed"), ["4-3 4-0", "12-7 8-4", "12-2 6-1"], {}, "12-4 9-8")
    board.do("draw", "12-4@0")
    assert (board.now, board.legal) == ((0, "chain"), {"4-3@0", "4-0@0", "pass"})


# --- partners -------------------------------------------------------------------------------------


def test_29_a_partner_clears_the_strike_and_two_strikes_make_both_trains_public() -> None:
    ruleset = rules("wikipedia_partners", 4)
    hands = ["1-0 3-2", "12-9 2-0 9-4", "12-7 7-1 4-0", "12-1 2-1 8-6"]
    trains: dict[int | str, str] = {0: "12-5", 2: "12-8", 1: "12-11", 3: "12-10", "M": "12-6"}
    board = Board.of(ruleset, hands, trains)
    board.do("pass", "pass")
    assert board.game.markers == [False] * 4  # a strike each
    assert board.legal == {"pass"}
    board.do("pass")
    assert board.game.markers == [True, False, True, False]
    hands[2] = "8-7 7-1 4-0"
    board = Board.of(ruleset, hands, trains)
    board.do("pass", "pass")
    assert board.legal == {"8-7@2", "pass"}
    board.do("8-7@2", "pass")
    assert board.game.markers == [False, True, False, True]  # seats 1 and 3 passed in a row, 0 and 2 did not
    board.do("pass")
    assert board.game.markers == [False, True, False, True]  # one strike since seat 2 has played


def test_partners_share_their_trains_and_points() -> None:
    ruleset = rules("wikipedia_partners", 4)
    hands = ["8-5", "12-9 2-0", "12-7 7-1", "12-1 0-0"]
    board = Board.of(ruleset, hands, {0: "12-5", 2: "12-8", 1: "12-11", 3: "12-10"})
    assert board.legal == {"5-8@0", "8-5@2", "pass"}
    board.do("8-5@2")
    # Out: the team of seats 0 and 2 books 0, the other 21 + 2 + 13 + 50.
    assert board.last_round["scores"] == [0, 86, 0, 86]
    assert board.game.places == [1, 2, 1, 2]


def test_partners_in_a_blocked_round_all_teams_sum() -> None:
    board = Board.of(
        rules("wikipedia_partners", 4), ["1-0", "2-0", "3-0", "4-0"], {}, markers=[True] * 4, passed=[1, 2, 3]
    )
    board.do("pass")
    assert board.last_round["blocked"]
    assert board.last_round["scores"] == [4, 6, 4, 6]


# --- wild blanks ----------------------------------------------------------------------------------


def test_32_a_blank_joins_anything_and_leaves_the_other_half() -> None:
    board = Board.of(rules("parsons_wild"), ["5-0 8-7 8-6", "12-4", "12-2"], {0: "12-9"})
    assert board.legal == {"0-5@0", "0-5@M"}  # the blank joins the engine too
    board.do("0-5@0")
    assert board.game.ends[0] == [5]


def test_32_joined_by_the_other_half_it_leaves_a_wild_end() -> None:
    board = Board.of(rules("parsons_wild", 2), ["5-0 8-7 8-6", "12-4 9-4"], {0: "12-5", "M": "12-11"})
    assert board.legal == {"5-0@0", "0-5@0", "0-5@M"}
    board.do("5-0@0", "12-4@1")
    assert board.game.ends[0] == [0]
    assert board.legal == {"8-7@0", "7-8@0", "8-6@0", "6-8@0"}
    board.do("7-8@0")
    assert board.game.ends[0] == [8]


def test_the_double_blank_lies_on_anything_and_is_covered_by_anything() -> None:
    board = Board.of(rules("parsons_wild", 2), ["0-0 8-7 8-6", "12-4 9-4"], {0: "12-5", "M": "12-11"})
    assert board.legal == {"0-0@0", "0-0@M"}
    board.do("0-0@0")
    assert (board.now, board.game.waiting) == ((0, "extra"), [(0, 0)])
    assert board.legal == {"8-7@0", "7-8@0", "8-6@0", "6-8@0"}


def test_a_wild_double_as_a_cover_owes_its_extra() -> None:
    board = Board.of(rules("parsons_wild", 2), ["8-7 1-1", "0-0 9-4 3-2"], {0: "12-5 5-5"}, to_move=1)
    assert (board.now, board.legal) == ((1, "cover"), {"0-0@0"})
    board.do("0-0@0")
    assert (board.now, board.game.waiting) == ((1, "extra"), [(0, 0)])
    assert board.legal == {"9-4@0", "4-9@0", "3-2@0", "2-3@0"}


# --- swan drive -----------------------------------------------------------------------------------


def test_swan_drive_goes_around_the_public_trains() -> None:
    board = Board.of(
        rules("wikipedia_swan_drive", 4), ["5-4 6-3 7-2 8-1 12-9", "1-0", "2-0", "3-0"],
        {0: "12-5", 1: "12-6", 2: "12-11", 3: "12-7", "M": "12-8"}, "10-10",
        markers=[False, True, False, True], mexican_starter=1,
    )  # fmt: skip
    board.do("5-4@0")
    # The Mexican Train stands behind seat 1: that marked train comes first and is not jumped.
    assert (board.now, board.legal) == ((0, "drive"), {"6-3@1", "pass"})
    board.do("6-3@1")
    assert board.legal == {"8-1@M", "7-2@3", "pass"}  # the Mexican Train may be jumped
    board.do("8-1@M", "7-2@3")
    assert board.now == (1, "play")  # back at the own train
    assert board.game.markers == [False, True, False, True]


def test_swan_drive_stops_without_a_draw_or_a_marker() -> None:
    board = Board.of(
        rules("wikipedia_swan_drive"), ["5-4 6-3 9-9", "1-0", "2-0"], {0: "12-5", 1: "12-6"}, "10-10",
        markers=[False, True, False],
    )  # fmt: skip
    board.do("5-4@0", "pass")
    assert board.now == (1, "play")
    assert board.game.markers == [False, True, False]
    assert len(board.game.boneyard) == 1


def test_swan_drive_finishes_a_double_first() -> None:
    board = Board.of(
        rules("wikipedia_swan_drive"), ["5-4 6-6 6-3 7-2 9-9", "1-0", "2-0"],
        {0: "12-5", 1: "12-6", 2: "12-7"}, "10-10", markers=[False, True, True],
    )  # fmt: skip
    board.do("5-4@0", "6-6@1")
    assert (board.now, board.legal) == ((0, "extra"), {"6-3@1", "7-2@2", "draw"})
    elsewhere = Board(board.game.clone())
    board.do("6-3@1")
    assert (board.now, board.legal) == ((0, "drive"), {"7-2@2", "pass"})  # covered: the drive goes on
    elsewhere.do("7-2@2")
    assert elsewhere.now == (1, "cover")  # laid elsewhere: the drive is over


# --- places ---------------------------------------------------------------------------------------


def booked(ruleset: Ruleset, rounds: list[list[int]]) -> Game:
    """A game whose record says that these rounds were played."""
    game = Game(ruleset, seed=0)
    record = game._games[0]
    for scores in rounds:
        for seat, points in enumerate(np.array(scores) * st.POINT):
            record["total"][seat] += points
            record["zero_rounds"][seat] += points == 0
            if points:
                record["lowest_round"][seat] = min(record["lowest_round"][seat], points)
    return game


def test_30_zero_rounds_then_the_lowest_round_break_a_tie() -> None:
    rounds = [[0, 0], [0, 0], [0, 0], [4, 6], [96, 94]]
    assert booked(rules("wikipedia", 2), rounds).places == [1, 2]
    assert booked(rules("pagat", 2), rounds).places == [1, 1]
    assert booked(rules("wikipedia", 2), [[0, 0], [4, 0], [96, 100]]).places == [2, 1]
    assert booked(rules("wikipedia", 3), [[4, 96, 0], [96, 4, 101]]).places == [1, 1, 3]
