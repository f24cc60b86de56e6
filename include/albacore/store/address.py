"""Where the store is: a flag, Airflow's connection, or a file in AIRFLOW_HOME."""

import json
from collections.abc import Mapping
from pathlib import Path

from albacore.errors import UserError

CONNECTION = "AIRFLOW_CONN_ALBACORE_STORE"
DIALECTS = {"postgres": "postgresql+psycopg2", "postgresql": "postgresql+psycopg2"}


def find(environment: Mapping[str, str], flag: str | None = None) -> str:
    """Return the SQLAlchemy URL of the store.

    Raises:
        UserError: When none of the three places names one.
    """
    if flag:
        return flag
    if connection := environment.get(CONNECTION):
        return of_connection(connection)
    if home := environment.get("AIRFLOW_HOME"):
        return f"sqlite:///{Path(home).absolute() / 'albacore.db'}"
    raise UserError(
        f"store: no address. Give --store URL, or set {CONNECTION}, or AIRFLOW_HOME (its albacore.db is used)."
    )


def of_connection(connection: str) -> str:
    """Return the URL that an Airflow connection, in its JSON or its URI form, stands for."""
    if not connection.lstrip().startswith("{"):
        scheme, _, rest = connection.partition("://")
        return f"{DIALECTS.get(scheme, scheme)}://{rest}"
    try:
        parts = json.loads(connection)
    except json.JSONDecodeError as error:
        raise UserError(f"{CONNECTION}: neither a URI nor JSON: {error}. See docs/whats-here.md, 'store'.") from error
    return of_parts(
        str(parts.get("conn_type", "")),
        host=parts.get("host") or "",
        login=parts.get("login"),
        password=parts.get("password"),
        port=parts.get("port"),
        schema=parts.get("schema"),
    )


def of_parts(
    conn_type: str, *, host: str, login: str | None, password: str | None, port: int | None, schema: str | None
) -> str:
    """Return the URL that the fields of an Airflow connection stand for; SQLite has its file in `host`."""
    from sqlalchemy import URL

    if conn_type == "sqlite":
        return f"sqlite:///{host}"
    if conn_type not in DIALECTS:
        raise UserError(f"{CONNECTION}: expected conn_type sqlite or postgres, got {conn_type!r}.")
    url = URL.create(
        DIALECTS[conn_type],
        username=login,
        password=password,
        host=host,
        port=int(port) if port else None,
        database=schema,
    )
    return url.render_as_string(hide_password=False)
