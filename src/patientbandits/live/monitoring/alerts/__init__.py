"""Alerts: what somebody should know of an experiment without looking for it.

    ratio       arms against their logged propensities
    time_counts how often something happened, and when, in room that has a limit
    recent      the latest of something, one by one
    arrivals    when conversions came, and how many the lag model expects
    surprises   conversions that stopped, jumped, or came all at once
    finding     all of these for one experiment
    keeping     what was found: raised once, kept until it is over, told to webhooks

All of it is read from the log, aside: nothing here is done when a decision is made.
"""
