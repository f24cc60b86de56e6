"""Campaign: everything that is fixed before the first sample, read from one TOML file.

Editing the file affects the next campaign run: a run stores its effective campaign (file, form values, seed) when it
opens and reads only that afterwards.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from albacore import optimizers
from albacore.clouds.choice import Nodes as Nodes
from albacore.errors import CampaignError, ExpressionError
from albacore.expression import names_in
from albacore.fewer import Fewer
from albacore.optimizers import NewOnly, Optimizer, Repeating
from albacore.policies import Policy, Teachable, presets
from albacore.schedule import checked_cron, checked_zone

ETA = 3
"""One in so many configs climbs a rung (TUNA §5.1)."""
MAX_BYTES = 100_000
NAME = re.compile(r"^[a-z][a-z0-9_-]{0,29}$")
RESERVED = frozenset({"housekeeping", "reaper", "survey"})
"""Names of DAGs that belong to no campaign."""
Name = Annotated[str, Field(pattern=NAME.pattern)]
Number = int | float


class Part(BaseModel):
    """A table of the campaign file: unknown keys and wrong types are errors, values never change."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Limits(Part):
    """When a run stops asking. Samples of the default config count; those of the validation do not."""

    samples: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    hours: Annotated[float, Field(gt=0, le=10_000)] = 8.0
    cost: Annotated[float, Field(gt=0, le=1e12)] | None = None


class Stop(Part):
    """When a run stops asking because more is not expected to help; both rules are off by default (Metis §3)."""

    expected_gain: Annotated[float, Field(ge=0, lt=1)] = 0.0
    converged_after: Annotated[int, Field(ge=0, le=10_000)] = 0
    min_scores: Annotated[int, Field(ge=5, le=10_000)] = 20


class OptimizerChoice(Part):
    """Which optimizer, how many random configs it starts from, what it keeps moving, whether it measures again."""

    name: Literal[tuple(sorted(optimizers.KINDS))] = "smac"  # type: ignore[valid-type]
    initial: Annotated[int, Field(ge=0, le=10_000)] = 10
    keep: Annotated[int, Field(ge=1, le=10_000)] | None = None
    keep_after: Annotated[int, Field(ge=20, le=10_000)] = 50
    resample: bool = True
    weighs_limits: bool = True


class ObjectiveChoice(Part):
    """What is tuned instead of the workload's metric, and the most that metrics may be."""

    expression: str = ""
    direction: Literal["min", "max"] | None = None
    unit: Annotated[str, Field(max_length=20)] = ""
    limits: dict[str, Number] = {}

    @model_validator(mode="after")
    def _expression_is_whole(self) -> "ObjectiveChoice":
        if self.expression and self.direction is None:
            raise ValueError("objective.direction: 'min' or 'max' has to say which way the expression improves")
        if not self.expression and (self.direction or self.unit):
            raise ValueError("objective.expression: there is none, so 'direction' and 'unit' are the workload's")
        if self.expression and not names_in(self.expression):
            raise ValueError("objective.expression: expected arithmetic over the workload's metrics, it names none")
        return self


class PolicyChoice(Part):
    """Which policy; the parts below `preset` are those of `tuna`."""

    preset: Literal["tuna", "traditional", "naive"] = "tuna"
    rungs: list[Annotated[int, Field(ge=1)]] = [1, 3, 10]
    ladder: Literal["successive_halving", "hyperband", "asynchronous"] = "successive_halving"
    detector: Literal["relative_range", "never"] = "relative_range"
    adjuster: Literal["forest", "ridge", "extra_trees", "cross_validated", "identity"] = "cross_validated"
    threshold: Annotated[float, Field(gt=0, le=10)] = 0.30


class Lanes(Part):
    """How many iterations are in flight; by default one per node that can run at once, and one spare."""

    count: Annotated[int, Field(ge=1, le=64)] | None = None


