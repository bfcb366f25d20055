"""The real future of a simulated shop: when the expected loss falls below the tolerance.

Futures are drawn from the truth, and at every look the whole model is fitted to what the shop would
know by then. That is dear, so a look at which stopping is out of the question is passed over: when
the plain normal approximation, with the true law of the delays, puts the loss above `SCREEN` times
the tolerance. `--no-screen` fits the model at every look.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.shop_worlds import Array, Shop
from patientbandits._util.durations import DAY
from patientbandits.analysis.arms import beliefs
from patientbandits.analysis.events.history import Events
from patientbandits.analysis.future import future_days
from patientbandits.analysis.run import TOLERANCE, lag_times
from patientbandits.inference import expected_loss

SCREEN = 2.5
HORIZON = 365


@dataclass(frozen=True)
class ShopFuture:
    """One future: ages today, negative for decisions to come, and all delays; in days."""

    shop: Shop
    ages: tuple[Array, ...]
    delays: tuple[Array, ...]

    def known(self, day: float) -> list[tuple[Array, Array]]:
        """Ages and delays, arm by arm, as the shop knows them on that day."""
        found = []
        for age, delay in zip(self.ages, self.delays, strict=True):
            made = age + day > 0
            old = (age + day)[made]
            found.append((old, np.where(delay[made] <= old, delay[made], np.inf)))
        return found


def draw_future(shop: Shop, random: np.random.Generator) -> ShopFuture:
    """Those who wait go on as the truth says, and new ones come at the same traffic."""
    ages = []
    delays = []
    for arm, age, delay in zip(shop.arms, shop.ages, shop.delays, strict=True):
        waiting = delay > age
        renewed = delay.copy()
        renewed[waiting] = arm.later(random, age[waiting])
        fresh = -random.random(random.poisson(shop.traffic * HORIZON)) * HORIZON
        ages.append(np.concatenate([age, fresh]))
        delays.append(np.concatenate([renewed, arm.outcomes(random, len(fresh))]))
    return ShopFuture(shop=shop, ages=tuple(ages), delays=tuple(delays))


def is_cheap(shop: Shop, known: list[tuple[Array, Array]]) -> bool:
    """Whether the model says that stopping costs less than the tolerance."""
    named = {
        f"arm {place}": (ages * DAY, delays * DAY) for place, (ages, delays) in enumerate(known)
    }
    events = Events.of(named, window=shop.window * DAY, end=1.8e9)
    found = beliefs(events.arms, events.window, lag_times(events))
    best = max(found, key=lambda belief: belief.rate.mean)
    return best.loss < TOLERANCE * best.rate.mean


def is_out_of_question(shop: Shop, known: list[tuple[Array, Array]]) -> bool:
    """Whether even with known delays the loss is far above the tolerance."""
    means = np.empty(len(known))
    sizes = np.empty(len(known))
    for place, (arm, (ages, delays)) in enumerate(zip(shop.arms, known, strict=True)):
        table = arm.table[arm.table <= shop.window]
        young = ages[ages < shop.window]
        ripe = np.searchsorted(table, young, side="right") / max(len(table), 1)
        sizes[place] = len(ages) - len(young) + ripe.sum() + 1.0
        means[place] = ((delays <= shop.window).sum() + 0.5) / sizes[place]
    spreads = np.sqrt(means * np.maximum(1 - means, 1e-9) / sizes)
    loss = float(expected_loss(means, spreads))
    return loss > SCREEN * TOLERANCE * float(means.max())


def real_days(
    shop: Shop, random: np.random.Generator, futures: int, *, screen: bool = True
) -> float:
    """The first look by which stopping has become cheap in at least half of the futures: their
    median."""
    played = [draw_future(shop, random) for _ in range(futures)]
    if is_cheap(shop, played[0].known(0.0)):
        return 0.0
    done = 0
    for day in future_days()[1:]:
        waiting = []
        for future in played:
            known = future.known(float(day))
            if screen and is_out_of_question(shop, known):
                waiting.append(future)
            elif is_cheap(shop, known):
                done += 1
            else:
                waiting.append(future)
        played = waiting
        if 2 * done > futures:
            return float(day)
    return np.inf
