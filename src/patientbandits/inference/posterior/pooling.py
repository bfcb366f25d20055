"""Arms that learn from each other, through what each publishes; and the refresh of one arm.

Arm i's prior is not that of an arm alone, p(law) p(mu), but

    p(law) [1 - rho + rho q_-i(law)]
    p(mu) [1 - sigma + sigma g_-i(mu) / p(mu)]

    q_-i(law) ~ product over j != i of [1 - rho + rho L_j(law)]
    g_-i = mixture of Beta(1, (1 - m)/m), m in MEANS

where L_j(law) is arm j's marginal likelihood of the law relative to its mean under p, and the
mixture weighs each m by the other arms' marginal likelihoods. What an arm publishes, L_j and its
likelihood of each m, follows from its own counts alone. It stays pending until `commit_pool`: arms
refreshed in one step all use the other arms' earlier values, so their order does not matter.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from patientbandits.inference.elementary import exponential, logarithm
from patientbandits.inference.formulas import Array, formula
from patientbandits.inference.posterior.cells import (
    MISFIT,
    fill,
    largest_value,
    log_to_weight,
    oldest_point,
    over_laws,
    set_prior,
    sum_over_levels,
    weigh_bins,
    weigh_cells,
)
from patientbandits.inference.posterior.constants import COMMON_LAW, COMMON_MEAN
from patientbandits.inference.posterior.laws import DEPTH, FAMILIES, Laws, in_use
from patientbandits.inference.posterior.rates import combine, expect, misfit


class Pool(NamedTuple):
    """Everything published, as logarithms, the sums, and the factors of the arm at hand.

    Pending is what has been published since the last `commit_pool`: not yet in the sums.
    """

    published_laws: Array
    """(arm, law): log(1 - rho + rho L(law))"""
    law_sum: Array
    law_pending: Array
    published_means: Array
    """(arm, mean): the log-likelihood of m"""
    mean_sum: Array
    mean_pending: Array
    law_factor: Array
    level_factor: Array
    mean_factor: Array


def pool_of(laws: Laws, arms: int) -> Pool:
    """Before any arm has published anything."""
    count = len(laws.law_base)
    means = len(laws.common)
    return Pool(
        published_laws=np.zeros((arms, count)),
        law_sum=np.zeros(count),
        law_pending=np.zeros(count),
        published_means=np.zeros((arms, means)),
        mean_sum=np.zeros(means),
        mean_pending=np.zeros(means),
        law_factor=np.ones(count),
        level_factor=np.ones(DEPTH),
        mean_factor=np.zeros(means),
    )


log_likelihood = formula(
    "published[law] = logarithm(by_law[law] / prior[law] * scale + (1.0 - rho))",
    logarithm=logarithm,
    rho=COMMON_LAW,
)
add = formula("values[place] += others[place]")
subtract = formula("values[place] -= others[place]")
sum_over_laws = formula("by_level[level] += total[law](cells[law, level])")

most_likely_of_others = formula("largest[law](everyone[law] - own[law])")
likelihood_of_others = formula(
    "factor[law] = exponential(everyone[law] - own[law] - highest)", exponential=exponential
)
weighted_by_prior = formula("fold[law](factor[law] * prior[law])")
mix_with_own = formula("factor[law] = 1.0 - rho + scale * factor[law]", rho=COMMON_LAW)

less_own = formula("values[mean] = everyone[mean] - own[mean]")
relative_weight = formula(
    "values[mean] = exponential(values[mean] - highest)", exponential=exponential
)
scale_cells = formula("cells[law, level] = cells[law, level] * by_law[law] * by_level[level]")


def publish_laws(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """The arm's log(1 - rho + rho L(law)), from its cells before any factor.

    An arm that fits no law says the same of each: L = 0.
    """
    own = pool.published_laws[arm]
    subtract(pool.law_pending, own)
    fits = work.results[MISFIT] == 0.0
    fill(own, logarithm(1.0 - COMMON_LAW) if fits else 0.0)
    if fits:
        prior = sum_of_prior(laws, oldest, work)
        scale = COMMON_LAW * prior / sum_over_levels(laws, oldest, laws.powers[0], work)
        for family in range(FAMILIES):
            part = in_use(laws, family, oldest)
            log_likelihood(own[part], work.by_law[part], work.law_prior[part], scale)
    add(pool.law_pending, own)


def sum_of_prior(laws: Any, oldest: int, work: Any) -> float:
    """The sum of the prior over the laws in use, which is not normalised."""
    everything = 0.0
    for family in range(FAMILIES):
        everything += over_laws(work.law_prior[in_use(laws, family, oldest)], work.spare)
    return everything


def publish_means(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """The arm's log-likelihood of each mean m: of the sum over cells of weight g_m(mu) / p(mu)."""
    fill(work.by_level, 0.0)
    for family in range(FAMILIES):
        sum_over_laws(work.by_level, work.cells[in_use(laws, family, oldest)])
    for mean in range(len(pool.mean_sum)):
        likelihood = 0.0
        for level in range(DEPTH):
            ratio = laws.common[mean, level] / laws.level_prior[level]
            likelihood += ratio * work.by_level[level]
        published = logarithm(likelihood)
        pool.mean_pending[mean] += published - pool.published_means[arm, mean]
        pool.published_means[arm, mean] = published


