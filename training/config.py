"""Everything that a training run depends on, as one checked YAML file.

Every field has a default and a description; `reference()` lists them. An unknown key, a wrong type or an
impossible value is refused with one message that names the field, the value and what is allowed.
"""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mexenv.rules import PRESETS, Ruleset, RulesetError, load_ruleset, read_ruleset_file


class ConfigError(ValueError):
    """A training configuration that cannot be had; the message has one line for each complaint."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, validate_default=True)


class NetworkConfig(_Part):
    """Sizes of the network."""

    trunk: int = Field(64, ge=1, le=4096, description="Width of the layer that summarises the position.")
    hidden: list[int] = Field(
        [64, 64], min_length=1, description="Widths of the layers that score an action."
    )
    critic: list[int] = Field([128, 64], min_length=1, description="Widths of the critic's layers.")
    privileged_critic: bool = Field(
        True,
        description="Whether the critic sees the other hands while training; the policy itself never does. "
        "Only with algorithm self_play.",
    )

    @model_validator(mode="after")
    def _widths(self) -> Self:
        for name in ("hidden", "critic"):
            for width in getattr(self, name):
                if not 1 <= width <= 4096:
                    raise ValueError(f"{name}={getattr(self, name)}: allowed are widths from 1 to 4096")
        return self


class PpoConfig(_Part):
    """Hyper-parameters of PPO."""

    learning_rate: float = Field(1e-3, gt=0, le=1, description="Adam's step size at the start.")
    final_learning_rate: float = Field(1e-4, ge=0, le=1, description="And at the end; it falls in a line.")
    rollout: int = Field(32768, ge=64, description="Decisions collected between two updates.")
    batch_size: int = Field(4096, ge=8, description="Decisions in a minibatch.")
    epochs: int = Field(4, ge=1, le=100, description="Passes over a rollout.")
    gamma: float = Field(
        1.0, gt=0, le=1, description="Discount for each own decision; a round is short, so 1."
    )
    gae_lambda: float = Field(
        0.8, ge=0, le=1, description="1 trusts the round's result only, 0 the critic's next estimate only."
    )
    clip: float = Field(0.2, gt=0, le=1, description="How far one update may move a probability, as a ratio.")
    entropy: float = Field(0.01, ge=0, le=1, description="Weight of the entropy bonus at the start.")
    final_entropy: float = Field(0.001, ge=0, le=1, description="And at the end; it falls in a line.")
    value_weight: float = Field(0.5, ge=0, le=100, description="Weight of the critic's loss.")
    max_grad_norm: float = Field(0.5, gt=0, description="Gradients are cut to this norm.")
    target_kl: float | None = Field(
        None, gt=0, description="An update stops early when the policy has moved this far; null: never."
    )
    reward_scale: float | None = Field(
        None,
        gt=0,
        description="Factor of the reward; null: the engine's, which makes returns about one in size.",
    )


class OpponentsConfig(_Part):
    """Who plays the seats that do not learn."""

    share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the games in which some seats are played by others (self_play).",
    )
    names: list[str] = Field(
        [],
        description="Agents by name, such as planner. With algorithm maskable_ppo they fill the other seats.",
    )
    snapshots: int = Field(0, ge=0, le=100, description="How many former policies are kept as opponents.")
    snapshot_every: int = Field(1_000_000, ge=1, description="Decisions between two such snapshots.")

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if self.share > 0 and not self.names and not self.snapshots:
            raise ValueError(f"share={self.share}: allowed is 0, or names or snapshots to play those seats")
        return self


class EvaluationConfig(_Part):
    """The periodic test on a fixed set of deals, each played from every seat."""

    every: int = Field(500_000, ge=1, description="Decisions between two tests.")
    deals: int = Field(128, ge=1, le=1_000_000, description="Deals; each is played once from every seat.")
    opponents: list[str] = Field(
        ["own_first"],
        min_length=1,
        description="Agents that fill the other seats, one test for each. The policy with the best mean "
        "over these tests is kept as `best`.",
    )
    seed: int = Field(20_001, ge=0, description="Seed of the deals.")


class TrainingConfig(_Part):
    """One training run."""

    name: str = Field("run", pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", description="What to call the run.")
    algorithm: Literal["self_play", "maskable_ppo"] = Field(
        "self_play",
        description="self_play: every seat learns. maskable_ppo: sb3-contrib's MaskablePPO as it is, with "
        "one learning seat among the opponents named.",
    )
    ruleset: str | dict[str, Any] = Field(
        "dominos_cc",
        description="A preset, the path of a ruleset file (the run keeps its content), or fields such as "
        "preset: parsons.",
    )
    overrides: dict[str, Any] = Field({}, description="Fields of the ruleset to change.")
    players: int | None = Field(None, description="Number of players; null: as the ruleset says.")
    set_max: int | None = Field(None, description="Highest half of the set; null: as the ruleset says.")
    layout: Literal["base", "plan"] = Field("plan", description="Observation layout; plan knows trails.")
    episode: Literal["round", "match"] = Field("round", description="What an episode is.")
    engine: Literal["first", "random"] = Field(
        "random", description="Which round a round episode plays: the match's first one, or any of them."
    )
    reward: Literal["relative", "pips", "win"] = Field("relative", description="The engine's reward.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of everything random in the run.")
    decisions: int | None = Field(None, ge=1, description="Length of the run in decisions.")
    minutes: float | None = Field(None, gt=0, description="Length of the run in minutes of training.")
    games: int = Field(512, ge=1, le=65536, description="Games played side by side.")
    threads: int = Field(
        1,
        ge=0,
        le=256,
        description="Threads that share the games and the learning; 0: as many as there are cores. Results "
        "differ by rounding only. With algorithm maskable_ppo they are PyTorch's, of which more than there "
        "are idle cores make it many times slower.",
    )
    network: NetworkConfig = NetworkConfig()
    ppo: PpoConfig = PpoConfig()
    opponents: OpponentsConfig = OpponentsConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoint_seconds: float = Field(60.0, gt=0, description="Seconds between two checkpoints.")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.decisions is None and self.minutes is None:
            raise ValueError("decisions=None and minutes=None: allowed is a length in at least one of them")
        if self.algorithm == "maskable_ppo":
            if not self.opponents.names:
                raise ValueError("opponents.names=[]: algorithm maskable_ppo needs the names of opponents")
            if self.opponents.share or self.opponents.snapshots:
                raise ValueError(
                    "opponents.share and opponents.snapshots: allowed is 0 with algorithm maskable_ppo"
                )
        self.rules()
        return self

    def rules(self) -> Ruleset:
        """Returns the ruleset, with the number of players, the set and the overrides applied."""
        fields = {"players": self.players, "set_max": self.set_max}
        changes = {name: value for name, value in fields.items() if value is not None}
        return load_ruleset(self.ruleset, **(self.overrides | changes))

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as plain values."""
        return self.model_dump(mode="json")

    def to_yaml(self) -> str:
        """Returns all fields as YAML that `load_config` takes."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False)


def parse_config(fields: Mapping[str, Any], subject: str = "training config") -> TrainingConfig:
    """Checks fields and returns the configuration.

    Args:
        fields: What a YAML file holds.
        subject: What messages call it.

    Raises:
        ConfigError: If anything about it is wrong.
    """
    fields = {str(key): value for key, value in fields.items()}
    try:
        source = fields.get("ruleset")
        # A run keeps the rules themselves: the file may have changed when the run is resumed or exported.
        if isinstance(source, str) and source not in PRESETS and Path(source).is_file():
            fields["ruleset"] = read_ruleset_file(source)
        return TrainingConfig(**fields)
    except ValidationError as error:
        lines = [_complaint(problem, fields) for problem in error.errors(include_url=False)]
    except RulesetError as error:
        lines = [f"ruleset: {error}"]
    raise ConfigError("\n".join(f"{subject}: {line}" for line in lines))


def load_config(source: str | Path, **changes: Any) -> TrainingConfig:
    """Returns the configuration of a name or file.

    Args:
        source: The name of a shipped configuration, such as `quickstart`, or the path of a YAML file.
        **changes: Fields that go before those of the file; None stands for no change.

    Raises:
        ConfigError: If there is no such configuration, or anything about it is wrong.
    """
    path = _find(source)
    try:
        fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(fields, dict):
        raise ConfigError(
            f"{path}: expected fields such as 'ruleset: dominos_cc'; found {type(fields).__name__}"
        )
    fields.setdefault("name", path.stem)
    fields |= {name: value for name, value in changes.items() if value is not None}
    return parse_config(fields, str(path))


def shipped_configs() -> dict[str, Path]:
    """Returns the shipped configurations by name."""
    from mexenv.assets import asset_folder

    folder = asset_folder("configs")
    return {} if folder is None else {path.stem: path for path in sorted(folder.glob("training/*.yaml"))}


def reference() -> str:
    """Returns a table of all fields, with defaults and descriptions, in Markdown."""
    rows = ["| field | default | meaning |", "|---|---|---|"]

    def add(model: type[BaseModel], prefix: str) -> None:
        for name, field in model.model_fields.items():
            if isinstance(field.annotation, type) and issubclass(field.annotation, _Part):
                add(field.annotation, f"{prefix}{name}.")
            else:
                default = yaml.safe_dump(field.default, default_flow_style=True).splitlines()[0]
                rows.append(f"| `{prefix}{name}` | `{default}` | {field.description} |")

    add(TrainingConfig, "")
    return "\n".join(rows)


def _find(source: str | Path) -> Path:
    path = Path(source)
    if isinstance(source, Path) or path.suffix in (".yaml", ".yml") or os.sep in str(source):
        if not path.is_file():
            raise ConfigError(f"{path}: no such file")
        return path
    shipped = shipped_configs()
    if str(source) not in shipped:
        raise ConfigError(
            f"unknown training config {str(source)!r}{_near(str(source), list(shipped))}; allowed: the path "
            f"of a YAML file, or one of: {', '.join(shipped)}"
        )
    return shipped[str(source)]


def _near(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _model_at(location: tuple[Any, ...]) -> type[BaseModel]:
    model: type[BaseModel] = TrainingConfig
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, _Part):
            break
        model = field.annotation
    return model


def _complaint(problem: Any, fields: Mapping[str, Any]) -> str:
    """Puts one of pydantic's findings into a line: field, value, what is allowed."""
    location = tuple(part for part in problem["loc"] if not str(part).startswith(("dict[", "list[")))
    name = ".".join(str(part) for part in location)
    value, context = problem["input"], problem.get("ctx", {})
    kind = problem["type"]
    if kind == "extra_forbidden":
        known = list(_model_at(location[:-1]).model_fields)
        return f"unknown field {name!r}{_near(str(location[-1]), known)}; allowed: {', '.join(known)}"
    if kind == "value_error":
        prefix = f"{name}." if name else ""
        return f"{prefix}{context['error']}"
    bounds = {
        "greater_than": "more than {gt}",
        "greater_than_equal": "at least {ge}",
        "less_than": "less than {lt}",
        "less_than_equal": "at most {le}",
        "literal_error": "{expected}",
        "too_short": "at least {min_length} entries",
        "string_pattern_mismatch": "letters, digits, '_', '-' and '.', not beginning with a sign",
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "string_type": "a text",
        "list_type": "a list",
        "dict_type": "fields, each on its line",
        "model_type": "fields, each on its line",
    }
    allowed = bounds[kind].format(**context) if kind in bounds else problem["msg"]
    return f"{name}={value!r} is not allowed; allowed: {allowed}"
