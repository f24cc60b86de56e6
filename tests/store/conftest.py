"""Empty databases of each kind that a store can be in."""

import itertools
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, make_url
from store import server


@pytest.fixture(scope="session")
def postgres() -> Iterator[tuple[str, Iterator[int]]]:
    """One PostgreSQL for all tests, and numbers for their databases."""
    with server.postgres() as url:
        yield url, itertools.count()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.node)])
def url(request, tmp_path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'a store.db'}"
    whole, numbers = request.getfixturevalue("postgres")
    name = f"store_{next(numbers)}"
    engine = create_engine(whole, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return make_url(whole).set(database=name).render_as_string(hide_password=False)
