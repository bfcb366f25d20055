"""Base classes of the report's experiments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from patientbandits.plotting import Panel
from patientbandits.research.paper.claims import Claim
from patientbandits.research.paper.curve import PRESET_TITLES, Curve, Curves, Findings
from patientbandits.research.paper.published import Deviation, deviations, marks, published_points


@dataclass(frozen=True)
class Section:
    """An experiment's part of the report."""

    name: str
    heading: str
    text: str
    claims: list[tuple[str, Claim]] = field(default_factory=list)
    """(preset, claim)"""
    deviations: list[Deviation] = field(default_factory=list)
    tables: dict[str, Any] = field(default_factory=dict)


class PaperExperiment(ABC):
    """A heading, a text, claims, and what they rest on."""

    name: str
    """on the command line, and of its figure and table"""
    heading: str
    text: str
    place = 1
    """The report shows the paper's figures first (0), then the rest (1), then the theorems (2)."""

    def readings(self, presets: Sequence[str]) -> Sequence[str]:
        """Presets, of these, in which it is simulated: none, if it is not."""
        return []

    def curves(self, preset: str) -> list[Curve]:
        """Curves that are to be simulated."""
        return []

    def panels(self, by_preset: Mapping[str, Curves]) -> list[Panel]:
        """Its figure, from its curves by preset."""
        return []

    @abstractmethod
    def section(self, findings: Findings) -> Section:
        """Its part of the report, from the curves of all experiments."""


class SimulatedExperiment(PaperExperiment):
    """An experiment whose claims rest on its own curves."""

    def readings(self, presets: Sequence[str]) -> Sequence[str]:
        """Once, whatever the presets."""
        return [""]

    @abstractmethod
    def curves(self, preset: str) -> list[Curve]:
        """Curves that are to be simulated."""

    @abstractmethod
    def panels(self, by_preset: Mapping[str, Curves]) -> list[Panel]:
        """Its figure, from its curves by preset."""

    @abstractmethod
    def claims(self, curves: Curves, preset: str) -> list[Claim]:
        """Claims of the paper, checked."""

    def section(self, findings: Findings) -> Section:
        section = Section(self.name, self.heading, self.text)
        for preset in self.readings(findings.presets):
            curves = findings.curves[self.name, preset]
            section.claims.extend((preset, claim) for claim in self.claims(curves, preset))
        return section


class PublishedFigure(SimulatedExperiment):
    """A figure of the paper, in the presets, beside its published points."""

    xlabel: str
    ylabel: str
    place = 0

    def readings(self, presets: Sequence[str]) -> Sequence[str]:
        return presets

    def panels(self, by_preset: Mapping[str, Curves]) -> list[Panel]:
        """The presets side by side."""
        return [self.panel(preset, curves) for preset, curves in by_preset.items()]

    def panel(self, preset: str, curves: Curves) -> Panel:
        """The published points over our curves."""
        published = published_points(self.name)
        with_points = [curve for curve in curves.values() if curve.name in published]
        return Panel(
            title=PRESET_TITLES[preset],
            xlabel=self.xlabel,
            ylabel=self.ylabel,
            lines=[curve.line() for curve in curves.values()],
            points=[
                marks(published[curve.name], curve.color, number)
                for number, curve in enumerate(with_points)
            ],
        )

    def section(self, findings: Findings) -> Section:
        section = super().section(findings)
        published = published_points(self.name)
        for preset in self.readings(findings.presets):
            curves = findings.curves[self.name, preset]
            # Only this preset is meant to give the published heights; the other is shown beside.
            judged = preset == "published"
            section.deviations.extend(deviations(preset, curves, published, judged))
        return section
