"""``python -m orders``."""

import sys

from orders.cli import main

sys.exit(main())
