"""Caveats: what a reader of the verdict has to know beside it, each as finding, evidence, remedy."""

from albacore.replay import Scene, quarantined
from albacore.sample import Blame, Failure
from albacore.verdict import validation
from albacore.verdict.validation import Plan


def caveats(scene: Scene) -> list[str]:
    """Return what a reader of the verdict has to know beside it: finding, evidence, remedy."""
    plan = validation.planned(scene)
    found = list(plan.skipped)
    denied = [knob.name for knob in scene.space.knobs if knob.safety == "denied"]
    if denied:
        found.append(f"Settings that risk data were tuned ({', '.join(denied)}): review them before you ship.")
    loads = [f for f in scene.log.facts(Failure) if f.blame is Blame.LOAD]
    if loads:
        found.append(
            f"The load generator failed {len(loads)} time(s), last on {loads[-1].node}: {loads[-1].message}. "
            "These samples were taken again; see whether it is saturated."
        )
    lost = quarantined(scene.log)
    if lost:
        found.append(f"Nodes that failed repeatedly got no more samples: {', '.join(sorted(lost))}. Look at them.")
    found += [
        f"Config {config_id} stood back: most configs around it that were seen on several nodes are unstable. "
        "Validate it all the same with `veto = false`."
        for config_id in plan.stood_back
    ]
    return found + _about_validation(scene, plan)


def _about_validation(scene: Scene, plan: Plan) -> list[str]:
    """Return what was not as planned on the fresh nodes."""
    found = []
    for config_id in plan.configs(scene.default_id):
        answers = sum(len(v) for v in validation.figures(scene, plan, config_id).values())
        missing = len(plan.nodes) * plan.repeats - answers - len(validation.failures(scene, plan, config_id))
        if missing > 0:
            found.append(
                f"{missing} of {len(plan.nodes) * plan.repeats} validation samples of {config_id} are missing; it was "
                "compared on the others. See the failed tasks of 'validate'."
            )
    if plan.previous is None:
        return found
    if reason := validation.unstable_reason(scene, validation.deployment(scene, plan, plan.previous)):
        found.append(f"The incumbent {plan.previous} is unstable on fresh nodes ({reason}). See why, or replace it.")
    return found
