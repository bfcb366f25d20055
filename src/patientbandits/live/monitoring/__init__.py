"""Alerts on what happens in experiments, and the webhooks that report them."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.monitoring.alerts import Watch as Watch
    from patientbandits.live.monitoring.alerts import all_active as all_active
    from patientbandits.live.monitoring.alerts import current_alerts as current_alerts
    from patientbandits.live.monitoring.findings import ALERT_KINDS as ALERT_KINDS
    from patientbandits.live.monitoring.findings import Finding as Finding
    from patientbandits.live.monitoring.watcher import DELIVER_EVERY as DELIVER_EVERY
    from patientbandits.live.monitoring.watcher import Watcher as Watcher
    from patientbandits.live.monitoring.webhooks import add_webhook as add_webhook
    from patientbandits.live.monitoring.webhooks import all_webhooks as all_webhooks
    from patientbandits.live.monitoring.webhooks import deliver_due as deliver_due
    from patientbandits.live.monitoring.webhooks import remove_webhook as remove_webhook

__all__, __getattr__, __dir__ = lazy_exports(__name__)
