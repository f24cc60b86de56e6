"""Plain: values as JSON that every browser reads."""

import json
import math
from typing import Any

from fastapi import Response


def encode(value: Any) -> bytes:
    """Return compact JSON; numbers that JSON does not have become null."""
    try:
        return _dump(value)
    except ValueError:
        return _dump(_finite(value))


def _dump(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=str).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer(content: bytes) -> Response:
    """Return an answer of JSON that no cache keeps."""
    return Response(content, media_type="application/json", headers={"cache-control": "no-store"})
