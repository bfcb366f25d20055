"""A shop with a slow arm, its analysis, and files with any content."""

from __future__ import annotations

import pytest
from event_files import log_normal_arm

from patientbandits._util.durations import DAY
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events


@pytest.fixture(scope="session")
def shop() -> Events:
    """The second arm is better and slow."""
    return Events.of(
        {"control": log_normal_arm(1, 6000, 0.05, 0.5), "slow": log_normal_arm(2, 6000, 0.07, 6.0)},
        window=30 * DAY,
        end=1_780_000_000,
    )


@pytest.fixture(scope="session")
def analysis(shop: Events) -> Analysis:
    return analyse(shop)


@pytest.fixture
def write(tmp_path):
    def put(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return put
