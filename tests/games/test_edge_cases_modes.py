"""Special ways to play, sentence by sentence: marked players at home, partners, swan drives.

The double-12 set with engine 12 unless a test says otherwise; all results worked out by hand. Tiles named
nowhere are out of the game.
"""

from __future__ import annotations

from typing import Any

import pytest

from mexenv.games import Game, PositionError
from mexenv.rules import Ruleset, RulesetError, preset
from tests.games.board import Board

EACH = pytest.mark.parametrize("name", ["wikipedia", "wikipedia_no_branching"])
DOWN = [False, False, False]


def rules(name: str, players: int = 3, **changes: Any) -> Ruleset:
    return preset(name, players=players, **changes)


# --- a marker keeps its player at home ------------------------------------------------------------


@EACH
def test_marked_player_may_not_start_the_mexican_train(name: str) -> None:
    hands = ["12-8 4-3", "12-9 2-0", "12-1 2-1"]
    trains: dict[int | str, str] = {0: "12-5", 1: "12-4"}
    marked = Board.of(rules(name), hands, trains, markers=[True, True, False])
    assert marked.legal == {"pass"}  # neither the Mexican Train nor the other marked one
    free = Board.of(rules(name), hands, trains, markers=[False, True, False])
    assert free.legal == {"12-8@M", "4-3@1", "pass"}


@EACH
def test_after_a_double_on_the_own_train_the_extra_may_start_the_mexican_train(name: str) -> None:
    board = Board.of(
        rules(name), ["5-5 12-9 4-3", "2-0 1-0", "2-1 10-1"], {0: "12-5", 1: "12-4"}, "11-11",
        markers=[True, True, False],
    )  # fmt: skip
    assert board.legal == {"5-5@0", "draw"}
    board.do("5-5@0")
    assert board.game.markers == [False, True, False]
    assert board.legal == {"12-9@M", "4-3@1", "draw"}
    board.do("12-9@M")
    # The double stays on a private train: its owner and the unmarked seat 2 are asked, seat 1 is not.
    assert board.game.markers == [False, True, False]
    assert board.now == (2, "cover")
    board.do("draw", "pass")
    assert board.now == (0, "cover")


@EACH
def test_nobody_is_skipped_until_that_double_is_covered(name: str) -> None:
    board = Board.of(
        rules(name), ["4-3 9-8", "7-1 2-1", "5-1 12-7"], {"M": "12-5 5-5"}, "11-10 11-9 11-8",
        markers=[True, True, True], to_move=0,
    )  # fmt: skip
    board.do("draw", "pass")
    assert board.now == (1, "cover")
    board.do("draw", "pass")
    assert (board.now, board.legal) == ((2, "cover"), {"5-1@M", "draw"})
    board.do("5-1@M")
    assert board.game.waiting == []
    assert (board.now, board.legal) == ((0, "play"), {"draw"})  # at home again


@EACH
def test_skipping_comes_back_for_the_next_double(name: str) -> None:
    # 5-5 on the Mexican Train: once all are marked, nobody is skipped. Then 9-9 on the train of seat 2: its
    # owner is asked, so the others are skipped again.
    board = Board.of(
        rules(name), ["5-1 9-8", "9-1 2-1", "9-3 12-7"], {"M": "12-5 5-5", 2: "12-9 9-9"}, to_move=2,
        markers=[True, True, False], waiting=[(5, 3), (9, 2)],
    )  # fmt: skip
    board.do("pass")
    assert (board.now, board.legal) == ((0, "cover"), {"5-1@M", "pass"})
    board.do("5-1@M")
    assert board.game.in_force == [(9, 2)]
    assert board.now == (2, "cover")


@EACH
def test_a_skipped_seat_does_not_count_for_the_block(name: str) -> None:
    board = Board.of(
        rules(name), ["1-0 9-8", "5-4", "3-2"], {0: "12-5 5-5"}, to_move=2, markers=[True, True, False]
    )
    board.do("pass")  # marks seat 2, so that the count begins with it
    assert board.now == (0, "cover")
    board.do("pass")
    assert board.last_round["blocked"]  # seat 1 holds a cover, but is skipped


