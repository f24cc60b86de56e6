"""`albacore verdict`: what a campaign run concluded, for people, for programs, or as lines ready to deploy."""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from albacore.errors import UserError


def register(commands: Any) -> None:
    """Add the command to the subparsers of the command line."""
    verdict = commands.add_parser("verdict", help="print what a campaign run concluded, and the config to deploy")
    verdict.add_argument("run", help="id of a campaign run")
    form = verdict.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the whole verdict as JSON (docs/verdict.md)")
    form.add_argument(
        "--fragment",
        action="store_true",
        help="only the lines of the system's own file; exit code 1 and nothing else when the verdict is not to ship",
    )
    verdict.add_argument("--store", help="SQLAlchemy URL of the store")
    verdict.set_defaults(command=_verdict)


def _verdict(arguments: argparse.Namespace) -> int:
    """Print the newest verdict of a run in the form that was asked for."""
    from albacore.store import Store, address
    from albacore.store.run_log import RunLog

    store = Store(address.find(os.environ, arguments.store))
    store.migrate()
    notes = RunLog(store, store.run(arguments.run).id).read().notes("verdict")
    if not notes:
        raise UserError(f"verdict: run {arguments.run} has none yet. Wait for its task 'verdict', or see its log.")
    body: Mapping[str, Any] = notes[-1].body
    if arguments.json:
        import json

        print(json.dumps(body, indent=2, sort_keys=True, allow_nan=False))
        return 0
    if arguments.fragment:
        return _fragment(body)
    for line in lines(body):
        print(line)
    return 0


def _fragment(body: Mapping[str, Any]) -> int:
    """Print the lines to deploy; say on standard error why there are none."""
    if not body.get("ship"):
        print(f"albacore: {body.get('sentence')}", file=sys.stderr)
        return 1
    print(body.get("fragment", {}).get("text", ""), end="")
    return 0


def lines(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield a verdict for people: the sentence, what else there is to know, the figures of all that ran."""
    unit = body.get("unit", "")
    yield str(body.get("sentence"))
    for warning in body.get("warnings", []):
        yield f"  note: {warning}"
    for name, found in _ran(body):
        if found.get("mean") is None:
            yield f"  {name} {found['config_id']}: no sample on a fresh node"
            continue
        cov = "" if found.get("cov") is None else f", varies by {found['cov']:.1%} from node to node"
        yield f"  {name} {found['config_id']}: mean {found['mean']:.6g} {unit}, worst {found['worst']:.6g} {unit}{cov}"
    spent = body.get("cost") or {}
    if spent:
        money = "" if spent.get("money") is None else f", at a cost of {spent['money']:.2f}"
        rented = spent.get("rented_node_seconds")
        there = "" if rented is None else f", of {rented / 3600:.2f} node-hours rented"
        yield f"  measured for {spent['node_seconds'] / 3600:.2f} node-hours{there}{money}"


def _ran(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what to call each config that ran on fresh nodes, and its figures."""
    if body.get("default"):
        yield "default", body["default"]
    contenders = body.get("contenders") or ([{"rank": 1, "deployment": body["best"]}] if body.get("best") else [])
    for one in contenders:
        yield f"contender {one['rank']},", one["deployment"]
    if body.get("previous_incumbent"):
        yield "incumbent", body["previous_incumbent"]["deployment"]
