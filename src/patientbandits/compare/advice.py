"""Which policy should I use? Answers computed from the scores, so that they stay true when the numbers change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from patientbandits.compare.scores import Score, Standing, standings
from patientbandits.compare.suite import HOPELESS, KINDS, Case

CONDITIONS = {
    "nothing": "You know nothing about the delays",
    "bound": "You can vouch for a bound on the delays",
    "law": "You know the law of the delays of all arms together",
    "reports": "Every pull reports in the end, zeros too",
}
CHANCE = "Uniform"
"""The yardstick that nobody would use."""

MUCH, FASTER, MOST = 1.1, 10.0, 5
"""10 % more regret is a loss worth telling; ten times as fast is worth some regret; at most five examples in a sentence."""


@dataclass(frozen=True)
class Advice:
    """A situation and what to do in it, with the numbers behind it."""

    when: str
    use: str
    why: str


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def some(parts: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    return listed(
        list(parts) if len(parts) <= MOST + 1 else [*parts[:MOST], f"{len(parts) - MOST} more"]
    )


def times_best(standing: Standing) -> str:
    return "the best" if standing.typical < 1.005 else f"{standing.typical:.2f} times the best"


def record_of(standing: Standing) -> str:
    return (
        f"{standing.typical:.2f} times the regret of the best on the whole (geometric mean over {plural(standing.problems, 'problem')}), "
        f"{standing.worst:.1f} times at worst ({standing.worst_problem}); the best or not significantly worse on {standing.good}."
    )


def advice(
    cases: Sequence[Case], rows: Sequence[Score], cost: Mapping[str, float], new: Sequence[str]
) -> list[Advice]:
    """``cost``: seconds per round with the fewest arms; ``new``: the policies to be frank about."""
    order = [standing for standing in standings(rows) if standing.policy != CHANCE]
    if not order:
        return []
    fair = {case.name for case in cases if HOPELESS not in case.kinds}
    return [
        *by_knowledge(order),
        *by_worst_case(order),
        *by_kind(cases, rows),
        *by_speed(order, cost),
        *losses(rows, new),
        *worse_than_chance([row for row in rows if row.problem in fair]),
    ]


def by_knowledge(order: Sequence[Standing]) -> list[Advice]:
    """For each thing one may know, the policy with the least regret on the whole that uses no more than that.

    Who knows the law knows a bound as well; who sees reports need know nothing.
    """
    first = {
        group: next((standing for standing in order if standing.group == group), None)
        for group in CONDITIONS
    }
    implied = {
        "nothing": (),
        "bound": ("nothing",),
        "law": ("nothing", "bound"),
        "reports": ("nothing",),
    }
    given = []
    for group, own in first.items():
        if own is None:
            continue
        without = min(
            (s for less in implied[group] if (s := first[less])),
            key=lambda standing: standing.typical,
            default=None,
        )
        why = f"{own.policy}: {record_of(own)}"
        if without is None:
            given.append(Advice(CONDITIONS[group], own.policy, why))
        elif own.typical < without.typical:
            why += f" That is {own.typical / without.typical:.2f} times the regret of {without.policy}, which needs less."
            given.append(Advice(CONDITIONS[group], own.policy, why))
        else:
            why = f"This does not pay here: {why} {without.policy} needs less and does better."
            given.append(Advice(CONDITIONS[group], without.policy, why))
    return given


def by_kind(cases: Sequence[Case], rows: Sequence[Score]) -> list[Advice]:
    """For each kind of problem, the best of those that are told nothing, and whether another does better with more."""
    given = []
    for kind in dict.fromkeys(kind for case in cases for kind in case.kinds):
        names = {case.name for case in cases if kind in case.kinds}
        order = [
            standing
            for standing in standings([row for row in rows if row.problem in names])
            if standing.group != "reports"
        ]
        plain = next((standing for standing in order if standing.group == "nothing"), None)
        if plain is None:
            continue
        why = f"{times_best(plain).capitalize()} on {listed(sorted(names))}{' together' if len(names) > 1 else ''}."
        if order[0].typical * MUCH < plain.typical:
            why += f" Better, but told more: {order[0].policy} ({times_best(order[0])})."
        rivals = [
            s.policy
            for s in order[:6]
            if s.group == "nothing" and s is not plain and s.typical < plain.typical * MUCH
        ]
        if rivals:
            why += f" About as good: {listed(rivals)}."
        given.append(Advice(f"When {KINDS.get(kind, kind)}", plain.policy, why))
    return given


def by_worst_case(order: Sequence[Standing]) -> list[Advice]:
    """The policy whose worst problem is the least bad."""
    plain = [standing for standing in order if standing.group == "nothing"]
    if len(plain) < 2:
        return []
    safe, usual = min(plain, key=lambda standing: standing.worst), plain[0]
    why = f"{safe.worst:.1f} times the best at worst ({safe.worst_problem})"
    if safe is not usual:
        why += f"; {usual.policy}, better on the whole, {usual.worst:.1f} times ({usual.worst_problem})"
    told = min(
        (standing for standing in order if standing.group in ("bound", "law")),
        key=lambda standing: standing.worst,
        default=safe,
    )
    if told.worst < safe.worst:
        why += f". Told more, {told.policy}: {told.worst:.1f} times ({told.worst_problem})"
    return [Advice("You cannot afford a bad surprise", safe.policy, f"{why}.")]


def by_speed(order: Sequence[Standing], cost: Mapping[str, float]) -> list[Advice]:
    """Of those that are told nothing and are ten times as fast as the best of them, the one with the least regret."""
    plain = [
        standing for standing in order if standing.group == "nothing" and standing.policy in cost
    ]
    fast = [
        standing for standing in plain if cost[standing.policy] * FASTER <= cost[plain[0].policy]
    ]
    if not fast:
        return []
    why = (
        f"{1e6 * cost[fast[0].policy]:.2g} µs per round against {1e6 * cost[plain[0].policy]:.2g} µs of {plain[0].policy}, "
        f"for {fast[0].typical / plain[0].typical:.2f} times its regret."
    )
    return [Advice("Every microsecond counts", fast[0].policy, why)]


def losses(rows: Sequence[Score], new: Sequence[str]) -> list[Advice]:
    """Where the package's own policies lose: significantly, and by more than 10 %, and to whom."""
    best = {row.problem: row.policy for row in rows if row.best}
    given = []
    for policy in new:
        lost = [
            row
            for row in rows
            if row.policy == policy and row.ratio is not None and not row.tied and row.ratio > MUCH
        ]
        played = sum(row.policy == policy and row.ratio is not None for row in rows)
        if not played:
            continue
        lost.sort(key=lambda row: -(row.ratio or 0.0))
        told = (
            some([f"{row.problem} ({row.ratio:.1f} times {best[row.problem]})" for row in lost])
            if lost
            else "nowhere"
        )
        given.append(
            Advice(
                f"Where {policy} loses",
                f"{len(lost)} of {played}",
                f"Significantly and by more than 10 %: {told}.",
            )
        )
    return given


def worse_than_chance(rows: Sequence[Score]) -> list[Advice]:
    """Who does worse than pulling at random, and how often: its interval lies above that of `CHANCE`."""
    chance = {
        row.problem: row.high for row in rows if row.policy == CHANCE and row.ratio is not None
    }
    others = [
        row
        for row in rows
        if row.problem in chance and row.policy != CHANCE and row.group != "reports"
    ]
    bad = dict.fromkeys((row.policy for row in others), 0)
    for row in others:
        bad[row.policy] += row.low > chance[row.problem]
    often = sorted((policy for policy in bad if bad[policy]), key=lambda policy: -bad[policy])
    if not often:
        return []
    never = [policy for policy in bad if not bad[policy]]
    why = f"{some([policy + ' on ' + plural(bad[policy], 'problem') for policy in often])}. Nowhere: {listed(never) if never else 'nobody'}."
    return [Advice("Worse than pulling at random somewhere", f"{len(often)} of {len(bad)}", why)]
