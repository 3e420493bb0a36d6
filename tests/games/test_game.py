"""One game: copies, records, replays, refusals, positions and deals."""

from __future__ import annotations

import base64
import copy
import json
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mexenv.engine.episode import OPTIONS
from mexenv.engine.play import apply
from mexenv.games import BatchGame, Game, IllegalActionError, PositionError
from mexenv.observation import make_layout
from mexenv.rules import preset
from mexenv.rules.tiles import all_tiles
from tests.games.board import Board, tiles

NAMES = ("parsons", "wikipedia", "pagat", "tournament", "wikipedia_partners", "parsons_wild")


def play(game: Game, rng: random.Random, steps: int = 10**6) -> Game:
    while not game.over and steps:
        game.step(rng.choice(game.legal_actions()))
        steps -= 1
    return game


def midway(name: str, seed: int = 1, steps: int = 90) -> Game:
    """A match in its second round or so."""
    return play(Game(preset(name, set_max=6, hand_size=5), seed=seed), random.Random(seed), steps)


def everything(game: Game) -> tuple[Any, ...]:
    """All that a game consists of, in comparable form."""
    return (
        game._games.tobytes(), game._mask.tobytes(), game._options.tobytes(), game.rewards.tobytes(),
        game.events, game.action_list, game.deals, game._given, game.round_history, game.first_starter,
    )  # fmt: skip


# --- copies and records ---------------------------------------------------------------------------


def restored(game: Game) -> Game:
    other = Game(game.ruleset, seed=99)
    other.restore(game.snapshot())
    return other


def pickled(game: Game) -> Game:
    twin: Game = pickle.loads(pickle.dumps(game))
    return twin


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("twin_of", [Game.clone, copy.deepcopy, copy.copy, pickled, restored])
def test_a_copy_of_a_live_game_goes_on_alike_and_alone(name: str, twin_of: Callable[[Game], Game]) -> None:
    game = midway(name)
    assert not game.over and game.round_index > 0
    before = everything(game)
    twin = twin_of(game)
    assert everything(twin) == before
    play(twin, random.Random(7))
    assert twin.over
    assert everything(game) == before, "the copy plays on its own"
    assert everything(play(game, random.Random(7))) == everything(twin)


def test_a_copy_needs_no_new_compilation() -> None:
    game = midway("parsons")
    compiled = len(apply.signatures)  # type: ignore[attr-defined]
    for twin in (pickled(game), restored(game), copy.deepcopy(game)):
        play(twin, random.Random(1), 20)
    assert len(apply.signatures) == compiled  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_replay_gives_the_same_game(name: str) -> None:
    game = play(Game(preset(name, set_max=6, hand_size=5), seed=4), random.Random(4))
    again = Game.replay(game.ruleset, game.deals, game.action_list, game.first_starter)
    assert again.over
    assert again.events == game.events
    assert again.round_history == game.round_history
    assert (again.totals, again.places) == (game.totals, game.places)


def test_replay_of_one_late_round() -> None:
    game = Game(preset("parsons"), seed=3, episode="round", engine=5)
    play(game, random.Random(3))
    options: dict[str, Any] = {"episode": "round", "engine": 5}
    again = Game.replay(game.ruleset, game.deals, game.action_list, game.first_starter, **options)
    assert again.events == game.events
    assert again.engine == 7


def test_replay_names_the_action_that_does_not_fit() -> None:
    game = midway("parsons")
    actions = [*game.action_list[:10], game.actions.n_actions]
    with pytest.raises(IllegalActionError, match=r"action 10 of the replay: action \d+ is not legal"):
        Game.replay(game.ruleset, game.deals, actions, game.first_starter)


