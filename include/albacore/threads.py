"""Threads: linear algebra in one of them.

The order of a sum, and so its last digits, follow the number of threads: with more than one a decision would not be
the same on another machine. On small matrices they do not pay either: with both cores busy a decomposition of 490 x
160 took 0.7 to 5 s with two threads and 0.04 s with one.
"""

import functools
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@functools.cache
def _controller() -> "ThreadpoolController":
    import_module("scipy.linalg")  # it has a library of its own, which only those find that look after its import
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks through all loaded libraries: 3 ms


def one_thread() -> AbstractContextManager[Any]:
    """Return the context in which linear algebra has one thread."""
    return _controller().limit(limits=1)
