"""The kinds of alerts, and a finding: the observation of the moment that an alert reports."""

from __future__ import annotations

from typing import Any, NamedTuple

ALERT_KINDS = (
    "ratio",
    "stopped",
    "jump",
    "burst",
    "old",
    "unit",
    "leader",
    "can_stop",
    "crowd",
    "clock",
    "failed",
)
"""docs/alerts.md explains each; webhooks subscribe to them by these names"""

LASTING = ("leader",)
"""kinds that stay active until there is another finding of their kind"""

OF_SERVICE = ("crowd",)
"""kinds that only the running service can see"""


class Finding(NamedTuple):
    """A finding of the moment, about the experiment, or the arm or unit ``subject``."""

    kind: str
    """one of `ALERT_KINDS`"""
    subject: str
    words: str
    data: dict[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.subject
