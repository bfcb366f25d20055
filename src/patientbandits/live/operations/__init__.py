"""Keys, backups, checks, imports, erasure: what an operator does with a database."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.operations.backups import accept_loss as accept_loss
    from patientbandits.live.operations.backups import backup as backup
    from patientbandits.live.operations.backups import restore as restore
    from patientbandits.live.operations.checks import check as check
    from patientbandits.live.operations.erasing import Erased as Erased
    from patientbandits.live.operations.erasing import erase_unit as erase_unit
    from patientbandits.live.operations.erasing import forget_silent as forget_silent
    from patientbandits.live.operations.erasing import hash_units as hash_units
    from patientbandits.live.operations.experiments import create_experiment as create_experiment
    from patientbandits.live.operations.importing import Imported as Imported
    from patientbandits.live.operations.importing import import_rows as import_rows
    from patientbandits.live.operations.keys import Key as Key
    from patientbandits.live.operations.keys import Keyring as Keyring

__all__, __getattr__, __dir__ = lazy_exports(__name__)
