"""A comparison in a few lines, for the terminal."""

from __future__ import annotations

from patientbandits.compare.run import Comparison

SEES = {"nothing": "", "bound": "told a bound", "law": "told the law", "reports": "sees more"}

Table = list[tuple[str, ...]]


def summary(found: Comparison) -> list[tuple[str, Table]]:
    """(heading, table) of each part; the first row of a table is its heading."""
    fewest = min(arms for _, arms in found.seconds_per_round)
    ranking: Table = [
        ("policy", "on the whole", "at worst", "on", "best or near", "µs per round", "")
    ]
    for s in found.standings:
        cost = found.seconds_per_round.get((s.policy, fewest))
        ranking.append(
            (
                s.policy,
                f"{s.typical:.2f}",
                f"{s.worst:.1f}",
                s.worst_problem,
                f"{s.good} of {s.problems}",
                "" if cost is None else f"{1e6 * cost:.2f}",
                SEES[s.group],
            )
        )
    parts = []
    if found.standings:
        parts.append(
            ("Regret relative to the best policy that sees only rewards (1 is best)", ranking)
        )
    if found.bars:
        bars: Table = [("bar", "ratio", "95 % interval", "at most", "")]
        bars += [
            (
                b.name,
                f"{b.ratio:.3f}",
                f"{b.low:.3f} .. {b.high:.3f}",
                f"{b.limit:g}",
                "met" if b.met else "MISSED",
            )
            for b in found.bars
        ]
        parts.append((f"Bars: ratios of regret, paired, {found.bars[0].runs} runs", bars))
    if found.advice:
        parts.append(
            (
                "Which policy?",
                [("situation", "answer"), *((part.when, part.use) for part in found.advice)],
            )
        )
    return parts
