"""The players: every policy that needs no prior knowledge, an even split, and waiting out the
window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from patientbandits.analysis.rehearsal.worlds import DrawnWorld
from patientbandits.errors import choice, require
from patientbandits.policies import ArrivedThompson, CalendarThompson, Policy, Uniform
from patientbandits.problems import Problem
from patientbandits.problems.delays import Fixed
from patientbandits.research.compare import contenders, feedback_of

EVEN_SPLIT = "even split"
WAITING = "waiting out the window"
LEFT_OUT = ("Uniform", "OTFLinUCB")
"""the even split by another name, and one whose window would have to be chosen"""


@dataclass(frozen=True)
class Player:
    """A way to choose, and the world it sees."""

    name: str
    note: str
    policy: Callable[[DrawnWorld], Policy]
    problem: Callable[[DrawnWorld], Problem]


def as_it_is(world: DrawnWorld) -> Problem:
    return world.problem


def after_the_window(world: DrawnWorld) -> Problem:
    """The world in which a visitor's outcome is reported at the end of the window, not before."""
    problem = world.problem
    return Problem(
        problem.means,
        Fixed(world.window_rounds),
        problem.rewards,
        problem.streams,
        feedback="reports",
        calendar=problem.calendar,
    )


BESIDE = (
    Player(
        EVEN_SPLIT, "every arm gets the same share throughout", lambda world: Uniform(), as_it_is
    ),
    Player(
        WAITING,
        "Thompson sampling that learns only from visitors whose window is over",
        lambda world: ArrivedThompson(),
        after_the_window,
    ),
)


SEASON_PROOF = Player(
    "CalendarThompson",
    "compares arms with those shown at the same time",
    lambda world: CalendarThompson(),
    as_it_is,
)


def all_players() -> list[Player]:
    """Policies without prior knowledge that see rewards as they come, then those beside them."""
    trial = Problem([0.4, 0.6])
    players = []
    for contender in contenders():
        policy = contender.make(trial)
        silent = contender.told == "nothing" and feedback_of(policy) == "rewards"
        if silent and contender.name not in LEFT_OUT:
            players.append(
                Player(contender.name, contender.note, _policy_of(contender.make), as_it_is)
            )
    return [*players, SEASON_PROOF, *BESIDE]


def _policy_of(make: Callable[[Problem], Policy]) -> Callable[[DrawnWorld], Policy]:
    return lambda world: make(world.problem)


def chosen_players(names: Sequence[str] | None) -> list[Player]:
    """Players with these names, and always those beside them; all for None."""
    players = {player.name: player for player in all_players()}
    if names is None:
        return list(players.values())
    beside = [player.name for player in BESIDE]
    chosen = [choice("rehearse", "policy", name, players) for name in names]
    require(
        not set(chosen) <= set(beside),
        "rehearse",
        "policies must name at least one besides those that always play",
        policies=list(names),
    )
    kept = dict.fromkeys([*chosen, *beside])
    return [players[name] for name in kept]
