"""`albacore import`, `export`, `compare`: runs in, runs out, and what two policies say of the same ones."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from albacore.errors import UserError

if TYPE_CHECKING:
    from albacore.importing import Wanted
    from albacore.store import Store


def register(commands: Any) -> None:
    """Add the commands to the subparsers of the command line."""
    bring = commands.add_parser("import", help="bring in runs that were measured elsewhere")
    bring.add_argument("files", nargs="+", type=Path, metavar="FILE", help="raw CSV, *.samples.csv.gz, or *.run.json")
    bring.add_argument("--first-date", metavar="DATE", help="date of the first run; the next ones follow by --every")
    bring.add_argument("--every", default="1d", metavar="STEP", help="from one run to the next: 1d, 12h, 1w (1d)")
    bring.add_argument("--campaign", metavar="NAME", help="campaign that they become runs of (imported)")
    bring.add_argument("--method", help="only runs of this method, e.g. TUNA")
    bring.add_argument("--label", help="workload, instead of what the file's name says")
    bring.add_argument("--direction", choices=["min", "max"], help="which way the figure improves")
    bring.add_argument("--store", help="SQLAlchemy URL of the store")
    bring.set_defaults(command=_import)

    out = commands.add_parser("export", help="write a campaign run as a table, and all of it beside the table")
    out.add_argument("run", help="id of a campaign run; 'albacore show' lists them")
    out.add_argument("--format", choices=["csv", "parquet"], default="csv", dest="kind")
    out.add_argument("-o", "--output", type=Path, default=Path(), metavar="FILE|DIR", help="default: this folder")
    out.add_argument("--store", help="SQLAlchemy URL of the store")
    out.set_defaults(command=_export)

    compare = commands.add_parser("compare", help="compare two policies over a campaign's back-filled runs")
    compare.add_argument("campaign")
    compare.add_argument("--policy", action="append", required=True, metavar="NAME", help="give it twice")
    compare.add_argument("--json", action="store_true", help="as JSON")
    compare.add_argument("--store", help="SQLAlchemy URL of the store")
    compare.set_defaults(command=_compare)


def _store(url: str | None) -> "Store":
    from albacore.store import Store, address

    store = Store(address.find(os.environ, url))
    store.migrate()
    return store


def _import(arguments: argparse.Namespace) -> int:
    from albacore.importing import bring_in, check

    store, wanted = _store(arguments.store), _wanted(arguments)
    count = check(store, arguments.files, wanted)
    print(f"{count} run(s) read, every row in order")
    new = samples = failures = 0
    for i, found in enumerate(bring_in(store, arguments.files, wanted)):
        if found.is_new:
            new, samples, failures = new + 1, samples + found.samples, failures + found.failures
            date = f" on {found.date[:10]}" if found.date else ""
            print(f"  {i + 1} of {count}: {found.run_id}{date}: {found.samples} samples, {found.failures} failures")
        else:
            print(f"  {i + 1} of {count}: {found.run_id} is there already")
    print(f"{new} run(s) came in with {samples} samples and {failures} failures; {count - new} were there before")
    return 0


def _wanted(arguments: argparse.Namespace) -> "Wanted":
    from albacore.backfill import calendar
    from albacore.importing import CAMPAIGN, Wanted, dates_of
    from albacore.trial import Direction

    name = arguments.campaign or CAMPAIGN
    zone, only = "UTC", None
    if history := _file("HISTORIES", "histories", name):
        zone = calendar.read(history).timezone
    elif campaign := _file("CAMPAIGNS", "campaigns", name):
        from albacore.campaign import read

        chosen = read(campaign)
        zone, only = chosen.timezone, (chosen.system, chosen.workload)
    elif os.environ.get("AIRFLOW_HOME"):
        print(
            f"albacore: campaign {name} has no file, so it gets no DAG to back-fill: make an empty "
            f"include/histories/{name}.toml",
            file=sys.stderr,
        )
    return Wanted(
        campaign=name,
        is_named=arguments.campaign is not None,
        dates=dates_of(arguments.first_date, arguments.every, zone),
        method=arguments.method,
        label=arguments.label,
        direction=Direction(arguments.direction) if arguments.direction else None,
        only=only,
    )


def _file(variable: str, folder: str, name: str) -> Path | None:
    """Return the file of a campaign or a history of this clone, if there is one."""
    home = os.environ.get("AIRFLOW_HOME")
    moved = os.environ.get(f"ALBACORE_{variable}")
    if not (moved or home) or "/" in name:
        return None
    path = (Path(moved) if moved else Path(str(home)) / "include" / folder) / f"{name}.toml"
    return path if path.is_file() else None


def _export(arguments: argparse.Namespace) -> int:
    from albacore.history import export
    from albacore.store import transcript

    store = _store(arguments.store)
    found = transcript.read(store, arguments.run)
    written = export.write(found, transcript.origin(store, arguments.run), arguments.output, arguments.kind)
    print(f"{found.samples} samples and {found.failures} failures: {written[0]}")
    print(f"all of the run, for 'albacore import': {written[1]}")
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from albacore.backfill.comparing import compare, lines, plain

    if len(arguments.policy) != 2:
        raise UserError(f"compare: expected --policy twice, got it {len(arguments.policy)} time(s).")
    found = compare(_store(arguments.store), arguments.campaign, *arguments.policy)
    if arguments.json:
        print(json.dumps(plain(found), indent=1))
    else:
        print("\n".join(lines(found)))
    return 0
