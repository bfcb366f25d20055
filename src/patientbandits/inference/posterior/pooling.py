"""What the arms of an experiment tell each other, and the refresh of one arm.

Arm i's prior is not that of an arm alone, p(law) p(mu), but

    p(law) [1 - rho + rho q_-i(law)]
    p(mu) [1 - sigma + sigma g_-i(mu) / p(mu)]

    q_-i(law) ~ product over j != i of [1 - rho + rho L_j(law)]
    g_-i = mixture of Beta(1, (1 - m)/m), m in MEANS

where L_j(law) is arm j's marginal likelihood of the law relative to its mean under p, and the
mixture weighs each m by the other arms' marginal likelihoods. What an arm tells, L_j and its
likelihood of each m, follows from its own counts alone. Arms refreshed together hear what was told
before, and only then is heard what they tell (`spread_news`): their order does not matter."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from patientbandits.inference.posterior.cells import (
    end_law,
    first_law,
    set_prior,
    sum_over_levels,
    weigh_bins,
    weigh_cells,
)
from patientbandits.inference.posterior.constants import (
    COMMON_LAW,
    COMMON_MEAN,
)
from patientbandits.inference.posterior.laws import Laws
from patientbandits.inference.posterior.portable import (
    Array,
    add_ratios,
    add_scaled,
    column_sums,
    exponentials,
    fold,
    fold_copy,
    largest,
    logarithm,
    logarithms,
    scale_table,
)
from patientbandits.inference.posterior.rates import combine, expect, misfit
from patientbandits.inference.posterior.work import DEPTH, FAMILIES, MISFIT


class Pool(NamedTuple):
    """What each arm has told, as logarithms, their sums, and the factors for the arm at hand.

    News are what has been told since the last `spread_news`: not yet in the sums.
    """

    told_laws: Array
    """(arm, law)"""
    law_total: Array
    law_news: Array
    told_means: Array
    """(arm, mean)"""
    mean_total: Array
    mean_news: Array
    law_factor: Array
    level_factor: Array
    mean_factor: Array


def pool_of(laws: Laws, arms: int) -> Pool:
    """Before any arm has told anything."""
    count = len(laws.law_base)
    means = len(laws.common)
    return Pool(
        told_laws=np.zeros((arms, count)),
        law_total=np.zeros(count),
        law_news=np.zeros(count),
        told_means=np.zeros((arms, means)),
        mean_total=np.zeros(means),
        mean_news=np.zeros(means),
        law_factor=np.ones(count),
        level_factor=np.ones(DEPTH),
        mean_factor=np.zeros(means),
    )


def tell_laws(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """Arm's log(1 - rho + rho L(law)), from its cells before any factor; neutral on a misfit."""
    told = pool.told_laws[arm]
    add_scaled(pool.law_news, told, -1.0)
    neutral = 0.0
    if work.found[MISFIT] == 0.0:
        neutral = logarithm(1.0 - COMMON_LAW)
    for law in range(len(told)):
        told[law] = neutral
    if work.found[MISFIT] == 0.0:
        prior = prior_of_laws(laws, oldest, work)
        scale = COMMON_LAW * prior / sum_over_levels(laws, oldest, laws.powers[0], work)
        for family in range(FAMILIES):
            first = first_law(laws, family)
            end = end_law(laws, family, oldest)
            law = work.law[first:end]
            add_ratios(law, work.law_prior[first:end], scale, 1.0 - COMMON_LAW)
            logarithms(law, told[first:end])
    add_scaled(pool.law_news, told, 1.0)


def prior_of_laws(laws: Any, oldest: int, work: Any) -> float:
    """What the laws in use weigh together before normalisation."""
    total = 0.0
    for family in range(FAMILIES):
        prior = work.law_prior[first_law(laws, family) : end_law(laws, family, oldest)]
        total += fold_copy(prior, work.law_spare)
    return total


