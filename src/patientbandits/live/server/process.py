"""Preparations before the first decision: logs are read, policies compiled."""

from __future__ import annotations

import gc
from functools import partial

from patientbandits.live.errors import RefusedError
from patientbandits.live.experiment import ExperimentHandle
from patientbandits.live.http.logs import log_event, log_failure
from patientbandits.live.policy import OwnProcess, PolicyMemory, have_compiled, warm
from patientbandits.live.settings import Settings
from patientbandits.live.shop import Shop
from patientbandits.simulation.engine import MANY_EVENTS

GARBAGE = (20_000, 20, 50)
"""objects before the collector looks: requests leave few cycles, and looking takes its time"""


def ensure_compiled(settings: Settings) -> None:
    """Have the policy compiled now, not during a decision."""
    try:
        warm(settings)
    except ArithmeticError as error:
        raise RefusedError(f"experiment: {error}") from error


def prepare(shop: Shop) -> None:
    """Read the logs and compile the policies."""
    OwnProcess.used = True
    for handle in shop.experiments():
        try:
            ensure_compiled(handle.settings)
            if much_is_unread(handle):
                have_compiled(handle.settings)
            shop.journal.alone(partial(shop.journal.state, handle.experiment.id))
        except Exception as error:  # one experiment must not keep the others from being served
            log_failure("an experiment cannot be read", error, experiment=handle.name)
    freeze_gc()
    log_event("ready")


def much_is_unread(handle: ExperimentHandle) -> bool:
    """Tell whether its policy must be told so much that compiled code is needed for it."""
    experiment = handle.experiment
    with handle.journal.store.reading() as reader:
        seq, code = reader.snapshot_name(experiment.id)
        if code != PolicyMemory(experiment, handle.settings).code:
            seq = 0
        return reader.head(experiment.id) - seq > MANY_EVENTS


def freeze_gc() -> None:
    """Exempt what is there now from collection: it stays, and need not be looked at each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
