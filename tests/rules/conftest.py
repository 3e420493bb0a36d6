import pytest

from mexenv.rules import ruleset


@pytest.fixture
def every_rule_playable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets rulesets through that the engine cannot play yet: the tables hold them already."""
    monkeypatch.setattr(ruleset, "UNSUPPORTED", {})
