"""All that is to be told of an experiment now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from patientbandits.live.commands import Journal
from patientbandits.live.log import Experiment
from patientbandits.live.monitoring.alerts.arrivals import WatchedLog
from patientbandits.live.monitoring.alerts.ratio import RatioTest
from patientbandits.live.monitoring.alerts.surprises import (
    AlertFinding,
    ArmModel,
    bursts,
    frequent_units,
    jumps,
    stopped,
)
from patientbandits.live.monitoring.alerts.whole_log import ArmCurve, WholeLog
from patientbandits.live.settings import Settings
from patientbandits.live.storage import Reader
from patientbandits.live.times import SECOND

LEADS = 0.9
"""the probability from which on an arm is said to lead"""

LARGEST_LEAD = 60.0
"""seconds by which a log may be ahead of the clock"""


def found_in_log(
    reader: Reader,
    experiment: Experiment,
    settings: Settings,
    watched: WatchedLog,
    whole: WholeLog,
    now: int,
) -> list[AlertFinding]:
    """What the log says."""
    found = ratio_findings(watched.ratio, settings)
    arrivals = watched.arrivals()
    if not any(own.told.total for own in arrivals):
        return found
    messages = watched.messages()
    moment = now / SECOND
    look = whole.look(reader, experiment, settings, watched.seq, now)
    models = arm_models(look.curves, settings, watched)
    found += stopped(models, arrivals, messages, moment)
    found += jumps(models, arrivals, moment)
    found += bursts(models, arrivals, moment)
    found += frequent_units(messages, partial(watched.first_line, reader, experiment.id), moment)
    return found + verdict_findings(look.verdict)


def ratio_findings(test: RatioTest, settings: Settings) -> list[AlertFinding]:
    if not test.mismatch:
        return []
    arms = []
    for arm, shown, owed in zip(settings.arms, test.shown, test.owed, strict=True):
        ratio = owed / test.decisions
        arms.append({"arm": arm, "shown": int(shown), "ratio": float(ratio)})
    words = "arms are not shown as often as the logged propensities say"
    data = {"arms": arms, "log_evidence": test.largest}
    return [AlertFinding("ratio", "", words, data)]


def arm_models(
    curves: Sequence[ArmCurve], settings: Settings, watched: WatchedLog
) -> list[ArmModel]:
    """Each arm's curve, with its decisions up to now."""
    models = []
    for name, made, curve in zip(settings.arms, watched.made, curves, strict=True):
        models.append(ArmModel(name, made.moments(), *curve))
    return models


def verdict_findings(verdict: dict[str, Any]) -> list[AlertFinding]:
    leader = verdict.get("leader")
    if leader is None or verdict["too_early"]:
        return []
    data = {"probability": verdict["probability"], "expected_loss": verdict["expected_loss"]}
    found = []
    if verdict["probability"] >= LEADS:
        found.append(AlertFinding("leader", leader, "leads", data))
    if verdict["certain"]:
        found.append(AlertFinding("can_stop", "", verdict["words"], data))
    return found


def found_running(
    journal: Journal, experiment: Experiment, last: int, now: int
) -> list[AlertFinding]:
    """What is wrong with the machine or the program; ``last``: when the log was last written."""
    found = []
    jump = float(getattr(journal.clock, "jump", 0.0))
    ahead = (last - now) / SECOND
    if jump or ahead > LARGEST_LEAD:
        words = f"the clock has jumped by {jump or -ahead:.0f} seconds"
        found.append(AlertFinding("clock", "", words, {"seconds": jump or -ahead}))
    cause = journal.cause_of_failure(experiment.id)
    if cause is not None:
        found.append(AlertFinding("failed", "", f"it cannot decide: {cause}", {}))
    return found