@EACH
def test_any_order_spares_the_owners_of_all_waiting_doubles(name: str) -> None:
    ruleset = rules(name, cover_order="any")
    board = Board.of(
        ruleset, ["5-1 9-8", "9-1 5-2", "9-3 12-7"], {0: "12-5 5-5", 1: "12-9 9-9"},
        markers=[True, True, True],
    )  # fmt: skip
    assert (board.now, board.legal) == ((0, "cover"), {"5-1@0", "pass"})  # marked: its own one only
    board.do("pass")
    assert (board.now, board.legal) == ((1, "cover"), {"9-1@1", "pass"})


def test_partners_the_owner_who_is_not_skipped_is_the_team() -> None:
    board = Board.of(
        rules("wikipedia_partners", 4), ["5-1 9-8", "4-1 2-1", "5-3 12-7", "5-2 7-6"],
        {0: "12-8", 1: "12-5 5-5"}, markers=[True] * 4, to_move=1,
    )  # fmt: skip
    board.do("pass")
    assert board.now == (3, "cover")  # seat 2 is marked and of the other team
    assert board.legal == {"5-2@1", "pass"}
    board.do("5-2@1")
    assert board.game.markers == [True, False, True, False]
    assert board.now == (0, "play")


def test_roaming_variation_lets_marked_players_play_and_cover_anywhere() -> None:
    board = Board.of(
        rules("wikipedia_roaming"), ["12-8 4-3", "5-4 9-0", "12-1 2-1"], {0: "12-5", 1: "12-4"},
        markers=[True, True, False],
    )  # fmt: skip
    assert board.legal == {"12-8@M", "4-3@1", "pass"}
    board = Board.of(
        rules("wikipedia_roaming"), ["12-8 4-3", "5-4 9-0", "12-1 2-1"], {0: "12-5 5-5"}, to_move=1,
        markers=[False, True, False],
    )  # fmt: skip
    assert (board.now, board.legal) == ((1, "cover"), {"5-4@0", "pass"})
    board.do("5-4@0")
    assert board.game.markers == [False, True, False]  # the own train alone takes it down


# --- partners -------------------------------------------------------------------------------------

PARTNERS = rules("wikipedia_partners", 4)
TEAM_TRAINS: dict[int | str, str] = {0: "12-5", 1: "12-11", 2: "12-8", 3: "12-10", "M": "12-6"}
UNMARKED = [False] * 4


def test_29_after_one_pass_the_train_stays_private() -> None:
    board = Board.of(PARTNERS, ["4-3 2-1", "8-5 9-0", "8-7 3-1", "10-2 7-1"], TEAM_TRAINS)
    board.do("pass")
    assert board.game.markers == UNMARKED
    assert board.legal == {"pass"}  # 8-5 would fit both trains of the other team
    board.do("pass", "8-7@2", "pass")
    # Seats 1 and 3 passed in a row: their trains are public; seat 0 had only the one strike, now cleared.
    assert board.game.markers == [False, True, False, True]


def test_either_partner_plays_on_either_train_as_its_own() -> None:
    board = Board.of(PARTNERS, ["8-3 5-4 10-0", "7-6 9-0", "4-1 3-1", "2-1 7-1"], TEAM_TRAINS)
    assert board.legal == {"8-3@2", "5-4@0", "pass"}
    board.do("5-4@0", "pass")
    assert board.legal == {"4-1@0", "pass"}


def test_the_mexican_train_may_be_started_when_one_of_the_two_trains_is() -> None:
    trains: dict[int | str, str] = {2: "12-8", 3: "12-10"}
    board = Board.of(PARTNERS, ["12-3 4-3", "12-9 9-0", "7-1 3-1", "2-1 7-6"], trains)
    assert board.legal == {"12-3@0", "12-3@M", "pass"}


