"""The speed benchmark: ``python -m bench``.

Ratios of times, taken side by side on one core, against the bars set for them.
"""
