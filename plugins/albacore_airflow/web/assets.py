"""Assets: our scripts and styles, and the plotting library out of the package that pip installed.

The address of ours holds the digest of the whole folder, so that a browser may keep them for good, and modules that
import one another are always of one version.
"""

import hashlib
import mimetypes
import re
from functools import cache
from importlib import metadata
from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse

from albacore_airflow.web.guards import signed_in

FOLDER = Path(__file__).parent / "static"
FOREVER = {"cache-control": "private, max-age=31536000, immutable"}
STYLE_ID = re.compile(r'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)')
router = APIRouter(prefix="/static", dependencies=[signed_in])


@cache
def files() -> dict[str, Path]:
    """Return name -> file of our own assets; nothing else is ever served."""
    return {path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.rglob("*")) if path.is_file()}


@cache
def digest() -> str:
    """Return the digest of all our assets."""
    found = hashlib.sha256()
    for name, path in files().items():
        found.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


@cache
def plotly_version() -> str:
    """Return the version of the installed package that the plotting library comes in."""
    return metadata.version("plotly")


@cache
def plotly_file() -> Path:
    """Return the plotting library: a file of the installed package, found without importing it."""
    found = [f for f in metadata.files("plotly") or [] if f.as_posix().endswith("package_data/plotly.min.js")]
    if not found:
        raise HTTPException(500, "The installed package 'plotly' holds no plotly.min.js. Run 'make install'.")
    return Path(str(found[0].locate()))


@cache
def plotly_style_ids() -> list[str]:
    """Return the ids of the styles that plotly writes into a page unless an element has that id already.

    They are of its maps, which no page of ours draws, and our Content-Security-Policy would refuse them aloud.
    """
    return sorted(set(STYLE_ID.findall(plotly_file().read_text(encoding="utf-8"))))


@router.get("/plotly/{version}.js")
def plotly(version: str) -> FileResponse:
    """Return the plotting library."""
    return FileResponse(plotly_file(), media_type="text/javascript", headers=FOREVER)


@router.get("/{version}/{name:path}")
def own(version: str, name: str) -> FileResponse:
    """Return one of our assets."""
    if name not in files():
        raise HTTPException(404, "No such file.")
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return FileResponse(files()[name], media_type=media_type, headers=FOREVER if version == digest() else None)