def test_same_seed_same_game_and_other_seed_another() -> None:
    first, second = (play(Game(preset("pagat"), seed=5), random.Random(1)) for _ in range(2))
    assert everything(first) == everything(second)
    assert Game(preset("pagat"), seed=6).deals != Game(preset("pagat"), seed=5).deals
    assert Game(preset("pagat")).deals != Game(preset("pagat")).deals


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.pop("state"),
        lambda content: content.update(format=99),
        lambda content: content.update(state="!"),
        lambda content: content.update(state=content["state"][:40]),
        lambda content: content.update(events=[1, 2]),
        lambda content: content.update(deals=[[[1]]]),
        lambda content: content["ruleset"].update(players=3),
        lambda content: content["ruleset"].update(players=99),
        lambda content: content.update(ruleset=None),
    ],
)
def test_restore_refuses_what_is_no_snapshot_and_changes_nothing(change: Callable[[Any], Any]) -> None:
    game = midway("parsons")
    before = everything(game)
    content = json.loads(game.snapshot())
    change(content)
    with pytest.raises(PositionError, match="snapshot"):
        game.restore(json.dumps(content).encode())
    assert everything(game) == before


@pytest.mark.parametrize("junk", [b"", b"\xff\x00", b"[]", b"7", b"null", pickle.dumps({"format": 1})])
def test_restore_refuses_other_bytes(junk: bytes) -> None:
    with pytest.raises(PositionError, match="snapshot"):
        midway("parsons").restore(junk)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mover", 4), ("starter", 200), ("engine", 7), ("stage", 9), ("pile_end", 29), ("pile_next", 29),
        ("pile_next", -1), ("n_laid", 29), ("drawn", 29), ("q_n", 8), ("round_index", 7), ("chain_end", 7),
        ("chain_train", 9), ("order", 250), ("pile", 30), ("hand", -1), ("hand", 0), ("end_mask", 1 << 7),
        ("hand_n", 9), ("where", 0), ("q_train", 5), ("q_value", 9), ("empty_double", 8),
    ],
)  # fmt: skip
def test_restore_refuses_records_that_would_lead_astray(field: str, value: int) -> None:
    game = midway("parsons")
    while game.in_force == []:
        play(game, random.Random(1), 1)
    before = everything(game)
    broken = game.clone()
    broken._games[field] = value
    with pytest.raises(PositionError, match=r"snapshot: .*(out of range|fit its tiles|in two places)"):
        game.restore(broken.snapshot())
    assert everything(game) == before


def test_restore_refuses_rewards_of_another_size() -> None:
    game = midway("parsons")
    content = json.loads(game.snapshot()) | {"rewards": [0.0]}
    with pytest.raises(PositionError, match="snapshot: the rewards have the wrong size"):
        game.restore(json.dumps(content).encode())


# --- refused actions ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_mask_holds_exactly_the_accepted_actions(name: str) -> None:
    game = Game(preset(name, set_max=4, players=4, hand_size=3, rounds=1), seed=8)
    rng = random.Random(8)
    while not game.over:
        before = everything(game)
        legal = set(game.legal_actions())
        assert legal and set(np.flatnonzero(game.action_mask()).tolist()) == legal
        for action in range(-2, game.actions.n_actions + 3):
            if action in legal:
                game.clone().step(action)
            else:
                with pytest.raises(IllegalActionError):
                    game.step(action)
        assert everything(game) == before
        game.step(rng.choice(sorted(legal)))


@pytest.mark.parametrize(
    "action",
    [
        -1,
        -(2**63),
        2**63,
        10**30,
        0.0,
        3.0,
        np.float32(3),
        True,
        False,
        np.True_,
        "3",
        None,
        [3],
        np.array([3]),
    ],
)
def test_odd_actions_are_refused_in_words(action: Any) -> None:
    board = Board.of(preset("parsons", players=3), ["12-5", "12-4", "12-2"])
    before = everything(board.game)
    with pytest.raises(IllegalActionError, match=r"^action .* is not legal[;:] "):
        board.game.step(action)
    assert everything(board.game) == before


@pytest.mark.parametrize("kind", [int, np.int8, np.int16, np.int32, np.int64, np.uint16, np.uint64])
def test_numpy_integers_are_actions(kind: Callable[[int], Any]) -> None:
    game = Game(preset("parsons", set_max=3, players=2, hand_size=2), seed=1)
    action = game.legal_actions()[0]
    game.step(kind(action))
    assert game.action_list == [action]
    assert type(game.action_list[0]) is int