class Validation(Part):
    """Which configs run on the fresh nodes, how often on each, and what one has to show before it ships."""

    contenders: Annotated[int, Field(ge=1, le=20)] = 2
    veto: bool = True
    repeats: Annotated[int, Field(ge=1, le=100)] = 2
    min_gain: Annotated[float, Field(ge=1, le=1000)] = 1.0
    confidence: Annotated[float, Field(ge=0.5, le=0.999)] = 0.95


class Bounds(Part):
    """A narrower range for one knob: numbers, or expressions over node facts."""

    min: Number | str | None = None
    max: Number | str | None = None
    default: Number | str | bool | None = None


class SpaceChoice(Part):
    """Which knobs are tuned; all of the catalogue by default."""

    knobs: list[str] | None = None
    bounds: dict[str, Bounds] = {}
    allow_denied: bool = False


class WarmStart(Part):
    """What a run takes over from the last runs of its campaign: incumbent, best configs, what their noise teaches."""

    runs: Annotated[int, Field(ge=1, le=100)] = 5
    configs: Annotated[int, Field(ge=0, le=100)] | None = None
    adjuster: bool = False


NIGHTLY_CONFIGS = 3
"""Configs that a run with a schedule takes over when the file does not say."""


class Campaign(Part):
    """One campaign file, or the effective campaign of one run."""

    name: Name
    title: Annotated[str, Field(max_length=200)] = ""
    system: Name
    workload: Name
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    schedule: Annotated[str, AfterValidator(checked_cron)] | None = None
    timezone: Annotated[str, AfterValidator(checked_zone)] = "UTC"
    start_within: Annotated[float, Field(gt=0, le=168)] = 1.0
    keep_days: Annotated[int, Field(ge=1, le=36_500)] = 30
    limits: Limits = Limits()
    objective: ObjectiveChoice = ObjectiveChoice()
    stop: Stop = Stop()
    optimizer: OptimizerChoice = OptimizerChoice()
    policy: PolicyChoice = PolicyChoice()
    nodes: Nodes = Nodes()
    lanes: Lanes = Lanes()
    validation: Validation = Validation()
    warm_start: WarmStart = WarmStart()
    space: SpaceChoice = SpaceChoice()
    params: dict[str, Any] = {}

    @model_validator(mode="after")
    def _rungs_fit_the_fleet(self) -> "Campaign":
        self.policy_of()
        rungs, nodes = self.policy.rungs, self.nodes.tuning
        if self.policy.preset == "tuna" and rungs[-1] > nodes:
            raise ValueError(f"policy.rungs: the highest needs {rungs[-1]} nodes, nodes.tuning has {nodes}. Change one")
        return self

    @model_validator(mode="after")
    def _cost_has_a_price(self) -> "Campaign":
        has_price = self.nodes.is_rented or self.nodes.price_per_hour is not None
        if self.limits.cost is not None and not has_price:
            raise ValueError("limits.cost: needs nodes.price_per_hour, what an hour of one node costs. Add it")
        return self

    @model_validator(mode="after")
    def _adjuster_can_be_taught(self) -> "Campaign":
        chosen = self.policy.adjuster
        if self.warm_start.adjuster and not isinstance(presets.ADJUSTERS[chosen], Teachable):
            raise ValueError(
                f"warm_start.adjuster: policy.adjuster = {chosen!r} cannot learn from earlier runs. Set that "
                "to 'cross_validated', or warm_start.adjuster to false"
            )
        return self

    def policy_of(self) -> Policy:
        """Return the policy that the campaign names."""
        parts = self.policy.model_dump(exclude={"preset", "rungs"})
        return presets.by_name(self.policy.preset, nodes=self.nodes.tuning, rungs=tuple(self.policy.rungs), **parts)

    @property
    def warm_configs(self) -> int:
        """How many configs of earlier runs a run begins with, its incumbent included; 0 is a cold start."""
        chosen = self.warm_start.configs
        return (NIGHTLY_CONFIGS if self.schedule else 0) if chosen is None else chosen

    @property
    def is_taught(self) -> bool:
        """Whether the run's adjuster may learn from earlier runs; a preset without an adjuster has none to teach."""
        return self.warm_start.adjuster and isinstance(self.policy_of().adjuster, Teachable)

    def optimizer_of(self) -> Optimizer:
        """Return the optimizer that the campaign names."""
        chosen, n = self.optimizer, self.expected_configs
        found = optimizers.by_name(chosen.name, initial=chosen.initial, budget=n, weighs_limits=chosen.weighs_limits)
        if chosen.keep is not None:
            return Fewer(inner=found, keep=chosen.keep, after=chosen.keep_after)
        return found if chosen.resample or not isinstance(found, Repeating) else NewOnly(inner=found)

    @property
    def expected_configs(self) -> int:
        """How many configs the samples are enough for: a third of those of a rung reach the next; at least 1."""
        rungs = self.policy_of().ladder.rungs
        steps = zip(rungs, (0, *rungs), strict=False)
        per_config = sum((upper - lower) / ETA**i for i, (upper, lower) in enumerate(steps))
        return max(1, round((self.limits.samples - self.nodes.tuning) / per_config))

    def with_form(self, form: Mapping[str, Any]) -> "Campaign":
        """Return the campaign with the values of the run's form in place of the file's.

        Args:
            form: `samples`, `hours`, `seed`, `preset`, `optimizer`; an absent or None value keeps the file's.

        Raises:
            CampaignError: When the result is not a legal campaign.
        """
        places = {"samples": "limits", "hours": "limits", "preset": "policy", "optimizer": "optimizer"}
        data = self.model_dump()
        for key, value in form.items():
            if value is None:
                continue
            if key == "seed":
                data["seed"] = value
            elif key in places:
                data[places[key]]["name" if key == "optimizer" else key] = value
        if isinstance(data["limits"]["hours"], int):
            data["limits"]["hours"] = float(data["limits"]["hours"])
        return parse(data, where=f"the form of {self.name}")


