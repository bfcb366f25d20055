"""Answers to "Which policy should I use?", computed from the scores, so that they stay true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from patientbandits.research.compare.cases import HOPELESS, PROBLEM_KINDS, Case, kinds_of
from patientbandits.research.compare.scores import Score, Standing, standings

MOST_EXAMPLES = 5
"""in a sentence"""

CONDITIONS = {
    "nothing": "You know nothing about the delays",
    "bound": "You can vouch for a bound on the delays",
    "law": "You know the law of the delays of all arms together",
    "factors": "You know the factors of every round",
    "reports": "Every pull reports in the end, zeros too",
}

IMPLIED: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "bound": ("nothing",),
    "law": ("nothing", "bound"),
    "factors": ("nothing", "bound", "law"),
    "reports": ("nothing",),
}
"""group -> the groups that know less: the law gives a bound, reports need no knowledge"""

CHANCE = "Uniform"
"""Policy that serves as a yardstick only."""

MUCH = 1.1
"""Ratio of regrets from which a loss is reported."""

FASTER = 10.0
"""Ten times as fast is worth some regret."""

RIVALS = 6
"""Only the first few may be called about as good."""


def plural(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}s"


def enumerated(parts: Sequence[str]) -> str:
    """a, b and c"""
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def some(parts: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    if len(parts) <= MOST_EXAMPLES + 1:
        return enumerated(parts)
    return enumerated([*parts[:MOST_EXAMPLES], f"{len(parts) - MOST_EXAMPLES} more"])


def times_best(standing: Standing) -> str:
    if standing.typical < 1.005:
        return "the best"
    return f"{standing.typical:.2f} times the best"


def record_of(standing: Standing) -> str:
    problems = plural(standing.problems, "problem")
    return (
        f"{standing.typical:.2f} times the regret of the best on the whole "
        f"(geometric mean over {problems}), "
        f"{standing.worst:.1f} times at worst ({standing.worst_problem}); "
        f"the best or not significantly worse on {standing.good}."
    )


@dataclass(frozen=True)
class Advice:
    """A situation and what to do in it, with the numbers behind it."""

    when: str
    use: str
    why: str


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
    """The best policy on the whole for each thing one may know, using no more than that."""
    first = {group: _first_in(order, group) for group in CONDITIONS}
    answers = []
    for group, own in first.items():
        if own is None:
            continue
        # Whoever may know more may also ignore it: a policy that needs less is the rival to beat.
        less = [standing for name in IMPLIED[group] if (standing := first[name])]
        without = min(less, key=lambda standing: standing.typical, default=None)
        use = own.policy
        why = f"{own.policy}: {record_of(own)}"
        if without is not None and own.typical < without.typical:
            ratio = own.typical / without.typical
            why += f" That is {ratio:.2f} times the regret of {without.policy}, which needs less."
        elif without is not None:
            use = without.policy
            why = f"This does not pay here: {why} {without.policy} needs less and does better."
        answers.append(Advice(when=CONDITIONS[group], use=use, why=why))
    return answers


def _in_groups(order: Iterable[Standing], *groups: str) -> list[Standing]:
    """Standings of policies in one of these groups."""
    return [standing for standing in order if standing.group in groups]


def _first_in(order: Iterable[Standing], group: str) -> Standing | None:
    return next((standing for standing in order if standing.group == group), None)


def by_kind(cases: Sequence[Case], rows: Sequence[Score]) -> list[Advice]:
    """The best of those that are told nothing, for each kind of problem.

    Also who does better when told more, and who is about as good.
    """
    answers = []
    for kind in kinds_of(cases):
        names = {case.name for case in cases if kind in case.kinds}
        every = standings([row for row in rows if row.problem in names])
        # A policy that sees zeros too plays another game, and would win without telling anything.
        order = [standing for standing in every if standing.group != "reports"]
        plain = _first_in(order, "nothing")
        if plain is None:
            continue
        where = some(sorted(names))
        if len(names) > 1:
            where += " together"
        why = f"{times_best(plain).capitalize()} on {where}."
        if order[0].typical * MUCH < plain.typical:
            why += f" Better, but with more knowledge: {order[0].policy} ({times_best(order[0])})."
        near = [standing for standing in order[:RIVALS] if standing.typical < plain.typical * MUCH]
        names_near = [standing.policy for standing in _in_groups(near, "nothing")]
        rivals = [policy for policy in names_near if policy != plain.policy]
        if rivals:
            why += f" About as good: {enumerated(rivals)}."
        when = f"When {PROBLEM_KINDS.get(kind, kind)}"
        answers.append(Advice(when=when, use=plain.policy, why=why))
    return answers


def by_worst_case(order: Sequence[Standing]) -> list[Advice]:
    """The policy whose worst problem is the least bad."""
    plain = _in_groups(order, "nothing")
    if len(plain) < 2:
        return []
    usual = plain[0]
    safe = min(plain, key=lambda standing: standing.worst)
    why = f"{safe.worst:.1f} times the best at worst ({safe.worst_problem})"
    if safe is not usual:
        worst = f"{usual.worst:.1f} times ({usual.worst_problem})"
        why += f"; {usual.policy}, better on the whole, {worst}"
    informed = min(
        _in_groups(order, "bound", "law"), key=lambda standing: standing.worst, default=safe
    )
    if informed.worst < safe.worst:
        why += (
            f". Told more, {informed.policy}: {informed.worst:.1f} times ({informed.worst_problem})"
        )
    return [Advice(when="You cannot afford a bad surprise", use=safe.policy, why=f"{why}.")]


def by_speed(order: Sequence[Standing], cost: Mapping[str, float]) -> list[Advice]:
    """The policy that loses least among those told nothing and ten times as fast as the best."""
    plain = [standing for standing in _in_groups(order, "nothing") if standing.policy in cost]
    if not plain:
        return []
    # The standings are sorted by regret, so the first that is fast enough loses least.
    best = plain[0]
    limit = cost[best.policy]
    fast = next((one for one in plain if cost[one.policy] * FASTER <= limit), None)
    if fast is None:
        return []
    why = (
        f"{1e6 * cost[fast.policy]:.2g} µs per round against {1e6 * limit:.2g} µs "
        f"of {best.policy}, for {fast.typical / best.typical:.2f} times its regret."
    )
    return [Advice(when="Every microsecond counts", use=fast.policy, why=why)]


def losses(rows: Sequence[Score], new: Sequence[str]) -> list[Advice]:
    """Losses of the package's own policies, significant and above 10 %, and to whom."""
    best = {row.problem: row.policy for row in rows if row.best}
    answers = []
    for policy in new:
        played = [row for row in rows if row.policy == policy and row.ratio is not None]
        if not played:
            continue
        lost = [row for row in played if not row.tied and (row.ratio or 0.0) > MUCH]
        lost.sort(key=lambda row: -(row.ratio or 0.0))
        examples = [f"{row.problem} ({row.ratio:.1f} times {best[row.problem]})" for row in lost]
        one = Advice(
            when=f"Where {policy} loses",
            use=f"{len(lost)} of {len(played)}",
            why=f"Significantly and by more than 10 %: {some(examples or ['nowhere'])}.",
        )
        answers.append(one)
    return answers


def worse_than_chance(rows: Sequence[Score]) -> list[Advice]:
    """Policies worse than pulling at random: their interval lies above that of `CHANCE`."""
    comparable = [row for row in rows if row.ratio is not None]
    chance = {row.problem: row.high for row in comparable if row.policy == CHANCE}
    others = [row for row in rows if row.problem in chance and row.policy != CHANCE]
    bad: dict[str, int] = {}
    for row in others:
        if row.group != "reports":
            # Intervals must not even touch: a mean above chance alone may be luck.
            worse = row.low > chance[row.problem]
            bad[row.policy] = bad.get(row.policy, 0) + worse
    often = sorted((policy for policy in bad if bad[policy]), key=lambda policy: -bad[policy])
    if not often:
        return []
    never = [policy for policy in bad if not bad[policy]]
    counts = [f"{policy} on {plural(bad[policy], 'problem')}" for policy in often]
    nowhere = enumerated(never or ["nobody"])
    return [
        Advice(
            when="Worse than pulling at random somewhere",
            use=f"{len(often)} of {len(bad)}",
            why=f"{some(counts)}. Nowhere: {nowhere}.",
        )
    ]
