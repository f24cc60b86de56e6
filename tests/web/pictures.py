"""Take the pictures of docs/pages.md anew: `python tests/web/pictures.py`."""

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("include", "plugins", "ops", "tests")]
WIDTH, HEIGHT = 1180, 760
PICTURES = {
    "fleet": ("/", "light"),
    "convergence": ("/dags/demo/runs/demo-1/convergence", "light"),
    "spread": ("/dags/demo/runs/demo-1/spread", "dark"),
    "nodes": ("/dags/demo/runs/demo-1/nodes", "light"),
    "night": ("/dags/nightly/runs/nightly-6/night", "light"),
    "verdict": ("/dags/demo/runs/demo-1/verdict", "light"),
}


def fill(path: Path) -> None:
    """Write three campaigns into a store."""
    from recorded_runs import write_demo, write_nights

    from albacore.store import Store

    store, now = Store(f"sqlite:///{path}"), time.time()
    store.migrate()
    write_demo(store, "demo-1", opened_at=now - 16_000, iterations=150, title="Demo: PostgreSQL for reports")
    write_demo(store, "planted-1", opened_at=now - 40_000, iterations=60, title="Web shop: orders")
    write_demo(store, "planted-2", opened_at=now - 9_000, iterations=60, title="Web shop: orders")
    write_nights(store, opened_at=now - 1_800, count=6)
    store.close()


def main() -> None:
    """Serve, look, and write docs/figures/pages-*.png."""
    from browser import browser

    spec = importlib.util.spec_from_file_location("web_server", Path(__file__).parent / "conftest.py")
    web = importlib.util.module_from_spec(spec)
    sys.modules["web_server"] = web
    spec.loader.exec_module(web)
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        home = Path(folder) / "home"
        home.mkdir()
        fill(home / "albacore.db")
        with web.serving(home, with_store=False) as server:
            for name, (path, scheme) in PICTURES.items():
                context = chromium.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
                context.add_cookies([{"name": "_token", "value": server.token("adm"), "url": server.url}])
                page = context.new_page()
                page.goto(f"{server.url}/albacore{path}")
                page.locator("#body").wait_for(state="visible", timeout=90_000)
                page.wait_for_timeout(2500)
                page.screenshot(path=str(ROOT / "docs" / "figures" / f"pages-{name}.png"))
                context.close()


if __name__ == "__main__":
    main()
