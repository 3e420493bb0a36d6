"""The edge cases of the rules, one by one; all results worked out by hand. `wikipedia` has a file of its own.

The double-12 set with engine 12 unless a test says otherwise. Tiles named nowhere are out of the game.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from mexenv.games import Game
from mexenv.observation import make_layout
from mexenv.rules import Ruleset, preset
from mexenv.rules.tiles import all_tiles
from tests.games.board import Board, tiles

ALL = ("parsons", "dominos_cc", "pagat", "highest_double", "tournament")
WITH_EXTRA = ("parsons", "dominos_cc", "pagat")  # the extra may go anywhere


def rules(name: str, players: int = 3, **changes: Any) -> Ruleset:
    return preset(name, players=players, **changes)


def small(name: str, set_max: int, players: int = 2, hand_size: int = 2, **changes: Any) -> Ruleset:
    return preset(name, set_max=set_max, players=players, hand_size=hand_size, **changes)


def stacked(ruleset: Ruleset, hands: list[str], boneyard: str = "", last: str = "") -> list[Any]:
    """A whole pile that begins with given hands and boneyard and ends with given tiles."""
    front = [tile for hand in hands for tile in tiles(hand)] + tiles(boneyard)
    back = tiles(last)
    engine = {(ruleset.set_max, ruleset.set_max)} if ruleset.engine_from == "aside" else set()
    rest = [tile for tile in all_tiles(ruleset.set_max) if tile not in {*front, *back, *engine}]
    return [front + rest + back]


# --- 1 to 5: doubles in a turn --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["parsons", "dominos_cc", "pagat", "highest_double", "wikipedia"])
def test_01_last_tile_is_a_double_is_out(name: str) -> None:
    board = Board.of(rules(name), ["5-5", "4-3", "2-1 11-0"], {0: "12-5"})
    board.do("5-5@0")
    assert board.last_round["out"] == [0]
    assert board.last_round["scores"] == [0, 7, 14]
    assert not board.last_round["blocked"]


def test_01_tournament_last_tile_is_a_double_is_not_out() -> None:
    board = Board.of(rules("tournament"), ["5-5", "4-3", "2-1"], {0: "12-5"}, "11-0")
    board.do("5-5@0")
    assert board.now == (0, "extra")
    assert board.legal == {"draw"}
    assert board.game.round_history == []


@pytest.mark.parametrize("name", [*WITH_EXTRA, "wikipedia"])
def test_02_last_two_tiles_are_doubles_on_two_trains_out_in_one_turn(name: str) -> None:
    board = Board.of(rules(name), ["5-5 9-9", "4-3", "2-1"], {0: "12-5", "M": "12-9"})
    board.do("5-5@0", "9-9@M")
    assert board.last_round["out"] == [0]
    assert board.last_round["scores"] == [0, 7, 3]


def test_02_highest_double_needs_two_turns() -> None:
    board = Board.of(rules("highest_double"), ["5-5 9-9", "12-3 4-3", "12-1 2-1"], {0: "12-5", "M": "12-9"})
    board.do("5-5@0")
    assert board.now == (1, "play")
    board.do("12-3@1", "12-1@2", "9-9@M")
    assert board.last_round["out"] == [0]


def test_02_tournament_second_double_does_not_fit_the_first() -> None:
    board = Board.of(rules("tournament"), ["5-5 9-9", "4-3", "2-1"], {0: "12-5", "M": "12-9"})
    board.do("5-5@0")
    assert board.legal == {"pass"}


HAND_3 = ["5-5 9-9 9-4 3-2", "12-3 8-1", "12-1 8-2"]
TRAINS_3: dict[int | str, str] = {0: "12-5", "M": "12-9", 1: "12-4"}


def test_03_parsons_third_tile_must_go_on_one_of_the_two_doubles() -> None:
    board = Board.of(rules("parsons"), HAND_3, TRAINS_3, markers=[False, True, False])
    board.do("5-5@0")
    assert board.now == (0, "extra")
    assert board.legal == {"9-9@M", "9-4@M", "9-4@1"}
    board.do("9-9@M")
    assert board.now == (0, "third")
    assert board.legal == {"9-4@M"}
    board.do("9-4@M")
    assert board.game.waiting == [(5, 0)]
    assert board.now == (1, "cover")
    assert board.game.in_force == [(5, 0)]


def test_03_pagat_third_tile_goes_elsewhere_too() -> None:
    board = Board.of(rules("pagat"), HAND_3, TRAINS_3, markers=[False, True, False])
    board.do("5-5@0", "9-9@M")
    assert board.legal == {"9-4@M", "9-4@1"}
    board.do("9-4@1")
    assert board.game.waiting == [(5, 0), (9, 3)]


def test_03_parsons_second_double_needs_its_third_tile() -> None:
    board = Board.of(rules("parsons"), ["5-5 9-9 3-2", "12-3", "12-1"], {0: "12-5", "M": "12-9"})
    board.do("5-5@0")
    assert board.legal == {"pass"}  # 9-9 would leave 3-2, which fits neither double


FOUR: dict[int | str, str] = {0: "12-5", "M": "12-9", 1: "12-7"}


def test_04_parsons_two_doubles_of_three_at_most() -> None:
    board = Board.of(rules("parsons"), ["5-5 9-9 7-7 7-3", "4-3", "2-1"], FOUR, markers=[False, True, False])
    board.do("5-5@0")
    assert board.legal == {"7-7@1", "7-3@1"}  # after 9-9 no third tile would fit
    board.do("7-7@1")
    assert board.legal == {"7-3@1"}


@pytest.mark.parametrize("name", ["dominos_cc", "pagat"])
def test_04_three_doubles_and_a_cover_in_one_turn(name: str) -> None:
    hand = "5-5 9-9 7-7 7-3 11-0"
    board = Board.of(rules(name), [hand, "4-3", "2-1"], FOUR, markers=[False, True, False])
    board.do("5-5@0", "7-7@1", "9-9@M", "7-3@1")
    assert board.game.waiting == [(5, 0), (9, 3)]
    assert board.now == (1, "cover")
    assert board.game.in_force == [(5, 0)]


@pytest.mark.parametrize(("name", "others"), [(n, set()) for n in ("parsons", "dominos_cc", "tournament")] + [
    ("pagat", {"pass"}), ("highest_double", {"pass"}),
])  # fmt: skip
def test_05_a_drawn_double_must_or_may_be_played(name: str, others: set[str]) -> None:
    board = Board.of(rules(name), ["4-3 2-1", "12-3", "12-1"], {0: "12-6"}, "6-6 6-2")
    assert board.legal == {"draw"}
    board.do("draw")
    assert board.game.drawn == (6, 6)
    assert board.legal == {"6-6@0"} | others
    board.do("6-6@0")
    if name == "highest_double":
        assert board.now == (1, "play")  # no extra
    else:
        assert (board.now, board.legal) == ((0, "extra"), {"draw"})
        board.do("draw")
        assert "6-2@0" in board.legal
        board.do("6-2@0")
        assert (board.now, board.game.waiting) == ((1, "play"), [])


# --- 6 to 11: failed extras and covers ------------------------------------------------------------


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_06_no_extra_and_no_boneyard_marks_and_the_round_goes_on(name: str) -> None:
    board = Board.of(rules(name), ["5-5 1-0", "5-3 12-4", "12-2 2-0"], {0: "12-5"})
    board.do("5-5@0")
    assert board.legal == {"pass"}
    board.do("pass")
    assert board.game.markers == [True, False, False]
    assert board.now == (1, "cover")
    assert not board.game.round_history


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_07_failed_extra_of_a_double_on_the_mexican_train_marks_the_player(name: str) -> None:
    board = Board.of(rules(name), ["5-5 1-0", "5-3 12-4", "12-2"], {"M": "12-5", 0: "12-8"}, "2-1")
    board.do("5-5@M", "draw", "pass")
    assert board.game.markers == [True, False, False]


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_08_failed_extra_of_a_double_on_a_foreign_train_marks_the_player(name: str) -> None:
    board = Board.of(
        rules(name), ["5-5 1-0", "5-3 12-4", "12-2"], {2: "12-5", 0: "12-8"}, "2-1",
        markers=[False, False, True],
    )  # fmt: skip
    board.do("5-5@2", "draw", "pass")
    assert board.game.markers == [True, False, True]
    assert board.game.in_force == [(5, 2)]


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_09_marker_down_as_the_double_lands_and_up_when_the_extra_fails(name: str) -> None:
    board = Board.of(
        rules(name), ["5-5 1-0", "5-3", "12-2"], {0: "12-5"}, "2-1", markers=[True, False, False]
    )
    board.do("5-5@0")
    assert board.game.markers == [False, False, False]
    board.do("draw", "pass")
    assert board.game.markers == [True, False, False]


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_10_next_player_must_cover_on_a_private_train(name: str) -> None:
    board = Board.of(rules(name), ["1-0 9-8", "5-3 12-4", "12-2"], {0: "12-5 5-5"}, to_move=1)
    assert board.game.markers == [False, False, False]
    assert board.now == (1, "cover")
    assert board.legal == {"5-3@0"}
    board.do("5-3@0")
    assert board.game.markers == [False, False, False]  # the train stays private
    assert board.now == (2, "play")
    assert board.legal == {"12-2@2", "12-2@M"}


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_11_drawn_tile_that_is_no_cover_is_not_playable(name: str) -> None:
    board = Board.of(rules(name), ["1-0 9-8", "3-2 8-4", "12-2"], {0: "12-5 5-5"}, "12-7 5-4", to_move=1)
    board.do("draw")
    assert board.game.drawn == (12, 7)  # fits the own train
    assert board.legal == {"pass"}
    board.do("pass")
    assert board.game.markers == [False, True, False]
    assert board.now == (2, "cover")


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_11_a_drawn_cover_must_be_played(name: str) -> None:
    board = Board.of(rules(name), ["1-0 9-8", "3-2 8-4", "12-2"], {0: "12-5 5-5"}, "5-4", to_move=1)
    board.do("draw")
    assert board.legal == {"5-4@0"}  # under pagat too, where other drawn tiles may be kept


# --- 12 and 13: dead doubles and blocks -----------------------------------------------------------

# Double-3, engine 3: 3-2, 2-1 and 2-0 are out, so nothing will ever cover 2-2.
DEAD: dict[int | str, str] = {0: "3-2", "M": "3-1 1-2 2-0"}


@pytest.mark.parametrize("name", WITH_EXTRA)
def test_12_dead_double_waits_to_the_block(name: str) -> None:
    board = Board.of(small(name, 3), ["2-2 1-1", "0-0 1-0"], DEAD)
    board.do("2-2@0")
    assert (board.now, board.legal) == ((0, "extra"), {"pass"})
    board.do("pass")
    assert (board.now, board.legal) == ((1, "cover"), {"pass"})  # though 0-0 fits the Mexican Train
    board.do("pass")
    if name != "dominos_cc":
        assert (board.now, board.legal) == ((0, "cover"), {"pass"})
        board.do("pass")
    assert board.last_round["blocked"]
    assert board.last_round["out"] == []
    assert board.last_round["scores"] == [2, 1]


def test_12_released_dead_double_owes_nothing() -> None:
    board = Board.of(small("tournament", 3), ["2-2 1-1", "0-0 1-0"], DEAD)
    board.do("2-2@0")
    assert board.game.waiting == []
    assert board.now == (1, "play")
    assert board.legal == {"0-0@M", "1-0@M"}
    assert board.game.markers == [False, False]


def test_12_released_when_the_last_tile_of_its_value_is_laid_elsewhere() -> None:
    trains: dict[int | str, str] = {0: "3-2", "M": "3-0 0-2"}
    for dead, waiting, stage in (("released", [], "play"), ("waits", [(2, 0)], "cover")):
        ruleset = small("tournament", 3, extra="anywhere", dead_double=dead)
        board = Board.of(ruleset, ["2-2 2-1 0-0", "1-0 1-1"], trains)
        board.do("2-2@0", "2-1@M")
        assert board.game.waiting == waiting
        assert board.now == (1, stage)
        kinds = [event.kind for event in board.game.events]
        assert ("released" in kinds) == (dead == "released")


def test_12_empty_hand_goes_out_when_its_last_double_dies() -> None:
    trains: dict[int | str, str] = {0: "3-2", "M": "3-0 0-2"}
    ruleset = small("tournament", 3, cover_duty=False, extra="anywhere")
    board = Board.of(ruleset, ["2-2", "2-1 1-1"], trains)
    board.do("2-2@0", "pass")
    assert board.now == (1, "play")
    board.do("2-1@M")
    assert board.last_round["out"] == [0]
    assert board.last_round["scores"] == [0, 2]


@pytest.mark.parametrize(("name", "passes"), [("dominos_cc", 2), ("parsons", 4), ("pagat", 4)])
def test_13_double_in_force_and_nobody_covers_is_blocked(name: str, passes: int) -> None:
    # 12-4 and 12-2 would fit, but 5-5 is in force. Under `stalled` the last new marker (the third pass)
    # starts the count anew, so that two more passes are needed.
    board = Board.of(
        rules(name), ["1-0 9-8", "12-4", "12-2"], {0: "12-5 5-5"}, to_move=1, passed=[0],
        markers=[True, False, False],
    )  # fmt: skip
    for done in range(passes):
        assert not board.game.round_history, f"blocked after {done} passes"
        assert board.legal == {"pass"}
        board.do("pass")
    assert board.last_round["blocked"]
    assert board.last_round["scores"] == [18, 16, 14]


# --- 15 to 18: trains of others, openings ---------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_15_a_marked_unstarted_train_may_be_started_by_others(name: str) -> None:
    board = Board.of(
        rules(name), ["7-3 9-8", "12-7 4-0", "12-2 6-1"], {}, to_move=1, markers=[True, False, False]
    )
    assert board.legal == {"12-7@1", "12-7@0", "12-7@M"}
    board.do("12-7@0")
    assert board.game.ends[0] == [7]
    board.do("12-2@2")
    assert board.legal == {"7-3@0"}  # its owner goes on from the new end
    board.do("7-3@0")
    assert board.game.markers[0] is False


def test_16_pagat_opening_uses_the_own_train_only() -> None:
    hands = ["12-5 4-3", "12-7 4-0", "12-2 6-1"]
    board = Board.of(
        rules("pagat"), hands, {1: "12-8"}, opening=True, starter=2, markers=[False, True, False]
    )
    assert board.now == (0, "opening")
    assert board.legal == {"12-5@0"}  # neither the Mexican Train nor a marked one, and no way round it
    board.do("12-5@0")
    assert board.legal == {"pass"}


def test_17_trailing_doubles_of_the_opening_come_in_force_in_order() -> None:
    hands = ["12-5 5-5 1-0 8-3", "12-7 8-4 2-0", "12-9 9-9 6-1"]
    board = Board.of(rules("pagat"), hands, {}, "5-4 11-10", opening=True)
    board.do("12-5@0", "5-5@0", "pass")
    assert board.now == (1, "opening")  # nothing is in force during the opening
    assert board.game.in_force == []
    board.do("12-7@1", "pass", "12-9@2", "9-9@2", "pass")
    assert board.now == (0, "cover")
    assert board.game.waiting == [(5, 0), (9, 2)]
    assert board.game.in_force == [(5, 0)]
    board.do("draw", "5-4@0")
    assert board.now == (1, "cover")
    assert board.game.in_force == [(9, 2)]


def test_17_a_double_inside_the_chain_owes_nothing() -> None:
    hands = ["12-5 5-5 5-3 1-0", "12-7 8-4", "12-9 6-1"]
    board = Board.of(rules("pagat"), hands, {}, opening=True)
    board.do("12-5@0", "5-5@0", "5-3@0", "pass", "12-7@1", "pass", "12-9@2", "pass")
    assert board.now == (0, "play")
    assert board.game.waiting == []


def test_18_first_player_cannot_cover_and_the_next_seat_is_asked() -> None:
    hands = ["12-5 8-3", "12-7 8-4", "12-6 10-1", "12-9 9-9 6-1"]
    board = Board.of(rules("pagat", 4), hands, {}, "5-4 11-10", opening=True, starter=0)
    board.do("12-5@0", "pass", "12-7@1", "pass", "12-6@2", "pass", "12-9@3", "9-9@3", "pass")
    assert board.now == (0, "cover")
    assert board.game.in_force == [(9, 3)]
    board.do("draw", "pass")
    assert board.game.markers == [True, False, False, False]
    assert board.now == (1, "cover")


# --- 20 to 28: Mexican Train, engines, deals ------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_20_one_engine_tile_may_start_either_train(name: str) -> None:
    board = Board.of(rules(name), ["12-5 4-3", "12-7 4-0", "12-2 6-1"])
    assert board.legal == {"12-5@0", "12-5@M"}


@pytest.mark.parametrize("name", ["parsons", "dominos_cc", "highest_double", "tournament"])
def test_21_trains_stay_unstarted_when_the_engine_tiles_are_out(name: str) -> None:
    ruleset = small(name, 3, 3)
    rng = random.Random(1)
    for _ in range(20):
        game = Game.from_position(
            ruleset,
            {
                "hands": [tiles("2-2"), tiles("1-1 1-0"), tiles("0-0 2-1")],
                "trains": [tiles("3-0"), tiles("3-1"), [], tiles("3-2")],
                "boneyard": tiles("2-0"),
                "to_move": 2,
            },
            episode="round",
        )
        while not game.over:
            assert game.ends[2] == [3]
            game.step(rng.choice(game.legal_actions()))
        assert game.lengths[2] == 0


@pytest.mark.parametrize("name", ALL)
def test_22_there_is_no_second_mexican_train(name: str) -> None:
    board = Board.of(rules(name), ["12-5 4-3", "12-7", "12-2"], {"M": "12-8"})
    assert board.legal == {"12-5@0"}


@pytest.mark.parametrize("name", ["parsons", "dominos_cc_full", "tournament", "pagat", "wikipedia"])
def test_26_round_of_the_double_blank(name: str) -> None:
    for seed in range(5):
        game = Game(preset(name, players=3), seed=seed, episode="round", engine=12)
        assert game.engine == 0
        assert not any((0, 0) in hand for hand in game.hands)
        assert (0, 0) not in game.boneyard
        assert game.ends == [[0], [0], [0], []]
        for action in game.legal_actions():
            tile = game.actions.decode(action).tile
            assert tile is None or 0 in tile


@pytest.mark.parametrize("name", ["pagat", "wikipedia", "highest_double"])
def test_27_hands_of_45_after_the_engine_search(name: str) -> None:
    ruleset = preset(name, players=2)
    doubles = [(v, v) for v in range(12, -1, -1)]
    if name != "highest_double":  # the engine is the very last tile
        pile = [t for t in all_tiles(12) if t != (12, 12)] + [(12, 12)]
        sizes = [45, 45]  # 15 dealt, 30 laps, and the engine that is laid at once
    else:  # nobody holds a double before the last lap
        pile = [t for t in all_tiles(12) if t not in doubles] + doubles[::-1]
        sizes = [15 + 25, 15 + 24]  # 48 plain tiles in 24 laps, then 0-0 and 1-1: 1-1 is laid
    game = Game(ruleset, seed=0, episode="round", deals=[pile], first_starter=0)
    assert sorted(len(hand) for hand in game.hands) == sorted(sizes)
    rng = random.Random(name)
    while not game.over:
        for layout in ("base", "plan"):
            seen = game.observe(layout=layout)
            assert seen.min() >= -1 and seen.max() <= 1
        game.step(rng.choice(game.legal_actions()))


def test_27_highest_of_a_whole_lap() -> None:
    ruleset = preset("highest_double", players=2)
    doubles = [(v, v) for v in range(13)]
    pile = [t for t in all_tiles(12) if t not in doubles] + doubles
    game = Game(ruleset, seed=0, episode="round", deals=[pile])
    # The lap in which the first doubles come is 0-0 to seat 0 and 1-1 to seat 1; both look, 1-1 is higher.
    assert game.engine == 1
    assert game.starter == 0  # left of its holder
    assert (0, 0) in game.hands[0]
    assert (2, 2) in game.boneyard


@pytest.mark.parametrize("first", [0, 1, 2])
def test_28_engine_is_the_last_tile_of_the_boneyard(first: int) -> None:
    # 91 tiles, 3 x 15 dealt, 46 left: 15 whole laps, then a short lap of one tile, the engine.
    ruleset = preset("pagat", players=3)
    pile = [t for t in all_tiles(12) if t != (12, 12)] + [(12, 12)]
    game = Game(ruleset, seed=0, episode="round", deals=[pile], first_starter=first)
    assert game.boneyard == []
    assert game.starter == 0  # laps begin at seat 0 in the first round, whoever would have started
    assert [len(hand) for hand in game.hands] == [30, 30, 30]


def test_28_short_lap_stops_at_the_engine_whole_lap_does_not() -> None:
    ruleset = preset("pagat", players=3, hand_size=10)
    plain = [t for t in all_tiles(12) if t != (12, 12)]
    # 61 tiles after the deal; the engine is the first of the last whole lap: everybody still draws.
    game = Game(ruleset, seed=0, episode="round", deals=[[*plain[:87], (12, 12), *plain[87:]]])
    assert [len(hand) for hand in game.hands] == [29, 30, 30]
    assert game.boneyard == plain[89:]
    # 91 tiles, 40 dealt, 12 whole laps of four, three left: the engine is the first of that short lap.
    ruleset = preset("pagat", players=4, hand_size=10)
    pile = [*plain[:88], (12, 12), *plain[88:]]
    game = Game(ruleset, seed=0, episode="round", deals=[pile])
    assert game.starter == 0
    assert game.boneyard == plain[88:]
    assert [len(hand) for hand in game.hands] == [22, 22, 22, 22]


def test_search_laps_begin_at_the_previous_starter() -> None:
    ruleset = preset("pagat", players=2, set_max=3, hand_size=2)
    first = stacked(ruleset, ["2-1 2-0", "3-3 3-0"])[0]
    # Second round: engine 2-2 is the first tile of the boneyard, and seat 1 started the first round.
    second = stacked(ruleset, ["3-3 2-1", "1-1 3-0"], "2-2")[0]
    game = Game(ruleset, seed=0, deals=[first, second])
    assert game.starter == 1
    rng = random.Random(3)
    while game.round_index == 0:
        game.step(rng.choice(game.legal_actions()))
    assert (game.engine, game.starter) == (2, 1)
    assert [len(hand) for hand in game.hands] == [3, 2]  # a whole lap: seat 0 drew too


def test_search_finds_the_highest_of_a_lap_and_stops_a_short_one() -> None:
    plain = tiles("3-2 3-1 3-0 2-1 2-0 1-0")
    game = Game(small("highest_double", 3, 4), seed=0, deals=[[*plain, *tiles("0-0 1-1 2-2 3-3")]])
    assert (game.engine, game.starter) == (1, 0)  # seat 3 holds 1-1 from the deal, nobody searches
    game = Game(small("highest_double", 3, 3), seed=0, deals=[[*plain, *tiles("0-0 1-1 2-2 3-3")]])
    # A whole lap of three after the six plain tiles: 0-0, 1-1, 2-2; the highest counts.
    assert (game.engine, game.starter, game.boneyard) == (2, 0, [(3, 3)])
    # Double-4: 10 plain tiles; 4 x 2 dealt, a whole lap of four (two plain, 0-0, 1-1) finds 1-1 at seat 3.
    plain = [t for t in all_tiles(4) if t[0] != t[1]]
    game = Game(small("highest_double", 4, 4), seed=0, deals=[[*plain, *tiles("0-0 1-1 2-2 3-3 4-4")]])
    assert (game.engine, game.starter, game.boneyard) == (1, 0, tiles("2-2 3-3 4-4"))
    # Double-3, three players with 2: the short lap needs plain tiles up to the end, which a whole set
    # cannot have with so few; so its order is checked with the engine that is dealt.
    pile = [t for t in all_tiles(3) if t != (3, 3)]
    game = Game(small("pagat", 3, 4), seed=0, deals=[[*pile[:8], (3, 3), pile[8]]])
    assert (game.engine, game.starter, game.boneyard) == (3, 0, [pile[8]])


# --- 31 to 36 -------------------------------------------------------------------------------------


def test_31_winner_takes_is_shared_in_a_blocked_round() -> None:
    board = Board.of(
        preset("pagat_winner_takes"), ["5-4", "6-3", "11-9", "11-10 8-1"], {},
        markers=[True] * 4, passed=[1, 2, 3],
    )  # fmt: skip
    board.do("pass")
    assert board.last_round["blocked"]
    assert board.last_round["scores"] == [25, 25, 0, 0]
    assert board.game.places == [1, 1, 3, 3]


def test_31_winner_takes_keeps_fractions() -> None:
    board = Board.of(
        preset("pagat_winner_takes"), ["5-4", "6-3", "8-1", "11-9"], {},
        markers=[True] * 4, passed=[1, 2, 3],
    )  # fmt: skip
    board.do("pass")
    assert board.last_round["scores"] == pytest.approx([20 / 3] * 3 + [0])


def test_31_winner_takes_when_somebody_is_out() -> None:
    board = Board.of(preset("pagat_winner_takes"), ["12-5", "6-3", "11-9", "0-0"])
    board.do("12-5@0")
    assert board.last_round["scores"] == [29, 0, 0, 0]


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_33_a_plain_end_of_the_same_value_is_no_cover(name: str) -> None:
    board = Board.of(
        rules(name), ["6-4 1-0", "12-9", "6-3 6-2 12-1"], {1: "12-6 6-6", "M": "12-8 8-6"}, to_move=2
    )
    assert board.now == (2, "cover")
    assert board.legal == {"6-3@1", "6-2@1"}


@pytest.mark.parametrize("name", [*WITH_EXTRA, "tournament"])
def test_34_a_double_covered_in_the_same_turn_leaves_no_duty(name: str) -> None:
    board = Board.of(rules(name), ["5-5 5-3 1-0", "12-9 2-0", "12-1 2-1"], {0: "12-5"})
    board.do("5-5@0", "5-3@0")
    assert board.game.waiting == []
    assert board.now == (1, "play")


@pytest.mark.parametrize(("name", "marker"), [(n, n != "pagat") for n in ALL])
def test_35_drawn_tile_on_the_mexican_train_and_the_own_marker(name: str, marker: bool) -> None:
    board = Board.of(
        rules(name), ["4-3 1-0", "12-9 2-0", "12-1 2-1"], {0: "12-5", "M": "12-8"}, "8-2",
        markers=[True, False, False],
    )  # fmt: skip
    board.do("draw", "8-2@M")
    assert board.game.markers == [marker, False, False]


def test_36_the_longest_chain_revisits_a_value() -> None:
    board = Board.of(
        rules("pagat"), ["12-5 7-5 12-7 12-3 8-1", "12-9 2-0", "12-1 2-1"], {}, opening=True, starter=0
    )
    plan = board.game.observe(layout="plan", dtype="int8")
    assert make_layout("plan", board.game.ruleset)["trail"].of(plan)[1] == 4
    board.do("12-7@0", "7-5@0", "12-5@0", "12-3@0")
    assert board.legal == {"pass"}
    assert board.game.trains[0] == [(12, 7), (7, 5), (5, 12), (12, 3)]
