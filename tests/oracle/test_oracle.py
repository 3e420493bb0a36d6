"""Hand-worked positions for the reference engine, and random play.

Most piles are no whole set: the oracle deals what it is given, so a few tiles are enough to reach a point.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from . import MEXICAN, OracleGame
from .sample_rules import (
    BASES,
    DOMINOS_CC,
    FLAT_WIKIPEDIA,
    HIGHEST_DOUBLE,
    PAGAT,
    PARSONS,
    TOURNAMENT,
    WIKIPEDIA,
    all_tiles,
    random_piles,
)
from .scoring import rank, round_points
from .table import Action, Tile

DRAW: Action = ("draw",)
PASS: Action = ("pass",)


def t(text: str) -> list[Tile]:
    """Reads tiles such as "6-5 3-3"."""
    pairs = [tuple(int(half) for half in word.split("-")) for word in text.split()]
    return [(max(pair), min(pair)) for pair in pairs]


def game(rules: dict[str, Any], hands: list[str], boneyard: str = "", **changes: Any) -> OracleGame:
    """Sets up one round with given hands (all of one size) and boneyard; engine 6 unless dealt otherwise."""
    dealt = [t(hand) for hand in hands]
    assert len({len(hand) for hand in dealt}) == 1
    full = {**rules, "hand_size": len(dealt[0]), **changes}
    return OracleGame(full, len(hands), [[tile for hand in dealt for tile in hand] + t(boneyard)], 0)


def play(text: str, train: int | str, half: int) -> Action:
    """Builds a play."""
    return ("play", t(text)[0], train, half)


def run(position: OracleGame, *actions: Action) -> OracleGame:
    """Applies some actions."""
    for action in actions:
        position.step(action)
    return position


# ---------------------------------------------------------------------- ordinary turns


def test_first_tile_goes_to_own_or_common_train() -> None:
    position = game(PARSONS, ["6-5 4-3", "6-2 2-1"], "5-0")
    assert set(position.legal_actions()) == {play("6-5", 0, 6), play("6-5", MEXICAN, 6)}
    assert position.ends == {0: [6], 1: [6], MEXICAN: []}
    run(position, play("6-5", MEXICAN, 6))
    assert position.ends[MEXICAN] == [5]
    assert position.to_move == 1
    assert play("6-2", MEXICAN, 6) not in position.legal_actions()  # no second common train


def test_draw_pass_and_marker() -> None:
    position = game(DOMINOS_CC, ["5-4 4-3", "6-2 2-1"], "5-0 6-1")
    assert position.legal_actions() == [DRAW]
    run(position, DRAW)
    assert position.drawn is None
    assert position.legal_actions() == [PASS]
    run(position, PASS)
    assert position.markers == [True, False]
    # Marked trains are usable, started or not; the owner goes on from the new end.
    run(position, play("6-2", 0, 6))
    assert position.ends[0] == [2]
    assert position.markers[0]


def test_drawn_tile_must_or_may_be_played() -> None:
    for rules, after in ((DOMINOS_CC, []), ({**PARSONS, "must_play_drawn": False}, [PASS])):
        position = game(rules, ["5-4 4-3", "6-2 2-1"], "6-0")
        run(position, DRAW)
        assert position.drawn == (6, 0)
        assert [action for action in position.legal_actions() if action[0] != "play"] == after


def test_several_draws() -> None:
    position = game(PARSONS, ["5-4 4-3", "6-2 2-1"], "5-0 6-1 1-1", draws="until_playable")
    run(position, DRAW)
    assert position.legal_actions() == [DRAW]
    run(position, DRAW)
    assert position.drawn == (6, 1)
    assert DRAW not in position.legal_actions()


def test_refused_action_changes_nothing() -> None:
    position = game(PARSONS, ["6-5 4-3", "6-2 2-1"], "5-0")
    before = copy.deepcopy(vars(position)["hands"]), position.ends
    with pytest.raises(ValueError):
        position.step(PASS)
    assert (position.hands, position.ends) == before


def test_common_train_after_own_one() -> None:
    position = game(
        {**FLAT_WIKIPEDIA, "engine_from": "aside", "starter": "rotate", "opening": "single"},
        ["6-5 6-3", "6-2 2-1"],
        "1-0",
    )
    assert {action[2] for action in position.legal_actions() if action[0] == "play"} == {0}
    run(position, play("6-5", 0, 6), play("6-2", 1, 6))
    assert play("6-3", MEXICAN, 6) in position.legal_actions()


def test_marker_of_an_own_train_without_a_match() -> None:
    position = game(HIGHEST_DOUBLE, ["6-6 2-1 3-2", "6-5 6-4 4-1", "5-4 4-3 3-1"], "1-0")
    # Seat 0 held the engine, so its left neighbour starts.
    assert (position.engine, position.starter, position.to_move) == (6, 1, 1)
    run(position, play("6-5", MEXICAN, 6))
    assert position.markers == [False, False, False]  # 6-4 would have fitted the own train
    run(position, play("5-4", MEXICAN, 5))
    assert position.markers == [False, False, True]


# ---------------------------------------------------------------------- doubles


def test_last_tile_a_double_is_out() -> None:
    position = game(PARSONS, ["6-5 5-5", "6-2 2-1"], "1-0")
    run(position, play("6-5", 0, 6), play("6-2", 1, 6), play("5-5", 0, 5))
    assert position.to_move is None
    assert position.round_history[0]["out"] == [0]
    assert position.round_history[0]["scores"] == [0, 3]


def two_doubles(rules: dict[str, Any], hand: str, **changes: Any) -> OracleGame:
    """Seat 0 to move with ends 5 (own) and 4 (common)."""
    spare = "3-0 2-0 1-0 2-2"
    start = game(
        rules, [f"6-5 {hand}", f"6-4 {spare}"[: 4 + 4 * len(hand.split()) - 1]], "0-0 1-1", **changes
    )
    return run(start, play("6-5", 0, 6), play("6-4", MEXICAN, 6))


def test_two_doubles_need_a_third_tile() -> None:
    position = two_doubles(PARSONS, "5-5 4-4 4-1")
    run(position, play("5-5", 0, 5))
    assert set(position.legal_actions()) == {play("4-4", MEXICAN, 4), play("4-1", MEXICAN, 4)}
    run(position, play("4-4", MEXICAN, 4))
    assert position.stage == "third"
    assert position.legal_actions() == [play("4-1", MEXICAN, 4)]
    run(position, play("4-1", MEXICAN, 4))
    assert position.to_move is None  # the hand is empty

    position = two_doubles(PARSONS, "5-5 4-4 3-1")
    assert run(position, play("5-5", 0, 5)).legal_actions() == [DRAW]


def test_two_doubles_as_last_tiles_go_out() -> None:
    for rules in (PARSONS, DOMINOS_CC):
        position = two_doubles(rules, "5-5 4-4")
        run(position, play("5-5", 0, 5), play("4-4", MEXICAN, 4))
        assert position.round_history[0]["out"] == [0]


def test_open_doubles_wait_in_order() -> None:
    position = two_doubles(DOMINOS_CC, "5-5 4-4 3-1 3-3")
    run(position, play("5-5", 0, 5), play("4-4", MEXICAN, 4))
    assert position.waiting == [(5, 0), (4, MEXICAN)]
    assert position.in_force == []
    run(position, DRAW, PASS)
    assert position.markers == [True, False]
    assert position.stage == "cover"
    assert position.in_force == [(5, 0)]
    lifo = two_doubles({**DOMINOS_CC, "cover_order": "lifo"}, "5-5 4-4 3-1 3-3")
    run(lifo, play("5-5", 0, 5), play("4-4", MEXICAN, 4), DRAW, PASS)
    assert lifo.in_force == [(4, MEXICAN)]


def test_only_the_double_itself_can_be_covered() -> None:
    position = game(DOMINOS_CC, ["6-5 5-5 4-4", "6-1 5-1 2-1"], "4-1 3-0")
    run(position, play("6-5", 0, 6), play("6-1", 1, 6), play("5-5", 0, 5), DRAW, PASS)
    assert position.legal_actions() == [play("5-1", 0, 5)]  # on a private train, though 2-1 fits the own one
    run(position, play("5-1", 0, 5))
    assert position.in_force == []
    assert position.markers == [True, False]  # it was marked by the failed extra


def test_drawn_tile_that_fits_elsewhere_is_no_cover() -> None:
    position = game(DOMINOS_CC, ["6-5 5-5 4-4", "6-1 3-2 2-0"], "4-2 2-1")
    run(position, play("6-5", 0, 6), play("6-1", 1, 6), play("5-5", 0, 5), DRAW, PASS, DRAW)
    assert position.drawn is None
    assert position.legal_actions() == [PASS]


def test_extra_must_go_on_the_double() -> None:
    position = two_doubles(TOURNAMENT, "5-5 4-2 5-3")
    run(position, play("5-5", 0, 5))
    assert position.legal_actions() == [play("5-3", 0, 5)]


def test_dead_double_waits_or_is_released() -> None:
    order = [play("2-0", 0, 2), play("2-1", 1, 2), play("1-0", 0, 0), play("1-1", 0, 1)]
    hands = ["2-0 1-0 1-1 0-0", "2-1 3-3 4-4 5-5"]  # a double-2 set with strangers that never fit
    for rules, stage, mover in ((PARSONS, "extra", 0), ({**PARSONS, "dead_double": "released"}, "play", 1)):
        position = game(rules, hands, "", set_max=2)
        assert position.engine == 2
        position.step(order[0])
        position.step(order[1])
        position.step(order[2])
        position.step(PASS)
        position.step(order[3])
        assert (position.stage, position.to_move) == (stage, mover)
        assert position.waiting == ([(1, 0)] if stage == "extra" else [])
    blocked = game(PARSONS, hands, "", set_max=2)
    run(blocked, *order[:3], PASS, order[3], PASS, PASS)
    assert blocked.round_history[0]["blocked"]


def test_double_as_last_tile_has_to_be_covered() -> None:
    position = game(TOURNAMENT, ["6-5 5-5", "6-1 5-1"], "")
    run(position, play("6-5", 0, 6), play("6-1", 1, 6), play("5-5", 0, 5))
    assert (position.stage, position.legal_actions()) == ("extra", [PASS])
    run(position, PASS)
    run(position, play("5-1", 0, 5))
    assert position.round_history[0]["out"] == [0, 1]


def test_branches_open_after_the_first_cover() -> None:
    rules = {**WIKIPEDIA, "engine_from": "aside", "starter": "rotate", "opening": "single"}
    position = game(rules, ["6-5 5-5 5-4 5-3 5-2 5-1", "6-1 1-1 4-1 3-1 2-1 1-0"], "")
    run(position, play("6-5", 0, 6), play("6-1", 1, 6), play("5-5", 0, 5))
    assert position.ends[0] == [5]
    run(position, play("5-4", 0, 5))
    assert position.ends[0] == [4, 5, 5]
    run(position, PASS, play("5-3", 0, 5), PASS, play("5-2", 0, 5), PASS)
    assert position.ends[0] == [2, 3, 4]
    assert play("5-1", 0, 5) not in position.legal_actions()


def test_three_covers() -> None:
    rules = BASES["chickenfoot"]
    position = game(rules, ["6-5 5-5 5-4 1-1", "6-1 5-3 5-2 0-0"], "")
    run(position, play("6-5", 0, 6), play("6-1", 1, 6), play("5-5", 0, 5))
    assert position.ends[0] == [5, 5, 5]
    run(position, play("5-4", 0, 5), play("5-3", 0, 5))
    assert position.waiting == [(5, 0)]
    run(position, PASS, play("5-2", 0, 5))
    assert (position.waiting, position.ends[0]) == ([], [2, 3, 4])


# ---------------------------------------------------------------------- openings


def test_chain_opening() -> None:
    position = game(PAGAT, ["6-6 6-5 5-4 4-4", "3-2 2-1 1-0 3-0", "6-1 6-0 5-1 5-0"], "2-0 3-3")
    assert (position.stage, position.starter) == ("opening", 0)
    assert position.legal_actions() == [play("6-5", 0, 6)]  # nothing but the own train, and no way round it
    run(position, play("6-5", 0, 6), play("5-4", 0, 5))
    assert position.legal_actions() == [play("4-4", 0, 4), PASS]
    run(position, PASS)
    assert position.legal_actions() == [PASS]
    run(position, PASS)
    assert position.markers == [False, True, False]
    run(position, play("6-1", 2, 6), play("5-1", 2, 1), play("5-0", 2, 5), PASS)
    assert (position.stage, position.to_move) == ("play", 0)
    assert play("4-4", 0, 4) in position.legal_actions()


def test_opening_is_completed_before_the_round_ends() -> None:
    position = game(PAGAT, ["6-6 6-5 5-4", "6-1 1-2 2-2", "6-3 6-4 3-0"], "2-0")
    run(position, play("6-5", 0, 6), play("5-4", 0, 5))
    run(position, play("6-1", 1, 6), play("2-1", 1, 1), play("2-2", 1, 2))
    assert position.to_move == 2
    run(position, play("6-3", 2, 6), PASS)
    assert position.round_history[0]["out"] == [0, 1]
    assert position.round_history[0]["scores"] == [0, 0, 13]


def test_trailing_doubles_of_the_opening_come_in_force() -> None:
    position = game(PAGAT, ["6-6 6-5 4-4", "6-1 1-1 3-2", "6-2 1-0 3-0"], "5-4 4-1")
    run(
        position, play("6-5", 0, 6), PASS, play("6-1", 1, 6), play("1-1", 1, 1), PASS, play("6-2", 2, 6), PASS
    )
    assert (position.to_move, position.in_force) == (0, [(1, 1)])
    run(position, DRAW, PASS)
    assert position.markers[0]
    assert position.to_move == 1


def test_delayed_chain() -> None:
    rules = {**BASES["delayed"], "engine_from": "aside", "starter": "rotate"}
    position = game(rules, ["5-4 4-3 3-3", "6-1 1-2 0-0"], "6-5 2-0")
    run(position, DRAW, play("6-5", 0, 6))
    assert position.stage == "chain"
    run(position, play("5-4", 0, 5), PASS)
    run(position, play("6-1", 1, 6), play("2-1", 1, 1), PASS)
    # Both trains are begun: single tiles from now on.
    run(position, play("4-3", 0, 4))
    assert position.to_move == 1


# ---------------------------------------------------------------------- special modes


def test_marked_seats_are_skipped_while_a_double_waits() -> None:
    rules = {**FLAT_WIKIPEDIA, "engine_from": "aside", "starter": "rotate", "opening": "single"}
    position = game(rules, ["6-5 5-5 4-4", "3-2 2-1 1-0", "6-4 5-1 3-0"], "2-0 0-0")
    run(position, play("6-5", 0, 6), DRAW, PASS, play("6-4", 2, 6), play("5-5", 0, 5), DRAW, PASS)
    assert position.markers == [True, True, False]
    assert position.to_move == 2  # seat 1 is marked and not the owner
    run(position, play("5-1", 0, 5))
    assert position.to_move == 0


def test_nobody_is_skipped_when_all_would_be() -> None:
    rules = {**FLAT_WIKIPEDIA, "engine_from": "aside", "starter": "rotate", "opening": "single"}
    rules |= {"mexican_train": "anytime", "failed_extra_marks": "own"}
    position = game(rules, ["6-5 5-5 4-4", "3-2 2-1 5-0"], "3-0")
    run(position, play("6-5", MEXICAN, 6), DRAW, PASS, play("5-5", MEXICAN, 5), PASS)
    assert position.markers == [True, True]
    assert position.to_move == 1
    assert position.legal_actions() == [play("5-0", MEXICAN, 5), PASS]


def test_failed_extra_marks_the_train_of_the_double() -> None:
    rules = {**FLAT_WIKIPEDIA, "engine_from": "aside", "starter": "rotate", "opening": "single"}
    rules |= {"mexican_train": "anytime"}
    position = game(rules, ["6-5 5-5 4-4", "3-2 2-1 5-0"], "3-0 2-0 1-1")
    run(position, play("6-5", MEXICAN, 6), DRAW, PASS, play("5-5", MEXICAN, 5), DRAW, PASS)
    assert position.markers == [False, True]  # the common train has no marker, the player is spared
    assert position.to_move == 0  # the only seat that is not skipped
    run(position, DRAW, PASS)
    assert position.markers == [True, True]
    assert position.to_move == 1  # now nobody is skipped


def test_partners_get_strikes() -> None:
    position = game({**DOMINOS_CC, "partners": True}, ["5-4 4-3", "3-2 2-1", "5-3 6-1", "4-2 1-0"], "")
    run(position, PASS, PASS)
    assert position.markers == [False] * 4
    assert {action[2] for action in position.legal_actions()} == {0, 2, MEXICAN}
    run(position, play("6-1", 0, 6), PASS)
    assert position.markers == [False, True, False, True]
    assert round_points([3, 4, 0, 9], [2], 4, True, "penalty") == [0, 13, 0, 13]


def test_swan_drive() -> None:
    rules = {**BASES["swan"], "engine_from": "aside", "starter": "rotate", "opening": "single"}
    position = game(rules, ["6-5 5-4 6-4 2-1", "3-2 2-0 1-0 4-2", "3-3 1-1 3-0 4-1"], "")
    run(position, play("6-5", 0, 6), PASS, PASS, play("5-4", 0, 5))
    assert position.stage == "drive"
    assert position.legal_actions() == [play("6-4", 1, 6), PASS]  # seat 2's marked train is no target yet
    run(position, play("6-4", 1, 6))
    assert position.legal_actions() == [PASS]
    run(position, PASS)
    assert position.to_move == 1
    assert position.markers == [False, True, True]


def test_wild_blanks() -> None:
    position = game(BASES["wild"], ["6-5 5-0 3-2", "6-4 1-0 3-1"], "")
    run(position, play("6-5", 0, 6))
    assert {play("1-0", 1, 0), play("6-4", 1, 6)} <= set(position.legal_actions())
    run(position, play("6-4", 1, 6))
    assert {play("5-0", 0, 5), play("5-0", 0, 0)} <= set(position.legal_actions())
    run(position, play("5-0", 0, 5))
    assert position.ends[0] == [0]
    run(position, play("1-0", MEXICAN, 0))
    assert position.ends[MEXICAN] == [1]
    assert {play("3-2", 0, 3), play("3-2", 0, 2)} == set(position.legal_actions())


# ---------------------------------------------------------------------- block, engine search, points


def test_block_counts_a_row_or_until_no_marker_rises() -> None:
    hands = ["5-4 4-3", "3-2 2-1"]
    row = run(game(DOMINOS_CC, hands), PASS, PASS)
    assert row.round_history[0]["blocked"]
    assert row.round_history[0]["scores"] == [16, 8]
    stalled = run(game(PARSONS, hands), PASS, PASS)
    assert stalled.to_move == 0
    assert run(stalled, PASS).to_move is None


def test_engine_search_and_empty_boneyard() -> None:
    position = game(PAGAT, ["5-4 4-3", "3-2 2-1", "1-1 0-0"], "5-5 4-4 3-3 2-2 6-6")
    assert (position.starter, position.boneyard) == (1, [])
    assert [len(hand) for hand in position.hands] == [4, 3, 3]


def test_last_round_starts_with_blanks() -> None:
    rules = {**PARSONS, "set_max": 1, "hand_size": 1, "rounds": 2}
    position = OracleGame(rules, 2, [t("1-0 0-0"), t("1-1 1-0")], 0)
    position.step(play("1-0", 0, 1))
    assert position.round_history[0]["scores"] == [0, 0]
    assert (position.engine, position.starter) == (0, 1)
    assert position.legal_actions() == [play("1-0", 1, 0), play("1-0", MEXICAN, 0)]


def test_points_and_places() -> None:
    assert round_points([9, 9, 20, 30], [], 4, False, "winner_takes") == [25, 25, 0, 0]
    assert round_points([0, 5, 7], [0], 3, False, "winner_takes") == [12, 0, 0]
    rounds = [[0, 6], [0, 0], [0, 0], [4, 0], [96, 94]]
    assert rank(rounds, 2, False, "penalty", "zero_rounds") == [1, 2]
    assert rank(rounds, 2, False, "penalty", "share") == [1, 1]


# ---------------------------------------------------------------------- random play


@pytest.mark.parametrize("name", sorted(BASES))
@pytest.mark.parametrize("set_max", [2, 4, 6, 9])
def test_random_play_ends_and_keeps_all_tiles(name: str, set_max: int) -> None:
    rng = random.Random(f"{name}{set_max}")
    players = 4
    for _ in range(6 if set_max > 4 else 30):
        if "partners" not in name:
            players = rng.choice([2, 3] if set_max == 2 else [2, 3, 4])
        tiles = all_tiles(set_max)
        most = (len(tiles) - 1) // players
        low = min(2, most) if BASES[name]["engine_from"] == "aside" else 2
        if most < low:
            continue
        rules = {**BASES[name], "set_max": set_max, "rounds": 2, "hand_size": rng.randint(low, min(most, 12))}
        rules |= {
            "draws": rng.choice([1, 2, "until_playable"]),
            "cover_order": rng.choice(["fifo", "lifo", "any"]),
        }
        position = OracleGame(rules, players, random_piles(rules, rng), rng.randrange(players))
        steps = 0
        while position.to_move is not None:
            options = position.legal_actions()
            assert options and len(set(options)) == len(options)
            held = [tile for hand in position.hands for tile in hand]
            everything = held + position.boneyard + list(position.on_table)
            assert sorted(everything) == sorted(tiles)
            assert sum(position.lengths.values()) == len(position.on_table) - 1
            position.step(rng.choice(options))
            steps += 1
            assert steps < 6000
        assert len(position.round_history) == 2
        assert position.legal_actions() == []
        assert sorted(position.places())[0] == 1
