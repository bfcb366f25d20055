"""A slow, obvious reference, written from the definitions and importing nothing from the package.

Problems and policies come in as plain data (what ``describe`` gives). An episode is a list of
pulls; at every decision everything is computed again from the whole list. Notation: t is the round
of the decision, a pull made in round s < t with delay D shows its reward iff D <= t - s.
"""

from naive.bounds import alpha_low as alpha_low
from naive.episodes import POLICIES as POLICIES
from naive.episodes import episode as episode
from naive.episodes import regret as regret
from naive.random_numbers import bits_at as bits_at
from naive.random_numbers import following as following
from naive.random_numbers import keys as keys
from naive.random_numbers import mix as mix
from naive.random_numbers import unit as unit
from naive.thompson import GuardedThompson as GuardedThompson
from naive.worlds import SURVIVAL as SURVIVAL
from naive.worlds import Pull as Pull
from naive.worlds import View as View
from naive.worlds import World as World
from naive.worlds import survival as survival
