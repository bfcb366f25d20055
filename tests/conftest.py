"""What `make quick` leaves out: everything marked slow, by the two lists below."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent

SLOW_FILES = frozenset(
    {
        "test_adaptivity.py",
        "test_adaptivity_command.py",
        "test_bootstrapped.py",
        "test_cache.py",
        "test_cli.py",
        "test_compare.py",
        "test_executors.py",
        "test_feedback.py",
        "test_field.py",
        "test_frozen.py",
        "test_newcomers.py",
        "test_worlds.py",
        "test_guarded.py",
        "test_notebooks.py",
        "test_otf_linucb.py",
        "test_paper.py",
        "test_patient.py",
        "test_patient_kl.py",
        "test_patient_thompson.py",
        "test_qpmd.py",
        "test_reported.py",
        "test_site.py",
        "test_sweeps.py",
        "live/test_dashboard.py",
        "live/test_disk_errors.py",
        "live/test_express.py",
        "live/test_first_user.py",
        "live/test_fuzz.py",
        "live/test_disk_full.py",
        "live/test_http.py",
        "live/test_http_schema.py",
        "live/test_journal.py",
        "live/test_kill.py",
        "live/test_messages.py",
        "live/test_ofrep.py",
        "live/test_client.py",
        "live/test_deploy.py",
        "live/test_traces.py",
        "live/test_openfeature.py",
        "live/test_outage.py",
        "live/test_policy_state.py",
        "live/test_postgres.py",
        "live/test_power_loss.py",
        "live/test_queries.py",
        "live/test_shares.py",
        "live/test_alerts.py",
        "live/test_quarantine.py",
        "live/test_watching_http.py",
        "live/test_webhooks.py",
        "live/test_supervisor.py",
        "live/test_import.py",
        "live/test_units.py",
        "live/test_verdict.py",
        "live/test_visitors_http.py",
        "live/test_visits.py",
        "live/test_workers.py",
        "live/test_damage.py",
        "live/test_in_use.py",
        "live/test_protocol.py",
        "live/test_vanishing_database.py",
    }
)
"""They start servers, clusters or browsers, kill processes, fill disks, compile from nothing, or
play thousands of runs. A new file is quick until it is listed here."""

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


def is_slow(file: str, name: str) -> bool:
    """Whether `make quick` leaves out the test ``name`` of ``file``."""
    return file in SLOW_FILES or any(part in name for part in SLOW_NAMES)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out by `make quick` (tests/conftest.py)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(item.path.relative_to(HERE).as_posix(), item.name):
            item.add_marker("slow")
