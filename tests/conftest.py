"""Mark the slow cases of tests that are otherwise quick; slow files say so themselves."""

from __future__ import annotations

import pytest

SLOW_NAMES = (
    "postgres",  # needs a server
    "QPMD",  # policies over other policies: a kernel for each of them
    "GuardedThompson",
    "1024-1100",  # long loops, interpreted
    "test_loop_equals_simulation[PatientThompson]",
    "equals_naive[PatientThompson]",  # the model of every arm and round, from the definition
    "equals_naive[TopTwoThompson]",
    "test_over_http_and_on_the_command_line",  # a server, and a process for each command
    "test_corrected_rates_see_through_the_delay",  # a shop's months, decision by decision
    "test_coverage",  # statistics of hundreds of data sets
    "test_inverse_weights_have_mean_one",  # and of thousands of decisions
    "test_a_bound_on_a_clock_in_milliseconds",  # sums over millions of ages
    "test_example_runs",  # a process for each
    "test_upper_bound_of_a_law_with_late_steps",
)
"""Single tests, and cases of parametrised ones: parts of their names."""


def is_slow(name: str) -> bool:
    """Tell whether `make quick` leaves out the test ``name``."""
    return any(part in name for part in SLOW_NAMES)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out by `make quick` (tests/conftest.py)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(item.name):
            item.add_marker("slow")
