"""What the pictures show, and above all what they do not."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from mexenv.games import Game
from mexenv.render import render_image, render_text
from mexenv.render.view import event_text, table_view
from mexenv.rules import PRESETS, all_tiles, preset

WORD = re.compile(r"(?<![\d-])(\d+)-(\d+)(?![\d-])")


def after(game: Game, moves: int, seed: int = 0) -> Game:
    """The game after random moves, or at its end."""
    random = np.random.default_rng(seed)
    for _ in range(moves):
        if game.over:
            break
        game.step(int(random.choice(game.legal_actions())))
    return game


def public_tiles(game: Game, seat: int) -> set[tuple[int, int]]:
    table = {(max(t), min(t)) for train in game.trains for t in train}
    return table | game.hands[seat] | {(game.engine, game.engine)}


def tiles_in(text: str) -> set[tuple[int, int]]:
    return {(max(int(a), int(b)), min(int(a), int(b))) for a, b in WORD.findall(text)}


@pytest.mark.parametrize("name", PRESETS)
def test_text_for_a_seat_names_no_hidden_tile(name: str) -> None:
    game = Game(preset(name), seed=5, episode="round")
    for step in range(60):
        if game.over:
            break
        seat = step % game.players
        shown = tiles_in(render_text(game, seat, events=200))
        assert game.hands[seat] <= shown
        # Named are what lies on the table, the own hand, and the doubles that are talked about.
        doubles = {(event.value, event.value) for event in game.events if event.value is not None}
        assert shown <= public_tiles(game, seat) | doubles
        after(game, 1, step)


class Swapped:
    """The same game with the tiles that `seat` cannot see exchanged among each other."""

    def __init__(self, game: Game, seat: int) -> None:
        self._game = game
        others = [s for s in range(game.players) if s != seat]
        hidden = sorted({t for s in others for t in game.hands[s]} | set(game.boneyard), reverse=True)
        self.hands = list(game.hands)
        for s in others:
            size = len(game.hands[s])
            self.hands[s], hidden = set(hidden[:size]), hidden[size:]
        self.boneyard = hidden
        self.events = [
            e._replace(tile=(0, 0)) if e.kind == "draw" and e.seat != seat else e for e in game.events
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)


def test_hidden_tiles_change_no_pixel() -> None:
    for moves in (0, 30, 55):
        game = after(Game(preset("pagat"), seed=2), moves, seed=1)
        for seat in (game.to_move, (game.to_move + 1) % game.players):
            other: Any = Swapped(game, seat)
            assert other.hands != game.hands
            assert render_text(game, seat) == render_text(other, seat)
            assert np.array_equal(render_image(game, seat), render_image(other, seat))
        assert render_text(game) != render_text(other)


def test_text_says_what_is_going_on() -> None:
    rules = preset("dominos_cc", players=2)
    game = Game.from_position(
        rules,
        {
            "hands": [[(9, 4), (6, 5), (9, 2)], [(3, 0)]],
            "trains": [[(12, 9), (9, 9)], [(12, 3)], []],
            "markers": [False, True],
            "totals": [10, 0],
        },
    )
    text = render_text(game, 0, names=["Ann", "Bob"])
    assert "dominos_cc | round 1 of 6 | engine 12-12" in text
    assert "Ann must cover the double  (to be covered: 9-9 on Ann's train)" in text
    ann, bob, mexican = (
        next(x for x in text.splitlines() if name in x[:16]) for name in ("Ann (", "Bob", "Mex")
    )
    assert ann.startswith("> Ann (you)") and ann.endswith("12-9 [9-9]!")
    assert "OPEN" in bob and "OPEN" not in ann
    assert "not started" in mexican
    assert "9-4* 9-2* 6-5" in text
    assert "3-0" not in text and "Bob: 1 tiles" not in text
    assert "Bob: 1 tiles, 3 pips" in render_text(game, names=["Ann", "Bob"])


def test_text_keeps_its_width_and_colours_are_only_paint() -> None:
    game = after(Game(preset("dominos_cc"), seed=3), 90)
    plain = render_text(game)
    assert max(map(len, plain.splitlines())) <= 110
    assert "more.." in plain or max(game.lengths) <= 12
    painted = render_text(game, color=True)
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain


@pytest.mark.parametrize("seat", [-1, 4])
def test_a_seat_that_does_not_exist(seat: int) -> None:
    game = Game(preset("dominos_cc"), seed=0)
    with pytest.raises(ValueError, match="seat must be 0 to 3 or None"):
        render_text(game, seat)
    with pytest.raises(ValueError, match="names must hold 4 names"):
        render_image(game, names=["one"])


def test_every_event_has_words_for_everybody() -> None:
    rules = preset("dominos_cc", rounds=2)
    game = after(Game(rules, seed=1), 1000)
    names = ["Ann", "Bob", "Cleo", "Dan"]
    assert game.over
    for event in game.events:
        for seat in (None, 0, 1):
            text = event_text(event, names, seat)
            assert text and "player_" not in text
        if event.kind == "draw":
            assert tiles_in(event_text(event, names, event.seat)) == {event.tile}
            assert not tiles_in(event_text(event, names, (event.seat + 1) % 4))


def test_pictures_of_one_game_have_one_size() -> None:
    game = Game(preset("dominos_cc"), seed=4, episode="round")
    first = render_image(game, 0)
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3
    assert first.std() > 10  # something is on it
    for step in range(6):
        after(game, 20, step)
        assert render_image(game, 0).shape == first.shape
    assert render_image(game).shape == render_image(Game(preset("dominos_cc"), seed=9)).shape


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dominos_cc", {"players": 2}),
        ("parsons", {"players": 8}),
        ("parsons", {"players": 2, "set_max": 2, "hand_size": 2}),
        ("parsons", {"players": 18, "set_max": 18, "hand_size": 10}),
        ("pagat", {"players": 10, "set_max": 18}),
        ("highest_double", {"players": 2, "set_max": 18}),
    ],
)
def test_all_sizes_can_be_drawn(name: str, options: dict[str, int]) -> None:
    game = Game(preset(name, **options), seed=6, episode="round")
    for moves in (0, 60, 400):
        after(game, moves)
        for seat in (None, 0):
            picture = render_image(game, seat)
            assert picture.shape[1] == 1440 and picture.shape[0] < 2000
            assert render_text(game, seat)


def euler_trail() -> list[tuple[int, int]]:
    """All tiles of double-12 but 12-12 as one train that begins with a 12."""
    deck = set(all_tiles(12)) - {(12, 12)}
    stack, values = [12], []
    while stack:
        fitting = [tile for tile in deck if stack[-1] in tile]
        if fitting:
            deck.discard(fitting[0])
            stack.append(sum(fitting[0]) - stack[-1])
        else:
            values.append(stack.pop())
    return list(itertools.pairwise(values))


def test_very_long_trains_are_shortened() -> None:
    rules = preset("dominos_cc", players=2)
    train = euler_trail()[:80]
    deck = set(all_tiles(12)) - {(12, 12)} - {(max(tile), min(tile)) for tile in train}
    spare = sorted(deck)[:2]
    game = Game.from_position(
        rules, {"hands": [spare[:1], spare[1:]], "trains": [train, [], []], "waiting": []}
    )
    text = render_text(game, 0)
    assert f"..{len(train) - 11} more.." in text
    assert f"{train[-1][0]}-{train[-1][1]}" in text
    assert render_image(game, 0).shape[1] == 1440
    assert table_view(game, 0).trains[0].tiles == train


def test_hidden_opening_chains_stay_hidden() -> None:
    game = Game(preset("wikipedia"), seed=3)
    sizes = [len(hand) for hand in game.hands]
    seen_others_lay = False
    while game.stage == "opening":
        assert game.to_move is not None
        for seat in range(game.players):
            view = table_view(game, seat, n_events=100)
            others = [s for s in range(game.players) if s != seat]
            seen_others_lay |= any(game.trains[s] for s in others)
            assert all(not view.trains[s].tiles and view.trains[s].ends == [game.engine] for s in others)
            assert [view.hand_sizes[s] for s in others] == [sizes[s] for s in others]
            own = game.hands[seat] | {(max(t), min(t)) for t in game.trains[seat]}
            assert tiles_in(render_text(game, seat, events=100)) <= own | {(game.engine, game.engine)}
        game.step(game.legal_actions()[0])
    assert seen_others_lay
    assert any(table_view(game, 0).trains[s].tiles for s in range(1, 4))