def tell_means(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """Arm's log-likelihood of each mean m: of the sum over cells of weight g_m(mu) / p(mu)."""
    by_level = work.by_level
    for level in range(DEPTH):
        by_level[level] = 0.0
    for family in range(FAMILIES):
        column_sums(work.cells[first_law(laws, family) : end_law(laws, family, oldest)], by_level)
    for mean in range(len(pool.mean_total)):
        total = 0.0
        for level in range(DEPTH):
            total += laws.common[mean, level] / laws.level_prior[level] * by_level[level]
        told = logarithm(total)
        pool.mean_news[mean] += told - pool.told_means[arm, mean]
        pool.told_means[arm, mean] = told


def hear_laws(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """``law_factor`` = 1 - rho + rho q(law), from what the other arms have told."""
    highest = -math.inf
    total = 0.0
    for law in range(len(pool.law_total)):
        work.law[law] = pool.law_total[law] - pool.told_laws[arm, law]
    for family in range(FAMILIES):
        heard = work.law[first_law(laws, family) : end_law(laws, family, oldest)]
        highest = max(highest, largest(heard))
    for family in range(FAMILIES):
        first = first_law(laws, family)
        end = end_law(laws, family, oldest)
        exponentials(work.law[first:end], highest, pool.law_factor[first:end])
        for law in range(first, end):
            work.law[law] = pool.law_factor[law] * work.law_prior[law]
        total += fold(work.law[first:end])
    scale = COMMON_LAW * prior_of_laws(laws, oldest, work) / total
    for family in range(FAMILIES):
        for law in range(first_law(laws, family), end_law(laws, family, oldest)):
            pool.law_factor[law] = 1.0 - COMMON_LAW + scale * pool.law_factor[law]


def hear_means(laws: Any, pool: Any, arm: int) -> None:
    """``level_factor`` = 1 - sigma + sigma g(mu) / p(mu), from what the other arms have told."""
    told = pool.mean_factor
    for mean in range(len(told)):
        told[mean] = pool.mean_total[mean] - pool.told_means[arm, mean]
    exponentials(told, largest(told), told)
    total = 0.0
    for mean in range(len(told)):
        total += told[mean]
    for level in range(DEPTH):
        share = 0.0
        for mean in range(len(told)):
            share += told[mean] * laws.common[mean, level]
        ratio = share / (total * laws.level_prior[level])
        pool.level_factor[level] = 1.0 - COMMON_MEAN + COMMON_MEAN * ratio


def apply_factors(laws: Any, oldest: int, pool: Any, work: Any) -> None:
    """The arm's cells times both factors."""
    for family in range(FAMILIES):
        first = first_law(laws, family)
        end = end_law(laws, family, oldest)
        scale_table(work.cells[first:end], pool.law_factor[first:end], pool.level_factor)


ALONE, POOLED, FORGETTING = range(3)


def refresh_arm(laws: Any, seen: Any, pool: Any, arm: int, work: Any) -> None:
    """``work``'s results for this arm, and what it tells the others after `spread_news`.

    First alone, for its misfit and for what it tells; then with what it hears; then, on a misfit,
    its tail once more, by weights that forget young ages.
    """
    oldest = seen.points[len(seen.points) - 1]
    pooled = len(pool.told_laws) > 1
    work.found[MISFIT] = 0.0
    set_prior(laws, oldest, work)
    for step in range(3):
        if step == POOLED and not pooled:
            continue
        if step == FORGETTING and work.found[MISFIT] == 0.0:
            continue
        if step != POOLED:
            weigh_bins(laws, seen, work, step == FORGETTING)
            weigh_cells(laws, seen, work)
        if step == POOLED:
            exchange(laws, oldest, pool, arm, work)
        if step != ALONE and pooled:
            apply_factors(laws, oldest, pool, work)
        expect(laws, seen, work, step == FORGETTING)
        if step == ALONE:
            work.found[MISFIT] = misfit(seen, work)
    combine(laws, seen, work)


def exchange(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """The factors from what the arm hears, and what it tells, from its cells before any factor."""
    hear_laws(laws, oldest, pool, arm, work)
    hear_means(laws, pool, arm)
    tell_laws(laws, oldest, pool, arm, work)
    tell_means(laws, oldest, pool, arm, work)


def spread_news(pool: Any) -> None:
    """What has been told since the last call is heard from now on."""
    add_scaled(pool.law_total, pool.law_news, 1.0)
    add_scaled(pool.mean_total, pool.mean_news, 1.0)
    for law in range(len(pool.law_news)):
        pool.law_news[law] = 0.0
    for mean in range(len(pool.mean_news)):
        pool.mean_news[mean] = 0.0
