"""`python -m albacore.cli`."""

import sys

from albacore.cli import main

sys.exit(main())
