"""Published results about late rewards, played again: findings, our numbers, verdicts."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.research.field.run import PAPERS as PAPERS
    from patientbandits.research.field.run import play_field as play_field

__all__, __getattr__, __dir__ = lazy_exports(__name__)
