"""Recorded games: there and back, and every way in which a file can be wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mexenv.games import Game, Record, RecordError
from mexenv.games.record import table_after
from mexenv.rules import PRESETS, preset

NAMES = ["Ada", "Ben", "Cleo", "Dan"]


def played(name: str, steps: int = 10**6, **options: Any) -> Game:
    rules = preset(name, set_max=6, hand_size=4)
    return go_on(Game(rules, seed=8, **options), random.Random(8), steps)


def go_on(game: Game, rng: random.Random, steps: int = 10**6) -> Game:
    while not game.over and steps:
        game.step(rng.choice(game.legal_actions()))
        steps -= 1
    return game


def same(game: Game, again: Game) -> None:
    assert again.events == game.events
    assert (again.deals, again.action_list) == (game.deals, game.action_list)
    assert (again.round_history, again.totals, again.places) == (
        game.round_history,
        game.totals,
        game.places,
    )
    assert (again.hands, again.boneyard, again.to_move) == (game.hands, game.boneyard, game.to_move)
    assert again.legal_actions() == game.legal_actions()


@pytest.mark.parametrize("name", PRESETS)
def test_a_match_comes_back(name: str, tmp_path: Path) -> None:
    game = played(name)
    path = tmp_path / "some" / "where" / "game.json"
    Record.of(game, NAMES).write(path)
    record = Record.read(path)
    assert record == Record.of(game, NAMES)
    assert record.agents == NAMES
    assert record.ruleset == game.ruleset
    same(game, record.game())
    assert [entry.name for entry in path.parent.iterdir()] == ["game.json"]
    assert path.stat().st_size < 40_000


@pytest.mark.parametrize("steps", [0, 1, 9, 25])
def test_an_unfinished_game_comes_back_and_goes_on(steps: int) -> None:
    game = played("wikipedia", steps, episode="round")
    record = Record.from_dict(json.loads(json.dumps(Record.of(game, NAMES).to_dict())))
    assert record.result["over"] is False
    again = record.game()
    same(game, again)
    before = list(game.action_list)
    go_on(game, random.Random(2))
    go_on(again, random.Random(2))
    assert again.action_list == game.action_list != before


def test_one_late_round_comes_back() -> None:
    game = played("pagat", episode="round", engine=3)
    record = Record.from_dict(Record.of(game, NAMES).to_dict())
    assert (record.episode, record.round_index, len(record.deals)) == ("round", 3, 1)
    assert record.game().engine == 3
    same(game, record.game())


def test_part_of_a_game() -> None:
    record = Record.of(played("parsons"), NAMES)
    assert record.game(0).action_list == []
    assert record.game(7).action_list == record.actions[:7]


def test_a_record_does_not_follow_the_game() -> None:
    game = played("parsons", 20)
    record = Record.of(game, NAMES)
    before = json.dumps(record.to_dict())
    go_on(game, random.Random(1))
    assert json.dumps(record.to_dict()) == before


@pytest.mark.parametrize("name", ["parsons", "wikipedia", "highest_double"])
def test_the_table_at_the_end_of_a_round(name: str) -> None:
    record = Record.of(played(name), NAMES)
    game, twin = record.game(0), record.game(0)
    ends = 0
    for action in record.actions:
        table = table_after(game, action)
        twin.step(action)
        same(twin, game)
        if len(game.round_history) > ends:
            ends += 1
            assert table is not game
            assert table.over and table.round_history == game.round_history
            assert table.totals == game.totals
            out = game.round_history[-1]["out"]
            assert [seat for seat, hand in enumerate(table.hands) if not hand] == out
        else:
            assert table is game
    assert ends == record.ruleset.match_rounds


def test_games_that_were_not_dealt_are_refused() -> None:
    rules = preset("parsons", players=2, set_max=3, hand_size=2)
    game = Game.from_position(rules, {"hands": [[(3, 2)], [(2, 1)]]})
    with pytest.raises(RecordError, match="deals: none, the game was set up by hand"):
        Record.of(game, ["Ada", "Ben"])
    with pytest.raises(RecordError, match="agents: 1 names, allowed: one for each of the 4 players"):
        Record.of(played("parsons", 3), ["Ada"])


def _swap(deal: list[str], i: int, j: int) -> None:
    deal[i], deal[j] = deal[j], deal[i]


CONTENT = Record.of(played("parsons"), NAMES).to_dict()
TAMPERED: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda c: c.pop("format"), "format: None, allowed is 'mexenv-game': not a recorded game"),
    (lambda c: c.update(format="chess"), "format: 'chess', allowed is 'mexenv-game'"),
    (lambda c: c.update(version=2), "version: 2, allowed is 1"),
    (lambda c: c.update(version=True), "version: True, allowed is 1"),
    (lambda c: [c.pop("deals"), c.pop("result")], "missing: deals, result"),
    (lambda c: c.update(seed=3), "unknown field 'seed'; allowed: format, version"),
    (lambda c: c.update(ruleset="parsons"), "ruleset: 'parsons', allowed: the fields of a ruleset"),
    (lambda c: c["ruleset"].update(draw=2), "ruleset: .*unknown field 'draw'"),
    (lambda c: c["ruleset"].update(self=2), "ruleset: .*unknown field 'self'"),
    (lambda c: c["ruleset"].update(players=5), "ruleset: .*players=5|agents: 4 names"),
    (lambda c: c["ruleset"].update(name="\x1b[31m"), r"ruleset.name: '\\x1b\[31m', allowed are printable"),
    (
        lambda c: c["ruleset"].update(set_max=5, rounds=6),
        r"actions\[\d\]: \d+, allowed: 0 to 106",
    ),
    (lambda c: c["ruleset"].update(double_blank=50), r"result\.(totals\[\d\]|rounds\[\d\]\.scores\[\d\]): "),
    (lambda c: c["ruleset"].update(rounds=6), "deals: 7 piles, the game has 6 rounds"),
    (lambda c: c.update(episode="both"), "episode: 'both', allowed are 'match' and 'round'"),
    (lambda c: c.update(episode=[]), r"episode: \[\], allowed"),
    (lambda c: c.update(episode="round"), "deals: 7 piles, the game has 1 rounds"),
    (lambda c: c.update(round=1), "round: 1, allowed: 0"),
    (lambda c: c.update(first_starter=4), "first_starter: 4, allowed: 0 to 3"),
    (lambda c: c.update(first_starter=False), "first_starter: False, allowed: 0 to 3"),
    (lambda c: c.update(first_starter=1.0), "first_starter: 1.0, allowed: 0 to 3"),
    (lambda c: c.update(deals={}), "deals: {}, allowed: a list of piles"),
    (lambda c: c["deals"].append("6-6"), r"deals\[7\]: '6-6', allowed: a list of tiles"),
    (lambda c: c["deals"][2].insert(4, [6, 5]), r"deals\[2\]\[4\]: \[6, 5\], allowed: a tile such as"),
    (lambda c: c["deals"][2].insert(4, "6-x"), r"deals\[2\]\[4\]: '6-x', allowed: a tile such as"),
    (lambda c: c["deals"][1].pop(), r"deals\[1\]: not a permutation of the 27 tiles: missing \d-\d"),
    (lambda c: c["deals"].pop(), "deals: 6 piles, the moves begin 7 rounds"),
    (lambda c: _swap(c["deals"][0], 0, 5), r"actions\[\d+\]: action \d+ .*is not legal"),
    (lambda c: c.update(actions="none"), "actions: 'none', allowed: a list of whole numbers"),
    (lambda c: c["actions"].insert(3, True), r"actions\[3\]: True, allowed: 0 to 141"),
    (lambda c: c["actions"].insert(3, -1), r"actions\[3\]: -1, allowed: 0 to 141"),
    (lambda c: c["actions"].insert(3, 142), r"actions\[3\]: 142, allowed: 0 to 141"),
    (lambda c: c["actions"].pop(9), r"actions\[\d+\]: action \d+ .*is not legal"),
    (lambda c: c["actions"].append(141), r"actions\[\d+\]: .*the game is over"),
    (lambda c: c["actions"].pop(), r"result\.over: True, the recorded moves give False"),
    (lambda c: c.update(agents="AdaBenCleoDan"), "agents: 'AdaBenCleoDan', allowed: a list of 4 names"),
    (lambda c: c["agents"].pop(), "agents: 3 names, allowed: one for each of the 4 players"),
    (lambda c: c["agents"].__setitem__(1, ""), r"agents\[1\]: '', allowed: a name"),
    (lambda c: c["agents"].__setitem__(1, None), r"agents\[1\]: None, allowed: a name"),
    (lambda c: c["agents"].__setitem__(1, "\x1b[2J"), r"agents\[1\]: '\\x1b\[2J', allowed: .* printable"),
    (lambda c: c.update(result=[]), r"result: \[\], allowed: fields"),
    (lambda c: c["result"].pop("places"), "result: {.*, the recorded moves give {"),
    (
        lambda c: c["result"]["totals"].__setitem__(2, 0.0),
        r"result\.totals\[2\]: 0\.0, the recorded moves give",
    ),
    (lambda c: c["result"]["places"].reverse(), r"result\.places\[\d\]: "),
    (lambda c: c["result"]["rounds"][3].update(blocked="yes"), r"result\.rounds\[3\]\.blocked: 'yes', the"),
    (lambda c: c["result"]["rounds"].pop(), r"result\.rounds: \["),
]


@pytest.mark.parametrize(("change", "message"), TAMPERED, ids=[message for _, message in TAMPERED])
def test_a_tampered_record_is_refused_by_field(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    content = json.loads(json.dumps(CONTENT))
    change(content)
    path = tmp_path / "game.json"
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError, match=message) as caught:
        Record.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 1000 and "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1: not valid JSON"),
        (b"{\n'format': 1}", "line 2: not valid JSON"),
        (b"\x80\x04\x95", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"format": "mexenv-game", "version": 1, "version": 1}', "'version' stands twice"),
        (b'{"format": "mexenv-game", "version": NaN}', "NaN is no number"),
        (b"9" * 10_000, "not valid JSON"),
        (b"[]", "format: a list, allowed is 'mexenv-game': not a recorded game"),
        (b"3", "format: a int, allowed"),
        (b'{"rows": []}', "format: None, allowed"),
        (b" " * (16 * 2**20 + 1), "larger than 16 MiB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_or_foreign_file_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_bytes(data)
    with pytest.raises(RecordError, match=message):
        Record.read(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.json: no such file"):
        Record.read(tmp_path / "none.json")
    with pytest.raises(RecordError, match="cannot be read: Is a directory"):
        Record.read(tmp_path)


def test_a_record_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    record = Record.of(played("parsons", 5), NAMES)
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        record.write(tmp_path / "taken")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
