"""Run by the Python of another package's environment: its UCB on delayed rewards, fed by a heap.

Uses nothing of ours.

arguments: package, horizon, runs, seconds to spend, means, tails (comma-separated)
prints: rounds played, seconds
"""

import sys
import time
from heapq import heappop, heappush
from math import ceil
from random import Random


def river(arms):
    from river import bandit

    policy = bandit.UCB(delta=1, seed=0)
    names = list(range(arms))
    return lambda: policy.pull(names), policy.update


def mabwiser(arms):
    from mabwiser.mab import MAB, LearningPolicy

    policy = MAB(list(range(arms)), LearningPolicy.UCB1(alpha=1))
    policy.fit(list(range(arms)), [0] * arms)
    return policy.predict, lambda arm, reward: policy.partial_fit([arm], [reward])


def smpybandits(arms):
    from SMPyBandits.Policies import UCB

    policy = UCB(arms)
    policy.startGame()
    return policy.choice, policy.getReward


def play(choose, update, horizon, means, tails, random):
    """One run. Every outcome, 0 or 1, is told when its delay is over, in time or never."""
    pending = []
    for t in range(1, horizon + 1):
        while pending and pending[0][0] <= t:
            _, arm, reward = heappop(pending)
            update(arm, reward)
        arm = choose()
        reward = 1.0 if random() < means[arm] else 0.0
        arrival = t + ceil((1.0 - random()) ** (-1.0 / tails[arm]))
        if arrival <= horizon:
            heappush(pending, (arrival, arm, reward))


def numbers(text):
    return [float(number) for number in text.split(",")]


def main():
    package = sys.argv[1]
    horizon = int(sys.argv[2])
    runs = int(sys.argv[3])
    budget = float(sys.argv[4])
    means = numbers(sys.argv[5])
    tails = numbers(sys.argv[6])
    make = {"river": river, "mabwiser": mabwiser, "SMPyBandits": smpybandits}[package]
    make(len(means))  # import
    begin = time.process_time()
    run = 0
    while run < runs and (run == 0 or time.process_time() - begin < budget):
        choose, update = make(len(means))
        play(choose, update, horizon, means, tails, Random(run).random)
        run += 1
    print(run * horizon, time.process_time() - begin)


if __name__ == "__main__":
    main()
