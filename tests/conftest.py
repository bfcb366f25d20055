"""Slow tests say so where they stand, by `pytest.mark.slow`; `make quick` leaves them out."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out by `make quick`")
