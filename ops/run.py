"""Run `albacore_ops` from its folder: the clone itself is never on the import path."""

import sys

from albacore_ops.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