def test_refusals_name_the_action_and_the_legal_ones() -> None:
    game = Board.of(preset("parsons", players=3), ["12-5 4-3", "12-4", "12-2"]).game
    with pytest.raises(IllegalActionError) as caught:
        game.step(game.actions.pass_)
    text = str(caught.value)
    assert f"action {game.actions.pass_} (pass) is not legal" in text
    assert "12-5 on the own train" in text and "12-5 on the Mexican Train" in text
    board = Board(game).do("12-5@0")
    board.game.step(board.game.legal_actions()[0])
    assert board.game.round_history  # seat 1 is out, and the next round has begun
    over = play(Game(preset("parsons"), seed=1, episode="round"), random.Random(1))
    assert (over.to_move, over.stage, over.legal_actions()) == (None, "over", [])
    with pytest.raises(IllegalActionError, match="the game is over"):
        over.step(0)


def test_masks_of_seats_that_are_not_to_move_are_empty() -> None:
    game = midway("pagat")
    for seat in range(game.players):
        assert bool(game.action_mask(seat).any()) is (seat == game.to_move)
    mask = game.action_mask()
    mask[:] = 0
    assert game.legal_actions(), "a mask is a copy"


# --- positions and deals --------------------------------------------------------------------------

HANDS = [tiles("12-5 4-3"), tiles("12-4"), tiles("12-2")]
TRAINS: list[Any] = [tiles("12-9 9-9"), [], [], []]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"hands": HANDS[:2]}, "hands: 2 entries, 3 are needed"),
        ({"hands": None}, "hands: None is not a list"),
        ({"hands": [*HANDS[:2], None]}, r"hands\[2\]: None is not a list"),
        ({"hands": [*HANDS[:2], []]}, r"hands\[2\]: empty"),
        ({"hands": [*HANDS[:2], [(13, 1)]]}, r"hands\[2\]: tile \(13, 1\) is not in the double-12 set"),
        ({"hands": [*HANDS[:2], [(3, -1)]]}, r"hands\[2\]: tile \(3, -1\)"),
        ({"hands": [*HANDS[:2], [(3, 4)]]}, r"hands\[2\]: tile 4-3 is already in hands\[0\]"),
        ({"hands": [*HANDS[:2], [(12, 12)]]}, r"hands\[2\]: tile 12-12 is already in the engine"),
        ({"hands": [*HANDS[:2], [5]]}, r"hands\[2\]: 5 is not a tile"),
        ({"hands": [*HANDS[:2], ["ab"]]}, r"hands\[2\]: 'ab' is not a tile"),
        ({"trains": TRAINS[:3]}, "trains: 3 entries, 4 are needed"),
        ({"trains": [tiles("9-8"), [], [], []]}, r"trains\[0\]: 9-8 does not join the end 12"),
        ({"trains": [tiles("12-9 8-7"), [], [], []]}, r"trains\[0\]: 8-7 does not join the end 9"),
        ({"trains": [tiles("12-5"), [], [], []]}, r"hands\[0\]: tile 12-5 is already in trains\[0\]"),
        ({"boneyard": tiles("4-3")}, r"boneyard: tile 4-3 is already in hands\[0\]"),
        ({"boneyard": 3}, "boneyard: 3 is not a list"),
        ({"markers": [True]}, "markers: 1 entries, 3 are needed"),
        ({"totals": [1, 2]}, "totals: 2 entries, 3 are needed"),
        ({"totals": [1, 2, "x"]}, "totals: .*allowed are numbers"),
        ({"to_move": 3}, "to_move: 3, allowed are seats 0 to 2"),
        ({"to_move": -1}, "to_move: -1"),
        ({"to_move": "a"}, "to_move: 'a'"),
        ({"to_move": 1.5}, "to_move: 1.5"),
        ({"starter": 9}, "starter: 9"),
        ({"round_index": 13}, "round_index: 13, allowed are 0 to 12"),
        ({"engine": 13}, "engine: 13, allowed are 0 to 12"),
        ({"engine": None}, "engine: None"),
        ({"passed": [3]}, "passed: 3, allowed are seats 0 to 2"),
        ({"passed": 1}, "passed: 1 is not a list"),
        ({"waiting": [(9, 1)]}, r"waiting: \(9, 1\)"),
        ({"waiting": [(9, 0), (9, 0)]}, r"waiting: \(9, 0\)"),
        ({"waiting": [9]}, "waiting: 9"),
        ({"waiting": 9}, "waiting: 9 is not a list"),
        ({"opening": True}, "opening: ruleset 'parsons' has no opening phase"),
        ({"color": "red"}, "position: unknown color; allowed are hands, trains"),
    ],
)
def test_a_position_that_contradicts_itself_names_the_field(fields: dict[str, Any], message: str) -> None:
    position = {"hands": HANDS, "trains": TRAINS, **fields}
    with pytest.raises(PositionError, match=message):
        Game.from_position(preset("parsons", players=3), position)


