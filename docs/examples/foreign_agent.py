"""An agent of another library in the Gymnasium environment: UCB1 of mabwiser.

    pip install 'patientbandits[gym]' mabwiser
    python foreign_agent.py

Every pull reports in the end, a 0 too, and the agent learns from what has come.
"""

import gymnasium
from mabwiser.mab import MAB, LearningPolicy

import patientbandits as pb
import patientbandits.integrations.gym  # registers the environment


def play(environment: gymnasium.Env, seed: int) -> float:
    """Regret of one episode."""
    arms = list(range(int(environment.action_space.n)))
    agent = MAB(arms, LearningPolicy.UCB1(alpha=1.0), seed=seed)
    _, info = environment.reset(seed=seed)
    taught = False
    over = False
    while not over:
        # until something has arrived there is nothing to learn from: take turns
        action = agent.predict() if taught else arms[info["round"] % len(arms)]
        _, _, _, over, info = environment.step(action)
        if info["arrivals"]:
            came = [arrival.arm for arrival in info["arrivals"]]
            paid = [arrival.reward for arrival in info["arrivals"]]
            if taught:
                agent.partial_fit(came, paid)
            else:
                agent.fit(came, paid)
                taught = True
    return info["regret"]


if __name__ == "__main__":
    problem = pb.Problem([0.3, 0.6], pb.Geometric(0.05), feedback="reports")
    environment = gymnasium.make("patientbandits/DelayedBandit-v0", problem=problem, horizon=400)
    print(f"regret {play(environment, seed=1):.1f}; at random {0.15 * 400:.1f}")