def absorb_laws(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """``law_factor`` = 1 - rho + rho q(law), from what the other arms have published."""
    own = pool.published_laws[arm]
    highest = -math.inf
    for family in range(FAMILIES):
        part = in_use(laws, family, oldest)
        highest = max(highest, most_likely_of_others(pool.law_sum[part], own[part]))
    mean = 0.0
    for family in range(FAMILIES):
        part = in_use(laws, family, oldest)
        factor = pool.law_factor[part]
        likelihood_of_others(factor, pool.law_sum[part], own[part], highest)
        mean += weighted_by_prior(factor, work.law_prior[part], work.spare)
    scale = COMMON_LAW * sum_of_prior(laws, oldest, work) / mean
    for family in range(FAMILIES):
        mix_with_own(pool.law_factor[in_use(laws, family, oldest)], scale)


def absorb_means(laws: Any, pool: Any, arm: int) -> None:
    """``level_factor`` = 1 - sigma + sigma g(mu) / p(mu), from what the others have published."""
    weight = pool.mean_factor
    less_own(weight, pool.mean_sum, pool.published_means[arm])
    log_to_weight(weight, largest_value(weight))
    total = 0.0
    for mean in range(len(weight)):
        total += weight[mean]
    for level in range(DEPTH):
        share = 0.0
        for mean in range(len(weight)):
            share += weight[mean] * laws.common[mean, level]
        ratio = share / (total * laws.level_prior[level])
        pool.level_factor[level] = 1.0 - COMMON_MEAN + COMMON_MEAN * ratio


def apply_factors(laws: Any, oldest: int, pool: Any, work: Any) -> None:
    """The arm's cells times both factors."""
    for family in range(FAMILIES):
        own = in_use(laws, family, oldest)
        scale_cells(work.cells[own], pool.law_factor[own], pool.level_factor)


ALONE, POOLED, FORGETTING = range(3)


def refresh_arm(laws: Any, counts: Any, pool: Any, arm: int, work: Any) -> None:
    """``work``'s results for this arm, and what it publishes.

    First alone, for its misfit and for what it publishes; then with what it absorbs; then, on a
    misfit, its tail once more, by weights that forget young ages.
    """
    oldest = oldest_point(counts)
    pooled = len(pool.published_laws) > 1
    work.results[MISFIT] = 0.0
    set_prior(laws, oldest, work)
    # A loop with conditions, not three calls: each step is then compiled once, not three times.
    for step in range(3):
        if step == POOLED and not pooled:
            continue
        if step == FORGETTING and work.results[MISFIT] == 0.0:
            continue
        if step != POOLED:
            weigh_bins(laws, counts, work, step == FORGETTING)
            weigh_cells(laws, counts, work)
        if step == POOLED:
            exchange(laws, oldest, pool, arm, work)
        if step != ALONE and pooled:
            apply_factors(laws, oldest, pool, work)
        expect(laws, counts, work, step == FORGETTING)
        if step == ALONE:
            work.results[MISFIT] = misfit(counts, work)
    combine(laws, counts, work)


def exchange(laws: Any, oldest: int, pool: Any, arm: int, work: Any) -> None:
    """The factors from what the arm absorbs, and what it publishes, from its cells without them."""
    absorb_laws(laws, oldest, pool, arm, work)
    absorb_means(laws, pool, arm)
    publish_laws(laws, oldest, pool, arm, work)
    publish_means(laws, oldest, pool, arm, work)


def commit_pool(pool: Any) -> None:
    """Make what is pending part of the sums that arms absorb."""
    add(pool.law_sum, pool.law_pending)
    add(pool.mean_sum, pool.mean_pending)
    fill(pool.law_pending, 0.0)
    fill(pool.mean_pending, 0.0)