def test_a_position_is_what_was_asked_for() -> None:
    game = Game.from_position(
        preset("parsons", players=3),
        {
            "hands": HANDS, "trains": [[(9, 12), (9, 9)], [], [(12, 7)], []], "boneyard": tiles("1-0 8-8"),
            "markers": [False, True, False], "to_move": 2, "starter": 1, "round_index": 0,
            "waiting": [[9, 0]], "passed": [1], "totals": [3, 1.5, 100],
        },
    )  # fmt: skip
    assert game.hands == [set(hand) for hand in HANDS]
    assert game.trains == [[(12, 9), (9, 9)], [], [(12, 7)], []]
    assert game.boneyard == [(1, 0), (8, 8)]
    assert game.ends == [[9], [12], [7], []]
    assert game.lengths == [2, 0, 1, 0]
    assert (game.markers, game.waiting, game.in_force) == ([False, True, False], [(9, 0)], [(9, 0)])
    assert (game.to_move, game.stage, game.starter, game.engine) == (2, "cover", 1, 12)
    assert game.totals == [3, 1.5, 100]
    assert make_layout("base", game.ruleset)["passed"].of(game.observe(0)).tolist() == [0, 1, 0]


def test_a_position_without_a_boneyard_gets_all_other_tiles() -> None:
    game = Game.from_position(preset("parsons", players=3), {"hands": HANDS, "trains": TRAINS})
    named = {*HANDS[0], *HANDS[1], *HANDS[2], (12, 9), (9, 9), (12, 12)}
    assert game.boneyard == [tile for tile in all_tiles(12) if tile not in named]


def test_a_covered_double_may_be_left_out_of_the_queue() -> None:
    for name in ("parsons", "wikipedia"):
        position = {"hands": HANDS, "trains": TRAINS, "waiting": []}
        game = Game.from_position(preset(name, players=3), position)
        assert (game.waiting, game.ends[0][0]) == ([], 9)


def test_a_match_from_a_position_goes_on() -> None:
    game = Game.from_position(preset("parsons", players=3), {"hands": HANDS, "totals": [5, 6, 7]})
    play(game, random.Random(1))
    scores = np.sum([[5, 6, 7], *(entry["scores"] for entry in game.round_history)], axis=0)
    assert len(game.round_history) == 13
    assert game.totals == scores.tolist()


PILE = [tile for tile in all_tiles(12) if tile != (12, 12)]


