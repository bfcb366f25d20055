"""Requests and answers: the library of `patientbandits.live.shop` over HTTP."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.http.limits import RateOptions as RateOptions
    from patientbandits.live.http.schemas import ExperimentAnswer as ExperimentAnswer
    from patientbandits.live.http.schemas import KeyAnswer as KeyAnswer
    from patientbandits.live.http.schemas import experiment_answer as experiment_answer
    from patientbandits.live.http.schemas import key_answer as key_answer
    from patientbandits.live.http.service import App as App
    from patientbandits.live.http.service import Options as Options
    from patientbandits.live.http.service import Service as Service

__all__, __getattr__, __dir__ = lazy_exports(__name__)