def test_a_play_anywhere_of_either_partner_clears_the_strike() -> None:
    hands = ["7-4 3-2", "10-9 9-0", "6-1 3-1", "10-2 7-1"]
    board = Board.of(PARTNERS, hands, TEAM_TRAINS, strikes=[True, False], to_move=2)
    board.do("6-1@M", "10-2@3", "pass")
    assert board.game.markers == UNMARKED  # the first strike since the Mexican Train was played on
    board = Board.of(PARTNERS, hands, TEAM_TRAINS, strikes=[True, False], to_move=2)
    board.do("pass")
    assert board.game.markers == [True, False, True, False]


@pytest.mark.parametrize("play", ["5-4@0", "8-3@2"])
def test_a_play_on_a_team_train_takes_both_markers_down(play: str) -> None:
    board = Board.of(
        PARTNERS, ["8-3 5-4 10-0", "7-6 9-0", "4-1 3-1", "2-1 7-1"], TEAM_TRAINS, markers=[True] * 4,
        strikes=[True, True],
    )  # fmt: skip
    board.do(play)
    assert board.game.markers == [False, True, False, True]
    board.do("pass", "pass")
    assert board.game.markers == [False, True, False, True]  # the strike is gone too: this is the first


def test_roaming_partners_a_play_elsewhere_leaves_the_markers_and_clears_the_strike() -> None:
    ruleset = rules("wikipedia_partners", 4, marked_may_roam=True)
    board = Board.of(
        ruleset, ["6-3 7-4", "7-6 9-0", "4-1 3-1", "2-1 7-1"], TEAM_TRAINS,
        markers=[True, False, True, False], strikes=[True, False],
    )  # fmt: skip
    board.do("6-3@M")
    assert board.game.markers == [True, False, True, False]


def test_a_failed_extra_is_one_strike_for_two_doubles() -> None:
    board = Board.of(PARTNERS, ["5-5 8-8 7-4", "9-0 7-6", "4-1 3-1", "2-1 7-1"], TEAM_TRAINS)
    board.do("5-5@0", "8-8@2", "pass")
    assert board.game.markers == UNMARKED
    assert board.game.waiting == [(5, 0), (8, 2)]
    # The partner cannot cover: the second strike.
    board.do("pass", "pass")
    assert board.game.markers == [True, False, True, False]


def test_a_failed_extra_on_the_mexican_train_is_no_strike() -> None:
    board = Board.of(
        PARTNERS, ["6-6 7-4", "9-0 7-6", "4-1 3-1", "2-1 7-1"], TEAM_TRAINS, strikes=[True, False]
    )
    board.do("6-6@M", "pass")
    assert board.game.markers == UNMARKED


@pytest.mark.parametrize("name", ["parsons", "dominos_cc"])
def test_partners_get_strikes_where_a_failed_extra_marks_the_player(name: str) -> None:
    ruleset = rules(name, 4, partners=True)
    board = Board.of(ruleset, ["6-6 7-4", "9-0 6-2", "4-1 3-1", "2-1 7-1"], TEAM_TRAINS)
    board.do("6-6@M", "pass")
    assert board.game.markers == UNMARKED  # the first strike of the player's team
    board.do("6-2@M", "pass")
    assert board.game.markers == [True, False, True, False]


def test_three_teams_share_points_and_places() -> None:
    ruleset = rules("wikipedia_partners", 6)
    hands = ["5-4", "9-0", "4-1", "2-1", "7-1", "10-9"]
    board = Board.of(ruleset, hands, {0: "12-5"})
    board.do("5-4@0")
    # Seat 3 is seat 0's partner; 9 + 8 for seats 1 and 4, 5 + 19 for seats 2 and 5.
    assert board.last_round["out"] == [0]
    assert board.last_round["scores"] == [0, 17, 24, 0, 17, 24]
    assert board.game.places == [1, 2, 3, 1, 2, 3]
    blocked = Board.of(ruleset, hands, {}, markers=[True] * 6, passed=[1, 2, 3, 4, 5])
    blocked.do("pass")
    assert blocked.last_round["scores"] == [12, 17, 24, 12, 17, 24]