@pytest.mark.parametrize(
    ("deals", "message"),
    [
        ([PILE[1:]], r"deals\[0\]: not a permutation of the 90 tiles: missing 0-0"),
        ([[*PILE[1:], PILE[5]]], r"deals\[0\]: .*missing 0-0; double 2-2"),
        ([[*PILE, (12, 12)]], r"deals\[0\]: .*12-12 is set aside"),
        ([[*all_tiles(12)[:-2], (12, 12)]], r"deals\[0\]: .*missing 12-11"),
        ([[t for t in all_tiles(12) if t != (5, 5)]], r"deals\[0\]: .*missing 5-5"),
        ([PILE, PILE], r"deals\[1\]: .*missing 12-12"),
        ([[*PILE[:-1], (13, 0)]], r"deals\[0\]: tile \(13, 0\) is not in the double-12 set"),
        ([[*PILE[:-1], "x"]], r"deals\[0\]: 'x' is not a tile"),
        ([None], r"deals\[0\]: None is not a list"),
        ([PILE] * 14, "deals: 14 piles, the game has 13 rounds"),
    ],
)
def test_deals_are_checked(deals: Any, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Game(preset("parsons"), seed=0, deals=deals)


def test_a_given_deal_is_dealt_in_blocks() -> None:
    game = Game(preset("parsons"), seed=0, deals=[[(lo, hi) for hi, lo in PILE]])
    assert game.deals == [PILE]
    assert game.hands == [set(PILE[seat * 14 : seat * 14 + 14]) for seat in range(4)]
    assert game.boneyard == PILE[56:]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episode": "day"}, "episode 'day': allowed are 'round', 'match'"),
        ({"reward": "gold"}, "reward 'gold'"),
        ({"engine": "last", "episode": "round"}, "engine 'last'"),
        ({"engine": 13, "episode": "round"}, "engine 13: .*0 to 12"),
        ({"engine": -1, "episode": "round"}, "engine -1"),
        ({"first_starter": 4}, "first_starter 4: allowed are the seats 0 to 3"),
        ({"first_starter": True}, "first_starter True"),
        ({"seed": True}, "seed True: allowed are whole numbers from 0 on"),
        ({"first_starter": -1}, "first_starter -1"),
        ({"seed": -1}, "seed -1: allowed are whole numbers from 0 on"),
        ({"seed": 1.5}, r"seed 1\.5"),
        ({"seed": "x"}, "seed 'x'"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Game(preset("parsons"), **{"seed": 0, **options})


@pytest.mark.parametrize("seat", [-1, 4, 99, True, 0.5, "x"])
def test_only_seats_have_action_masks(seat: Any) -> None:
    with pytest.raises(ValueError, match=f"seat {seat!r}: allowed are the seats 0 to 3"):
        Game(preset("parsons"), seed=0).action_mask(seat)


@pytest.mark.parametrize("seat", [-1, 4, 100])
def test_only_seats_observe(seat: int) -> None:
    with pytest.raises(ValueError, match=f"seat {seat}: allowed are the seats 0 to 3"):
        midway("parsons").observe(seat)


def test_layouts_and_dtypes_of_observations_are_checked() -> None:
    game = Game(preset("parsons"), seed=0)
    with pytest.raises(ValueError, match="layout base/1 was made for 3 players and double-12"):
        game.observe(layout=make_layout("base", preset("parsons", players=3)))
    with pytest.raises(ValueError, match="dtype float64: allowed are int8 and float32"):
        game.observe(dtype=np.float64)


# --- events ---------------------------------------------------------------------------------------


def test_events_tell_the_turn_in_words() -> None:
    board = Board.of(
        preset("dominos_cc", players=2), ["5-5 9-1", "5-4 7-6"], {0: "12-5", 1: "12-11"}, "8-8",
        markers=[True, False],
    )  # fmt: skip
    board.do("5-5@0", "draw", "pass", "5-4@0")
    told = [(e.kind, e.seat, e.tile, e.train, e.value) for e in board.game.events]
    assert told == [
        ("play", 0, (5, 5), 0, None),
        ("marker_down", 0, None, 0, None),
        ("knock", 0, None, None, None),
        ("draw", 0, (8, 8), None, None),
        ("pass", 0, None, None, None),
        ("marker_up", 0, None, 0, None),
        ("double_in_force", None, None, 0, 5),
        ("play", 1, (5, 4), 0, None),
        ("covered", 1, None, 0, 5),
        ("knock", 1, None, None, None),
    ]
    texts = [event.text for event in board.game.events]
    assert texts[7] == "player_1 plays 5-4 on player_0's train"
    assert not any("8-8" in text for text in texts), "a drawn tile is hidden"


def test_a_double_in_force_is_announced_once() -> None:
    board = Board.of(
        preset("pagat_lifo", players=3),
        ["1-0", "2-0", "9-1 8-4"],
        {0: "12-5 5-5", "M": "12-9 9-9"},
        "7-7 6-6 4-4",
    )
    board.do("draw", "pass", "draw", "pass")
    assert not [event for event in board.game.events if event.kind == "double_in_force"]
    board.do("9-1@M")
    told = [(event.value, event.train) for event in board.game.events if event.kind == "double_in_force"]
    assert told == [(5, 0)]


def test_events_of_the_end_of_a_round() -> None:
    board = Board.of(preset("parsons", players=2), ["12-5", "5-4"], options={"episode": "round"})
    board.do("12-5@M")
    assert [event.kind for event in board.game.events] == ["play", "out", "scores"]
    assert board.game.events[-1].text == "scores: player_0 0, player_1 9"


# --- what must not be taken from outside ----------------------------------------------------------


def test_no_number_reaches_behind_the_actions() -> None:
    game = midway("parsons")
    before = everything(game)
    for action in (-1, -2, -(2**62), -(2**63), 2**62, 2**63 - 1, 2**70):
        with pytest.raises(IllegalActionError, match="is not legal"):
            game.step(action)
    assert everything(game) == before


@pytest.mark.parametrize(
    "change",
    [
        {"given": [[[1, 0]] * 27] * 7}, {"given": [[[0, 0]]] * 7}, {"given": [[[40, 41]]]},
        {"deals": [[[99, 99]]]}, {"first_starter": 77}, {"rounds": [5]}, {"actions": [10**6]},
        {"options": base64.b64encode(b"\xff" * OPTIONS.itemsize).decode()},
    ],
)  # fmt: skip
def test_restore_refuses_what_would_lead_astray_later(change: dict[str, Any]) -> None:
    game = midway("parsons")
    before = everything(game)
    content = json.loads(game.snapshot()) | change
    with pytest.raises(PositionError):
        game.restore(json.dumps(content).encode())
    with pytest.raises(PositionError, match="snapshot"):
        game.restore(b"[" * 100_000)
    assert everything(game) == before


def test_a_game_out_of_a_batch_of_random_rounds_can_be_kept() -> None:
    batch = BatchGame(preset("parsons", set_max=6, hand_size=5), 8, engine="random")
    for i in range(8):
        game = batch.game(i)
        game.restore(game.snapshot())
        assert game.round_index == int(batch.games["round_index"][i])
    for index in (-1, 8):
        with pytest.raises(IndexError, match=f"game {index}: allowed are 0 to 7"):
            batch.game(index)


def test_a_position_takes_no_piles() -> None:
    game = Game(preset("dominos_cc"), seed=3)
    hands = [[(1, 2)], [(3, 4)], [(5, 6)], [(7, 8)]]
    with pytest.raises(PositionError, match="deals: not allowed with a position"):
        Game.from_position(game.ruleset, {"hands": hands}, deals=game.deals)


def test_what_a_game_hands_out_is_not_its_own() -> None:
    game = midway("parsons")
    before = everything(game)
    game.events.clear()
    game.action_list.append(10**6)
    game.rewards[:] = 7
    game.action_mask()[:] = 1
    game.observe(dtype=np.int8)[:] = 9
    assert everything(game) == before
    assert game.events


@pytest.mark.parametrize("name", ["parsons", "wikipedia_partners"])
def test_both_forms_of_an_observation_agree_whenever_they_are_asked_for(name: str) -> None:
    """The scaled form is written from the first look at it on, in copies of the game too."""
    ruleset, rng = preset(name, set_max=6, players=4, hand_size=5, rounds=3), random.Random(1)
    layout = make_layout("base", ruleset)
    games = [Game(ruleset, seed=2)]
    for turn in range(150):
        if games[0].over:
            break
        if turn == 10:
            games.append(games[0].clone())  # nobody has looked yet
        for game in games if turn >= 20 else games[1:]:
            assert np.array_equal(
                game.observe(dtype=np.float32), layout.to_float(game.observe(dtype=np.int8))
            )
        if turn == 30:
            games += [games[0].clone(), pickle.loads(pickle.dumps(games[1]))]
        legal = games[0].legal_actions()
        assert legal == np.flatnonzero(games[0].action_mask()).tolist()
        action = rng.choice(legal)
        for game in games:
            game.step(action)
    assert turn > 60
