"""Policies play problems drawn from the posterior of a shop's own history, before one of them is
let loose.

worlds    problems drawn from what is known of rates and delays
players   the policies that take part, an even split, and waiting out the window
run       the games and what they show
page      one page
"""

from patientbandits.rehearsal.run import Rehearsal, rehearse

__all__ = ["Rehearsal", "rehearse"]
