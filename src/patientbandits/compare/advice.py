"""Which policy should I use? Answers computed from the scores, so that they stay true when the numbers change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from patientbandits.compare.scores import Score, Standing, standings
from patientbandits.compare.suite import KINDS, Case

CONDITIONS = {
    "nothing": "You know nothing about the delays",
    "bound": "You can vouch for a bound on the delays",
    "law": "You know the law of the delays of all arms together",
    "reports": "Every pull reports in the end, zeros too",
}
NEAR, MUCH = 1.5, 1.1
"""Within 1.5 times the best on the whole is good enough to prefer for its speed; 10 % more regret is a loss worth telling."""


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


def record_of(standing: Standing) -> str:
    return (
        f"{standing.typical:.2f} times the regret of the best on the whole (geometric mean over {plural(standing.problems, 'problem')}), "
        f"{standing.worst:.1f} times at worst ({standing.worst_problem}); the best or not significantly worse on {standing.good}."
    )


def advice(cases: Sequence[Case], rows: Sequence[Score], cost: Mapping[str, float], new: Sequence[str]) -> list[Advice]:
    """``cost``: seconds per round with the fewest arms; ``new``: the policies to be frank about."""
    order = standings(rows)
    if not order:
        return []
    return [*by_knowledge(order), *by_kind(cases, rows), *by_speed(order, cost), *losses(rows, new), *worse_than_chance(rows)]


def by_knowledge(order: Sequence[Standing]) -> list[Advice]:
    """For each thing one may know, the policy with the least regret on the whole that uses no more than that."""
    given, least = [], None
    for group, condition in CONDITIONS.items():
        own = next((standing for standing in order if standing.group == group), None)
        if own is None:
            continue
        why = f"{own.policy}: {record_of(own)}"
        if least is not None and own.typical >= least.typical:
            given.append(Advice(condition, least.policy, f"That knowledge does not pay here: {why} {least.policy} needs none of it."))
            continue
        if least is not None:
            why += f" That is {own.typical / least.typical:.2f} times the regret of {least.policy}, which needs less."
        given.append(Advice(condition, own.policy, why))
        if group != "reports":
            least = own
    return given


def by_kind(cases: Sequence[Case], rows: Sequence[Score]) -> list[Advice]:
    """For each kind of problem, the best of those that are told nothing, and whether another does better with more."""
    given = []
    for kind in dict.fromkeys(kind for case in cases for kind in case.kinds):
        names = {case.name for case in cases if kind in case.kinds}
        order = [standing for standing in standings([row for row in rows if row.problem in names]) if standing.group != "reports"]
        plain = next((standing for standing in order if standing.group == "nothing"), None)
        if plain is None:
            continue
        why = f"{plain.typical:.2f} times the best on {listed(sorted(names))}."
        if order[0].typical * MUCH < plain.typical:
            why += f" Better, but told more: {order[0].policy} ({order[0].typical:.2f} times the best)."
        rivals = [s.policy for s in order[:6] if s.group == "nothing" and s is not plain and s.typical < plain.typical * MUCH]
        if rivals:
            why += f" About as good: {listed(rivals)}."
        given.append(Advice(f"When {KINDS.get(kind, kind)}", plain.policy, why))
    return given


def by_speed(order: Sequence[Standing], cost: Mapping[str, float]) -> list[Advice]:
    """The fastest that is nearly as good as the best of those that need no knowledge."""
    plain = [standing for standing in order if standing.group == "nothing" and standing.policy in cost]
    if not plain:
        return []
    near = [standing for standing in plain if standing.typical <= NEAR * plain[0].typical]
    fastest = min(near, key=lambda standing: cost[standing.policy])
    slow = cost[plain[0].policy]
    if fastest is plain[0]:
        others = "nothing told as little comes within 1.5 times of it and is faster"
        return [Advice("Every microsecond counts", fastest.policy, f"{1e6 * slow:.2g} µs per round; {others}.")]
    why = (
        f"{1e6 * cost[fastest.policy]:.2g} µs per round against {1e6 * slow:.2g} µs of {plain[0].policy}, "
        f"for {fastest.typical / plain[0].typical:.2f} times its regret."
    )
    return [Advice("Every microsecond counts", fastest.policy, why)]


def losses(rows: Sequence[Score], new: Sequence[str]) -> list[Advice]:
    """Where the package's own policies lose: significantly, and by more than 10 %, and to whom."""
    best = {row.problem: row.policy for row in rows if row.best}
    given = []
    for policy in new:
        lost = [row for row in rows if row.policy == policy and row.ratio is not None and not row.tied and row.ratio > MUCH]
        played = sum(row.policy == policy and row.ratio is not None for row in rows)
        if not played:
            continue
        lost.sort(key=lambda row: -(row.ratio or 0.0))
        told = listed([f"{row.problem} ({row.ratio:.1f} times {best[row.problem]})" for row in lost]) if lost else "nowhere"
        given.append(Advice(f"Where {policy} loses", f"{len(lost)} of {played}", f"Significantly and by more than 10 %: {told}."))
    return given


def worse_than_chance(rows: Sequence[Score]) -> list[Advice]:
    """Policies that do worse than pulling at random somewhere."""
    chance = {row.problem: row.low for row in rows if row.policy == "Uniform" and row.ratio is not None}
    bad: dict[str, list[str]] = {}
    for row in rows:
        if row.policy != "Uniform" and row.problem in chance and row.low > chance[row.problem] and row.difference_low > 0:
            bad.setdefault(row.policy, []).append(row.problem)
    if not bad:
        return []
    parts = [f"{policy} ({listed(names)})" for policy, names in sorted(bad.items(), key=lambda item: (-len(item[1]), item[0]))]
    return [Advice("Worse than pulling at random", plural(len(bad), "policy").replace("policys", "policies"), f"{'; '.join(parts)}.")]
