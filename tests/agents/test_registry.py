from __future__ import annotations

from pathlib import Path

import pytest

import mexenv.assets as assets
from mexenv.agents import Agent, AgentError, PolicyAgent, agent_names, load_agent
from mexenv.rules import RulesetError, preset

RULES = preset("dominos_cc", players=2, set_max=6, hand_size=7)


@pytest.mark.parametrize("name", ["random", "greedy", "own_first", "planner"])
def test_scripted_agents_have_names(name: str) -> None:
    agent = load_agent(name, RULES)
    assert isinstance(agent, Agent)
    assert (agent.name, agent.ruleset) == (name, RULES)
    assert name in agent_names()
    assert load_agent(name) is not load_agent(name)


def test_an_unknown_name_gets_the_nearest_one_and_all_of_them() -> None:
    with pytest.raises(AgentError, match=r"unknown agent 'planer' \(did you mean 'planner'\?\); .*own_first"):
        load_agent("planer")


def test_a_path_without_a_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"no such folder: .*nowhere"):
        load_agent(tmp_path / "nowhere")
    with pytest.raises(AgentError, match=r"manifest\.json is missing"):
        load_agent(str(tmp_path))


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 5000, "a\0b", "\ud800", "a\nb/c", Path("x" * 5000), 3])
def test_what_can_be_no_path_is_refused_in_few_words(name) -> None:
    with pytest.raises(AgentError) as refusal:
        load_agent(name)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 700


def test_a_ruleset_may_be_given_as_load_ruleset_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "house.yaml"
    file.write_text("preset: parsons\n")
    for source in ("parsons", file, str(file), {"preset": "parsons"}):
        agent = load_agent("greedy", source)
        assert agent.ruleset is not None and agent.ruleset.digest == preset("parsons").digest
    with pytest.raises(RulesetError, match="did you mean 'parsons'"):
        load_agent("greedy", "parson")


def test_scripted_agents_have_no_temperature() -> None:
    with pytest.raises(AgentError, match=r"temperature 0\.5 for greedy"):
        load_agent("greedy", temperature=0.5)


def test_a_shipped_policy_is_known_by_its_folder(make_policy, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_policy(RULES, name="called otherwise")
    shipped = folder.parent / "checkpoints" / "house"
    shipped.parent.mkdir()
    folder.rename(shipped)
    monkeypatch.setattr(assets, "_PACKAGE", folder.parent / "mexenv")
    assert agent_names()[-1] == "house"
    agent = load_agent("house", RULES)
    assert isinstance(agent, PolicyAgent)
    assert agent.name == "house"
    assert load_agent(shipped / "manifest.json").name == "called otherwise"


def test_assets_are_found_in_an_installed_package_before_those_beside_it(tmp_path, monkeypatch) -> None:
    package = tmp_path / "mexenv"
    monkeypatch.setattr(assets, "_PACKAGE", package)
    assert assets.asset_folder("configs") is None
    assert assets.shipped_configs() == {}
    beside = tmp_path / "configs" / "rulesets"
    beside.mkdir(parents=True)
    (beside / "house.yaml").touch()
    (tmp_path / "configs" / "quickstart.yaml").touch()
    (tmp_path / "configs" / "notes.txt").touch()
    assert list(assets.shipped_configs()) == ["quickstart", "rulesets/house"]
    inside = package / "_assets" / "configs"
    inside.mkdir(parents=True)
    assert assets.asset_folder("configs") == inside
