"""The speed benchmark: ``python -m bench``.

Ratios of times, taken side by side on one core, against the bars set for them.
"""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "live")]
"""Benchmarks of the service use what its tests share."""