def test_partners_in_the_opening_lay_on_the_own_train_only() -> None:
    board = Board.of(PARTNERS, ["12-5 5-4", "12-9 9-0", "12-4 4-1", "12-7 7-1"], {}, opening=True)
    assert board.legal == {"12-5@0", "pass"}
    board.do("12-5@0", "pass", "pass")
    assert (board.now, board.legal) == ((2, "opening"), {"12-4@2", "pass"})


@pytest.mark.parametrize("players", [2, 3, 5, 7])
def test_partners_need_two_three_or_four_pairs(players: int) -> None:
    with pytest.raises(RulesetError, match="partners=True with players="):
        rules("wikipedia_partners", players)


# --- swan drive -----------------------------------------------------------------------------------

SWAN = rules("wikipedia_swan_drive", 4)
PUBLIC = [False, True, True, True]
OTHERS = ["11-0", "11-1", "11-2"]
LINE: dict[int | str, str] = {0: "12-5", 1: "12-6", 2: "12-7", 3: "12-8"}


def test_drive_is_one_tile_on_each_public_train_and_jumps_none() -> None:
    board = Board.of(SWAN, ["5-4 6-3 8-1 4-2 3-0", *OTHERS], LINE, "10-10", markers=PUBLIC)
    board.do("5-4@0")
    assert board.legal == {"6-3@1", "pass"}  # 8-1 would jump two trains; 4-2 goes on nowhere
    board.do("6-3@1")
    assert board.now == (0, "drive")
    assert board.legal == {"pass"}  # nothing for the train of seat 2; 3-0 would be the second on this one
    board.do("pass")
    assert board.now == (1, "play")
    assert board.game.markers == PUBLIC
    assert len(board.game.boneyard) == 1  # no draw


def test_drive_ends_back_at_the_own_train() -> None:
    board = Board.of(SWAN, ["5-4 6-3 7-1 8-2 4-0", *OTHERS], LINE, "10-10", markers=PUBLIC)
    board.do("5-4@0", "6-3@1", "7-1@2", "8-2@3")
    assert board.now == (1, "play")  # 4-0 stays in hand


def test_drive_may_begin_with_the_drawn_tile() -> None:
    board = Board.of(SWAN, ["6-3 9-0", *OTHERS], LINE, "5-4 10-10", markers=[True, True, False, False])
    assert board.legal == {"draw"}
    board.do("draw", "5-4@0")
    assert board.game.markers == [False, True, False, False]
    assert (board.now, board.legal) == ((0, "drive"), {"6-3@1", "pass"})


def test_no_drive_after_a_cover_on_the_own_train() -> None:
    trains = {**LINE, 0: "12-5 5-5"}
    board = Board.of(SWAN, ["5-4 6-3", *OTHERS], trains, "10-10", markers=PUBLIC)
    assert board.now == (0, "cover")
    board.do("5-4@0")
    assert board.now == (1, "play")


def test_no_drive_when_the_turn_began_elsewhere() -> None:
    board = Board.of(
        SWAN, ["9-9 5-4 6-3", *OTHERS], {**LINE, "M": "12-9"}, "10-10", markers=[False, True, False, False]
    )
    board.do("9-9@M", "5-4@0")
    assert board.now == (2, "cover")  # seat 1 is marked


def test_drive_does_not_start_the_mexican_train() -> None:
    board = Board.of(
        SWAN, ["5-4 12-3 12-2", *OTHERS], {0: "12-5"}, "10-10", markers=[False, True, False, False]
    )
    board.do("5-4@0")
    assert board.legal == {"12-3@1", "12-2@1", "pass"}  # seat 1's train may be started, it is public
    board.do("12-3@1")
    assert board.now == (1, "play")


