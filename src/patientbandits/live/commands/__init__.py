"""Commands, and how the journal carries them out in batches."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.commands.changing import WantedChange as WantedChange
    from patientbandits.live.commands.changing import WantedQuarantine as WantedQuarantine
    from patientbandits.live.commands.changing import append_change as append_change
    from patientbandits.live.commands.commands import Command as Command
    from patientbandits.live.commands.commands import CommandMaker as CommandMaker
    from patientbandits.live.commands.commands import Conversion as Conversion
    from patientbandits.live.commands.commands import Credited as Credited
    from patientbandits.live.commands.commands import Decision as Decision
    from patientbandits.live.commands.commands import Evaluated as Evaluated
    from patientbandits.live.commands.commands import Exposed as Exposed
    from patientbandits.live.commands.commands import Join as Join
    from patientbandits.live.commands.commands import Joined as Joined
    from patientbandits.live.commands.commands import Order as Order
    from patientbandits.live.commands.commands import Refund as Refund
    from patientbandits.live.commands.commands import Retraction as Retraction
    from patientbandits.live.commands.commands import TimeLike as TimeLike
    from patientbandits.live.commands.journal import LARGEST_TRANSACTION as LARGEST_TRANSACTION
    from patientbandits.live.commands.journal import Journal as Journal
    from patientbandits.live.commands.journal import SteadyClock as SteadyClock
    from patientbandits.live.commands.people import AliasGroups as AliasGroups
    from patientbandits.live.commands.people import BatchPeople as BatchPeople
    from patientbandits.live.commands.people import all_credits_due as all_credits_due
    from patientbandits.live.commands.people import with_aliases as with_aliases

__all__, __getattr__, __dir__ = lazy_exports(__name__)
