"""The settings of an experiment: schema, parsing, rules, shares, crediting, quarantine, flags."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.settings.crediting import WORTHLESS as WORTHLESS
    from patientbandits.live.settings.crediting import Crediting as Crediting
    from patientbandits.live.settings.crediting import CreditRule as CreditRule
    from patientbandits.live.settings.crediting import Exposure as Exposure
    from patientbandits.live.settings.crediting import Payment as Payment
    from patientbandits.live.settings.crediting import Worth as Worth
    from patientbandits.live.settings.crediting import summed as summed
    from patientbandits.live.settings.crediting import worth_after as worth_after
    from patientbandits.live.settings.crediting import worth_before as worth_before
    from patientbandits.live.settings.flags import flag_value as flag_value
    from patientbandits.live.settings.parsing import as_if_new as as_if_new
    from patientbandits.live.settings.parsing import checked_changes as checked_changes
    from patientbandits.live.settings.parsing import default_policy as default_policy
    from patientbandits.live.settings.parsing import listed_names as listed_names
    from patientbandits.live.settings.parsing import new_settings as new_settings
    from patientbandits.live.settings.parsing import one_largest_value as one_largest_value
    from patientbandits.live.settings.quarantine import QuarantineRule as QuarantineRule
    from patientbandits.live.settings.quarantine import QuarantineRules as QuarantineRules
    from patientbandits.live.settings.quarantine import decision_quarantined as decision_quarantined
    from patientbandits.live.settings.quarantine import new_rule as new_rule
    from patientbandits.live.settings.quarantine import quarantined as quarantined
    from patientbandits.live.settings.quarantine import with_rule as with_rule
    from patientbandits.live.settings.quarantine import without_rule as without_rule
    from patientbandits.live.settings.rules import LONGEST_LAG as LONGEST_LAG
    from patientbandits.live.settings.rules import LONGEST_RETENTION as LONGEST_RETENTION
    from patientbandits.live.settings.rules import LONGEST_WINDOW as LONGEST_WINDOW
    from patientbandits.live.settings.rules import MOST_ARMS as MOST_ARMS
    from patientbandits.live.settings.rules import MOST_GOALS as MOST_GOALS
    from patientbandits.live.settings.rules import changed_settings as changed_settings
    from patientbandits.live.settings.rules import require_same_settings as require_same_settings
    from patientbandits.live.settings.schema import Settings as Settings
    from patientbandits.live.settings.schema import settings_text as settings_text
    from patientbandits.live.settings.schema import stored_settings as stored_settings
    from patientbandits.live.settings.shares import ShareDraws as ShareDraws
    from patientbandits.live.settings.shares import Shares as Shares
    from patientbandits.live.settings.shares import held_back as held_back
    from patientbandits.live.settings.shares import share_book as share_book

__all__, __getattr__, __dir__ = lazy_exports(__name__)