@pytest.mark.parametrize(
    ("starter", "first"),
    [(0, {"9-2@M", "7-1@2", "pass"}), (1, {"9-2@M", "7-1@2", "pass"}), (2, {"7-1@2", "pass"})],
)
def test_drive_passes_the_mexican_train_behind_the_seat_that_started_it(
    starter: int, first: set[str]
) -> None:
    board = Board.of(
        SWAN, ["5-4 9-2 7-1 3-0", *OTHERS], {**LINE, "M": "12-9"}, "10-10", mexican_starter=starter,
        markers=[False, False, True, False],
    )  # fmt: skip
    board.do("5-4@0")
    assert (board.now, board.legal) == ((0, "drive"), first)
    board.do("7-1@2")
    if starter == 2:
        assert (board.now, board.legal) == ((0, "drive"), {"9-2@M", "pass"})
    else:
        assert board.now == (1, "play")  # jumped, and nothing is left behind seat 2


def test_drive_through_a_private_round_of_trains_uses_the_mexican_train_alone() -> None:
    board = Board.of(SWAN, ["5-4 9-2 3-0", *OTHERS], {**LINE, "M": "12-9"}, "10-10", mexican_starter=3)
    board.do("5-4@0")
    assert board.legal == {"9-2@M", "pass"}
    board.do("9-2@M")
    assert board.now == (1, "play")


def test_drive_a_failed_extra_on_the_own_train_marks_it() -> None:
    board = Board.of(
        SWAN, ["5-5 6-3 9-0", *OTHERS], {0: "12-5", 1: "12-7"}, "10-10", markers=[False, True, False, False]
    )
    board.do("5-5@0")
    assert (board.now, board.legal) == ((0, "extra"), {"draw"})
    board.do("draw", "pass")
    assert board.game.markers == [True, True, False, False]
    assert board.now == (2, "cover")  # seat 1 is marked


def test_drive_goes_on_after_a_double_on_the_own_train_is_covered() -> None:
    board = Board.of(SWAN, ["5-5 6-3 9-0", *OTHERS], LINE, "5-1 10-10", markers=[False, True, False, False])
    board.do("5-5@0")
    assert board.legal == {"6-3@1", "draw"}
    board.do("draw", "5-1@0")  # by the drawn tile
    assert (board.now, board.legal) == ((0, "drive"), {"6-3@1", "pass"})


def test_drive_is_over_when_the_extra_of_a_stop_fails() -> None:
    board = Board.of(SWAN, ["5-4 6-6 7-1 3-0", *OTHERS], LINE, "10-10", markers=[False, True, False, False])
    board.do("5-4@0", "6-6@1")
    assert (board.now, board.legal) == ((0, "extra"), {"draw"})
    board.do("draw", "pass")
    assert board.game.markers == [False, True, False, False]  # the train of the double was marked already
    assert board.game.in_force == [(6, 1)]
    assert board.now == (1, "cover")  # its marked owner


def test_drive_does_not_go_with_delayed_chains_or_partners() -> None:
    with pytest.raises(RulesetError, match="swan_drive=True with opening="):
        rules("wikipedia_swan_drive", 4, opening="delayed")
    with pytest.raises(RulesetError, match="swan_drive=True with partners="):
        rules("wikipedia_swan_drive", 4, partners=True)


def test_a_position_asks_nobody_who_is_skipped() -> None:
    position = {
        "hands": [[(5, 1), (9, 8)], [(9, 1), (2, 1)], [(9, 3), (12, 7)]],
        "trains": [[], [], [], [(12, 5), (5, 5)]],
        "boneyard": [],
        "markers": [True, True, True],
    }
    rules = preset("wikipedia", players=3)
    game = Game.from_position(rules, position)
    assert [game.actions.decode(a).tile for a in game.legal_actions()] == [(5, 1), None]
    with pytest.raises(PositionError, match="to_move: seat 0 is skipped"):
        Game.from_position(rules, position | {"markers": [True, False, False]})
