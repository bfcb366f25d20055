"""How good a policy's decisions are when rewards come late, against rivals and bars.

Regret only: what a round costs is in `cost`, and everything else about speed in `python -m bench`.
"""
