"""App: the routes together. Every one has a guard; tests/web/test_guards.py walks them all."""

from fastapi import FastAPI

from albacore_airflow.web import assets, comparison, data, pages, writes
from albacore_airflow.web.headers import Headers


def make() -> FastAPI:
    """Return the web app, without the pages about itself that FastAPI would leave open."""
    app = FastAPI(title="Albacore", docs_url=None, redoc_url=None, openapi_url=None)
    for part in (assets, comparison, data, pages, writes):
        app.include_router(part.router)
    app.add_middleware(Headers)
    return app
