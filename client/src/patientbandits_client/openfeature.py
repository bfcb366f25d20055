"""A provider for OpenFeature's Python SDK, which can track: experiments are flags.

    from openfeature import api
    from patientbandits_client import Client
    from patientbandits_client.openfeature import Provider

    api.set_provider(Provider(Client("http://localhost:8080", "pb_dc_...")))
    visitor = EvaluationContext("visitor-42")
    client = api.get_client()
    client.get_string_value("checkout", "control", visitor)
    client.track("purchase", visitor, TrackingEventDetails(59.90, {"order": "A-1001"}))

It asks a `Client`, or a shop of `patientbandits.live` in the same process: both have the same
methods. An event must be a goal of an experiment. Needs the extra ``openfeature``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

try:
    from openfeature.evaluation_context import EvaluationContext
    from openfeature.exception import (
        FlagNotFoundError,
        GeneralError,
        InvalidContextError,
        ProviderNotReadyError,
        TargetingKeyMissingError,
        TypeMismatchError,
    )
    from openfeature.flag_evaluation import FlagResolutionDetails, Reason
    from openfeature.provider import AbstractProvider, Metadata
    from openfeature.track import TrackingEventDetails
except ImportError as error:  # pragma: no cover
    from patientbandits_client.errors import InputError

    raise InputError(
        "openfeature: this needs openfeature-sdk; pip install 'patientbandits-client[openfeature]'."
    ) from error

from patientbandits_client.errors import (
    ConflictError,
    NotFoundError,
    RefusedError,
    UnavailableError,
)
from patientbandits_client.records import Evaluated

LOG = logging.getLogger(__name__)
ORDER_NAMES = ("order", "id")
"""attributes of an event that name the order, so that repeating does no harm"""


class EvaluatingExperiment(Protocol):
    def evaluate(self, unit: str) -> Evaluated: ...


class EvaluatingShop(Protocol):
    """Methods that a `Client` and a `Shop` have in common."""

    def open(self, experiment: str) -> EvaluatingExperiment: ...

    def track(
        self, unit: str, order: str | None, value: float, at: Any, *, goal: str | None
    ) -> Any: ...


class Provider(AbstractProvider):
    """Flags from ``shop``: a `Client`, or a shop opened by `patientbandits.live.open`."""

    def __init__(self, shop: EvaluatingShop) -> None:
        super().__init__()
        self._shop = shop
        self._refused: set[str] = set()
        """events that were refused: each is logged once"""

    def get_metadata(self) -> Metadata:
        return Metadata(name="patientbandits")

    def resolve_boolean_details(
        self, flag_key: str, default_value: bool, evaluation_context: Any = None
    ) -> FlagResolutionDetails[bool]:
        return self._resolve(flag_key, default_value, evaluation_context, (bool,))

    def resolve_string_details(
        self, flag_key: str, default_value: str, evaluation_context: Any = None
    ) -> FlagResolutionDetails[str]:
        return self._resolve(flag_key, default_value, evaluation_context, (str,))

    def resolve_integer_details(
        self, flag_key: str, default_value: int, evaluation_context: Any = None
    ) -> FlagResolutionDetails[int]:
        return self._resolve(flag_key, default_value, evaluation_context, (int,))

    def resolve_float_details(
        self, flag_key: str, default_value: float, evaluation_context: Any = None
    ) -> FlagResolutionDetails[float]:
        details = self._resolve(flag_key, default_value, evaluation_context, (int, float))
        details.value = float(details.value)
        return details

    def resolve_object_details(
        self,
        flag_key: str,
        default_value: Sequence[Any] | Mapping[str, Any],
        evaluation_context: Any = None,
    ) -> FlagResolutionDetails[Sequence[Any] | Mapping[str, Any]]:
        return self._resolve(flag_key, default_value, evaluation_context, (dict,))

    def _resolve(
        self,
        name: str,
        default: Any,
        context: EvaluationContext | None,
        kinds: tuple[type, ...],
    ) -> FlagResolutionDetails[Any]:
        unit = targeted(context)
        try:
            flag = self._shop.open(name).evaluate(unit)
        except NotFoundError as error:
            raise FlagNotFoundError(str(error)) from error
        except UnavailableError as error:
            raise ProviderNotReadyError(str(error)) from error
        except ConflictError as error:
            raise GeneralError(str(error)) from error
        except RefusedError as error:
            raise InvalidContextError(str(error)) from error
        if flag.arm is None:
            return FlagResolutionDetails(value=default, reason=Reason.DISABLED)
        if type(flag.value) not in kinds:
            rule = " or ".join(kind.__name__ for kind in kinds)
            raise TypeMismatchError(f"{name}: its value must be {rule}; got {flag.value!r:.100}")
        metadata = {
            "decision": flag.id,
            "propensity": flag.propensity,
            "outside": flag.outside,
        }
        return FlagResolutionDetails(
            value=flag.value,
            variant=flag.arm,
            reason=Reason.SPLIT if flag.outside is None else Reason.STATIC,
            flag_metadata={key: value for key, value in metadata.items() if value is not None},
        )

    def track(
        self,
        tracking_event_name: str,
        evaluation_context: EvaluationContext | None = None,
        tracking_event_details: TrackingEventDetails | None = None,
    ) -> None:
        """Tell every experiment that has the event as a goal; errors are logged, never raised.

        Attributes: ``order`` or ``id`` names the order, ``at`` says when it happened, if not now.
        """
        details = tracking_event_details or TrackingEventDetails()
        attributes: Mapping[str, Any] = details.attributes or {}
        orders = [attributes[name] for name in ORDER_NAMES if name in attributes]
        order = str(orders[0]) if orders else None
        value = 1.0 if details.value is None else details.value
        try:
            self._shop.track(
                targeted(evaluation_context),
                order,
                value,
                attributes.get("at"),
                goal=tracking_event_name,
            )
        except (RefusedError, TargetingKeyMissingError) as error:
            if tracking_event_name not in self._refused:
                self._refused.add(tracking_event_name)
                LOG.warning("event %r was refused: %s", tracking_event_name, error)
        except UnavailableError as error:
            LOG.error("event %r was not delivered: %s", tracking_event_name, error)


def targeted(context: EvaluationContext | None) -> str:
    unit = context.targeting_key if context else None
    if not unit:
        raise TargetingKeyMissingError("the context must have a targeting key: the unit")
    return unit
