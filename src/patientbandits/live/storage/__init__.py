"""Storage of the log: an SQLite file, or PostgreSQL for several workers and machines."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.storage.base import BROKEN as BROKEN
    from patientbandits.live.storage.base import END as END
    from patientbandits.live.storage.base import ERAS as ERAS
    from patientbandits.live.storage.base import KEPT_FROM as KEPT_FROM
    from patientbandits.live.storage.base import NAMES_KEPT as NAMES_KEPT
    from patientbandits.live.storage.base import RECHAINED as RECHAINED
    from patientbandits.live.storage.base import SECRET as SECRET
    from patientbandits.live.storage.base import LogStore as LogStore
    from patientbandits.live.storage.base import Reader as Reader
    from patientbandits.live.storage.identifiers import CLEAR as CLEAR
    from patientbandits.live.storage.identifiers import HASHED as HASHED
    from patientbandits.live.storage.identifiers import Era as Era
    from patientbandits.live.storage.identifiers import Pseudonyms as Pseudonyms
    from patientbandits.live.storage.identifiers import Signer as Signer
    from patientbandits.live.storage.identifiers import begin_era as begin_era
    from patientbandits.live.storage.identifiers import begin_era_if_moved as begin_era_if_moved
    from patientbandits.live.storage.identifiers import database_names as database_names
    from patientbandits.live.storage.identifiers import erased_name as erased_name
    from patientbandits.live.storage.identifiers import is_erased as is_erased
    from patientbandits.live.storage.identifiers import stored_eras as stored_eras
    from patientbandits.live.storage.locations import exclusive_lock as exclusive_lock
    from patientbandits.live.storage.locations import in_postgres as in_postgres
    from patientbandits.live.storage.locations import open_store as open_store
    from patientbandits.live.storage.queries import CHAIN as CHAIN
    from patientbandits.live.storage.queries import ERAS_AND_FAULT as ERAS_AND_FAULT
    from patientbandits.live.storage.queries import FACTS_LIKE as FACTS_LIKE
    from patientbandits.live.storage.queries import TABLES as TABLES
    from patientbandits.live.storage.queries import WITH_ALIASES as WITH_ALIASES
    from patientbandits.live.storage.queries import WITH_SEVERAL_ARMS as WITH_SEVERAL_ARMS
    from patientbandits.live.storage.queries import StoreQuestion as StoreQuestion

__all__, __getattr__, __dir__ = lazy_exports(__name__)
