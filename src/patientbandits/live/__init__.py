"""Decisions for live traffic: durable, for conversions that come hours or weeks later. See `patientbandits.live.shop`."""

from patientbandits.live.commands import Conversion, Decision, Retraction
from patientbandits.live.refusals import ConflictError, DifferentError, RefusedError, UnavailableError, UnknownError
from patientbandits.live.shop import ExperimentHandle, Shop, open

__all__ = [
    "ConflictError", "Conversion", "Decision", "DifferentError", "ExperimentHandle", "RefusedError", "Retraction", "Shop",
    "UnavailableError", "UnknownError", "open",
]  # fmt: skip
