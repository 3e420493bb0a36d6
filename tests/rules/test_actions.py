"""Action numbers, and the tiles under them."""

import pytest

from mexenv.rules import (
    Action,
    ActionLayout,
    all_tiles,
    format_tile,
    n_tiles,
    parse_tile,
    pips,
    preset,
    tile_index,
    tile_of,
)


@pytest.mark.parametrize(("set_max", "count"), [(2, 6), (6, 28), (9, 55), (12, 91), (15, 136), (18, 190)])
def test_tiles(set_max: int, count: int) -> None:
    tiles = all_tiles(set_max)
    assert len(tiles) == len(set(tiles)) == n_tiles(set_max) == count
    assert [tile_index(*tile) for tile in tiles] == list(range(count))
    assert [tile_of(index) for index in range(count)] == tiles
    assert all(parse_tile(format_tile(tile)) == tile for tile in tiles)
    assert sum(pips(tile) for tile in tiles) == set_max * (set_max + 1) * (set_max + 2) // 2


def test_tile_text() -> None:
    assert parse_tile("5-12") == parse_tile(" 12:5 ") == parse_tile("12|5") == (12, 5)
    assert tile_index(5, 12) == tile_index(12, 5)
    for text in ("12", "12-", "a-b", "-1-2", "12-5-3", ""):
        with pytest.raises(ValueError, match="expected two numbers"):
            parse_tile(text)
    with pytest.raises(ValueError, match="below 0"):
        tile_index(3, -1)
    with pytest.raises(ValueError, match="must be 0 or more"):
        tile_of(-1)


def test_known_sizes() -> None:
    assert ActionLayout(preset("parsons")).n_actions == 457
    assert ActionLayout(preset("wikipedia")).n_actions == 912
    assert ActionLayout(preset("parsons", players=18, set_max=18, hand_size=10)).n_actions == 190 * 19 + 2


def test_known_ids() -> None:
    actions = ActionLayout(preset("parsons"))
    assert actions.encode((0, 0), 0) == 0
    assert actions.encode((12, 5), 4) == actions.encode((5, 12), 4) == 83 * 5 + 4
    assert (actions.draw, actions.pass_) == (455, 456)
    assert actions.decode(419) == Action("play", (12, 5), 4, None)
    assert actions.decode(455) == Action("draw")
    assert actions.decode(456) == Action("pass")


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("parsons", {}),
        ("pagat", {"players": 2, "set_max": 6, "hand_size": 7}),
        ("parsons", {"players": 18, "set_max": 18, "hand_size": 10}),
        ("wikipedia", {}),
        ("parsons_wild", {"players": 8}),
        ("parsons_chickenfoot", {"players": 2, "set_max": 2, "hand_size": 2}),
    ],
)
def test_round_trip(name: str, sizes: dict[str, int]) -> None:
    rules = preset(name, **sizes)
    actions = ActionLayout(rules)
    halves = (0, 1) if rules.two_way else (None,)
    plays = [
        actions.encode(tile, train, half)
        for tile in all_tiles(rules.set_max)
        for train in range(rules.n_trains)
        for half in halves
    ]
    assert [*plays, actions.draw, actions.pass_] == list(range(actions.n_actions))
    for action in plays:
        kind, tile, train, half = actions.decode(action)
        assert kind == "play"
        assert tile is not None
        assert train is not None
        assert actions.encode(tile, train, half) == action
    texts = {actions.describe(action) for action in range(actions.n_actions)}
    doubled = rules.n_values * rules.n_trains if rules.two_way else 0  # a double has no second way
    assert len(texts) == actions.n_actions - doubled


def test_wrong_actions() -> None:
    one, two = ActionLayout(preset("parsons")), ActionLayout(preset("parsons_wild"))
    for action in (-1, 457):
        with pytest.raises(ValueError, match=f"action {action}: allowed are 0 to 456"):
            one.decode(action)
    with pytest.raises(ValueError, match="tile 13-0: the set ends at 12-12"):
        one.encode((13, 0), 0)
    with pytest.raises(ValueError, match="train 5: allowed are 0"):
        one.encode((3, 0), 5)
    with pytest.raises(ValueError, match="half 0"):
        one.encode((3, 0), 0, 0)
    with pytest.raises(ValueError, match="half None of tile 3-0"):
        two.encode((3, 0), 0)
    with pytest.raises(ValueError, match="half 2"):
        two.encode((3, 0), 0, 2)
    assert two.encode((3, 3), 1) == two.encode((3, 3), 1, 0)


def test_descriptions() -> None:
    one, two = ActionLayout(preset("parsons")), ActionLayout(preset("parsons_wild"))
    assert one.describe(one.encode((12, 5), 4)) == "12-5 on the Mexican Train"
    assert one.describe(one.encode((12, 5), 0)) == "12-5 on the own train"
    assert one.describe(one.encode((12, 5), 2)) == "12-5 on the train 2 seats on"
    assert one.describe(one.encode((12, 5), 2), ["Ann", "Bob", "Cy", "Di"]) == "12-5 on Cy's train"
    assert one.describe(one.draw) == "draw"
    assert one.describe(one.pass_) == "pass"
    assert two.describe(two.encode((5, 0), 1, 1)) == "5-0 by its 0 on the next seat's train"
    assert two.describe(two.encode((5, 5), 1)) == "5-5 on the next seat's train"
    with pytest.raises(ValueError, match="names: got 1"):
        one.describe(0, ["Ann"])


def test_digest_tells_layouts_apart() -> None:
    layouts = [
        ActionLayout(preset("parsons")),
        ActionLayout(preset("parsons", players=3)),
        ActionLayout(preset("parsons", set_max=9)),
        ActionLayout(preset("parsons_wild")),
    ]
    assert len({layout.digest for layout in layouts}) == 4
    assert ActionLayout(preset("pagat")).digest == layouts[0].digest
    assert (layouts[0].id, layouts[3].id) == ("tile-train/1", "tile-train-half/1")
