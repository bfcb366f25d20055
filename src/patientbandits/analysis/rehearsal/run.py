"""The rehearsal: every player in every world, and the conversions it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from patientbandits.analysis import Analysis, analyse, finite
from patientbandits.analysis.events import Events
from patientbandits.analysis.rehearsal.players import EVEN_SPLIT, WAITING, Player, chosen_players
from patientbandits.analysis.rehearsal.season import Season, season_of
from patientbandits.analysis.rehearsal.worlds import DrawnWorld, draw_worlds
from patientbandits.errors import InputError, positive, require, whole
from patientbandits.inference import LEVEL, FloatArray, mean_interval
from patientbandits.inference.posterior import Estimate
from patientbandits.simulation import Result, Simulation, sweep

REHEARSE = "rehearse"
DRAWS = 40
RUNS_PER_DRAW = 1
REHEARSAL_SEED = 1


@dataclass(frozen=True)
class PlayerResult:
    """Results of one player."""

    player: str
    note: str
    lost: Estimate
    """conversions lost against always taking the best arm; interval of the mean over worlds"""
    saved: Estimate
    """conversions more than the even split has, world by world"""
    shares: dict[str, float]
    """arm -> share of the visitors"""
    best_share: float
    """share of the visitors who got the best arm of their world"""
    turn: float | None
    """days until visitors lose less than half of what they lose under an even split, for good;
    median over worlds, None if that happens in less than half of them"""
    turned: float
    """share of the worlds in which that happens"""
    curve: FloatArray
    """conversions lost by the end of each day"""


@dataclass(frozen=True)
class Rehearsal:
    """Results of a rehearsal."""

    analysis: Analysis
    parts: list[PlayerResult]
    """the least loss first"""
    days: FloatArray
    traffic: float
    worlds: int
    words: str
    season: Season

    @property
    def best(self) -> PlayerResult:
        """The policy to take."""
        return next(part for part in self.parts if part.player not in (EVEN_SPLIT, WAITING))

    def data(self) -> dict[str, Any]:
        """As plain data, for files."""
        data = {
            "policy": self.best.player,
            "words": self.words,
            "season": self.season.data(),
            "traffic": self.traffic,
            "days": self.days,
            "worlds": self.worlds,
            "parts": [asdict(part) for part in self.parts],
        }
        return dict(finite(data))


def rehearse(
    shop: Events | Analysis,
    *,
    traffic: float,
    days: int,
    policies: Sequence[str] | None = None,
    draws: int = DRAWS,
    seed: int = REHEARSAL_SEED,
    workers: int | None = None,
    start: Callable[[int], Callable[[int], None]] | None = None,
) -> Rehearsal:
    """Let every suitable policy decide for ``days`` days with ``traffic`` visitors a day.

    The worlds are drawn from the posterior of the shop's own history, and follow its calendar:
    weekdays, and weeks from a random Monday on; in each, every policy meets the same visitors.
    ``start`` takes the number of rounds, and returns a function that is called with the rounds done
    so far.
    """
    analysis = shop if isinstance(shop, Analysis) else analyse(shop)
    flow = positive(REHEARSE, "traffic", traffic)
    length = whole(REHEARSE, "days", days, 1)
    draws = whole(REHEARSE, "draws", draws, 2)
    seed = whole(REHEARSE, "seed", seed)
    arms = list(analysis.arms)
    require(len(arms) > 1, REHEARSE, "at least two arms are needed", arms=arms)
    horizon = round(flow * length)
    require(
        len(arms) <= horizon <= 20_000_000,
        REHEARSE,
        "traffic times days must be from the number of arms to 20 million",
        traffic=traffic,
        days=days,
    )
    if not any(arm.conversions for arm in analysis.arms.values()):
        raise InputError(
            f"{REHEARSE}: at least one conversion is needed to learn anything about the shop."
        )
    players = chosen_players(policies)
    season = season_of(analysis)
    worlds = draw_worlds(analysis, season, flow, length, draws, seed)
    ends = np.unique(np.round(flow * np.arange(1, length + 1)).astype(int).clip(1, horizon))
    games = [
        _game(player, world, horizon, ends, seed + place)
        for player in players
        for place, world in enumerate(worlds)
    ]
    progress = start(sum(game.rounds for game in games)) if start else None
    results = sweep(games, workers=workers, progress=progress)
    size = len(worlds)
    played = {
        player.name: results[place * size : (place + 1) * size]
        for place, player in enumerate(players)
    }
    parts = [_part(player, played, worlds, arms, ends / flow, flow) for player in players]
    parts.sort(key=lambda part: part.lost.mean)
    return Rehearsal(
        analysis=analysis,
        parts=parts,
        days=ends / flow,
        traffic=flow,
        worlds=size,
        words=_words(parts, played, length),
        season=season,
    )


def _game(
    player: Player, world: DrawnWorld, horizon: int, ends: FloatArray, seed: int
) -> Simulation:
    return Simulation(
        problem=player.problem(world),
        policy=player.policy(world),
        horizon=horizon,
        runs=RUNS_PER_DRAW,
        seed=seed,
        record=ends.tolist(),
    )


def losses_by_day(results: Sequence[Result]) -> FloatArray:
    """(world, day): the mean over the runs of a world."""
    return np.array([result.regret.mean(axis=0) for result in results])


def _span(values: FloatArray) -> Estimate:
    low, high = mean_interval(values, LEVEL)
    return Estimate(mean=float(values.mean()), low=float(low), high=float(high))


def _part(
    player: Player,
    played: dict[str, list[Result]],
    worlds: Sequence[DrawnWorld],
    names: list[str],
    days: FloatArray,
    traffic: float,
) -> PlayerResult:
    results = played[player.name]
    lost = losses_by_day(results)
    split = losses_by_day(played[EVEN_SPLIT])
    pulls = np.array([result.pulls.mean(axis=0) for result in results])
    shares = pulls / pulls.sum(axis=1, keepdims=True)
    best = np.array([int(np.argmax(world.problem.means)) for world in worlds])
    turns = turning_days(lost, worlds, days, traffic)
    median = float(np.median(turns))
    return PlayerResult(
        player=player.name,
        note=player.note,
        lost=_span(lost[:, -1]),
        saved=_span(split[:, -1] - lost[:, -1]),
        shares=dict(zip(names, shares.mean(axis=0).tolist(), strict=True)),
        best_share=float(shares[np.arange(len(worlds)), best].mean()),
        turn=median if np.isfinite(median) else None,
        turned=float(np.isfinite(turns).mean()),
        curve=lost.mean(axis=0),
    )


def turning_days(
    lost: FloatArray, worlds: Sequence[DrawnWorld], days: FloatArray, traffic: float
) -> FloatArray:
    """The day, world by world, after which a week's visitors never again lose half of what an even
    split loses; infinity if there is none."""
    # a week at a time: single days of a single run are mostly noise
    daily = np.diff(lost, axis=1, prepend=0.0) / np.diff(days, prepend=0.0)
    reach = min(7, daily.shape[1])
    smooth = np.array([_weekly_means(row, reach) for row in daily])
    turns = np.full(len(worlds), np.inf)
    for place, world in enumerate(worlds):
        factors = np.ones(len(days))
        if world.factors is not None:
            factors = world.factors[: len(days)]
        split = float(np.mean(world.problem.gaps)) * traffic * _weekly_means(factors, reach)
        above = np.flatnonzero(smooth[place] >= split / 2)
        turned = int(above[-1]) + 1 if len(above) else 0
        if turned < smooth.shape[1]:
            turns[place] = days[turned]
    return turns


def _weekly_means(values: FloatArray, reach: int) -> FloatArray:
    """The mean of each ``reach`` days in a row."""
    return np.convolve(values, np.ones(reach) / reach, mode="valid")


def _words(parts: list[PlayerResult], played: dict[str, list[Result]], days: int) -> str:
    """The policy to take, and how clear that is."""
    policies = [part for part in parts if part.player not in (EVEN_SPLIT, WAITING)]
    first = policies[0]
    split = next(part for part in parts if part.player == EVEN_SPLIT)
    words = (
        f"Take {first.player}: over {days} days it loses {first.lost.mean:.0f} conversions while "
        f"it learns, an even split {split.lost.mean:.0f}"
    )
    if first.saved.low <= 0:
        words = (
            f"No policy is clearly better than an even split over {days} days: the best, "
            f"{first.player}, loses {first.lost.mean:.0f} conversions, the split "
            f"{split.lost.mean:.0f}"
        )
    near = [part.player for part in policies[1:] if _level(played, first.player, part.player)]
    if near:
        words += (
            f"; {' and '.join(near[:3])} {'is' if len(near) == 1 else 'are'} not measurably worse"
        )
    return words


def _level(played: dict[str, list[Result]], first: str, other: str) -> bool:
    """True if the other's loss is not significantly larger, world by world."""
    more = losses_by_day(played[other])[:, -1] - losses_by_day(played[first])[:, -1]
    return float(mean_interval(more, LEVEL)[0]) <= 0