def parse(data: Mapping[str, Any], *, where: str) -> Campaign:
    """Return the campaign that a table describes.

    Raises:
        CampaignError: Names `where`, the key, what was expected and what was given; the first fault only.
    """
    try:
        return Campaign.model_validate(data)
    except (CampaignError, ExpressionError) as error:
        raise CampaignError(f"{where}: {error.message}") from error
    except ValidationError as error:
        fault = error.errors()[0]
        key = ".".join(str(part) for part in fault["loc"]) or "campaign"
        given = "" if fault["type"] in ("missing", "value_error") else f", got {fault['input']!r:.80}"
        raise CampaignError(f"{where}: {key}: {_told(fault)}{given}. See docs/campaign-file.md.", key=key) from error


def _told(fault: Mapping[str, Any]) -> str:
    """Return a fault in the words of somebody who writes campaign files."""
    if fault["type"] == "extra_forbidden":
        return "unknown key; remove it or correct its spelling"
    if fault["type"] == "missing":
        return "expected a value, there is none; add it"
    return str(fault["msg"]).removeprefix("Value error, ")


def read(path: Path) -> Campaign:
    """Return the campaign of a file; its name is the file's.

    Raises:
        CampaignError: When the file is missing, too large, empty, not TOML, or not a campaign.
    """
    where = f"{path.parent.name}/{path.name}"
    if path.stem in RESERVED:
        raise CampaignError(f"{where}: {path.stem!r} is the name of a DAG of Albacore itself. Rename the file.")
    if not NAME.match(path.stem):
        raise CampaignError(
            f"{where}: the file's name becomes the DAG's: expected {NAME.pattern}, got {path.stem!r}. Rename it."
        )
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise CampaignError(
                f"{where}: expected at most {MAX_BYTES} bytes, got {len(content)}. Is this a campaign file?"
            )
        data = tomllib.loads(content.decode())
    except OSError as error:
        raise CampaignError(f"{where}: cannot be read: {error.strerror}. Check path and permissions.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CampaignError(f"{where}: not TOML: {error}. Correct that line.") from error
    if not data:
        raise CampaignError(f"{where}: the file is empty. A campaign needs at least 'system' and 'workload'.")
    if "name" in data:
        raise CampaignError(f"{where}: name: unknown key; a campaign is named by its file. Remove it.")
    return parse({**data, "name": path.stem}, where=where)
