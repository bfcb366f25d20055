"""The arm that every unit must get, from the words of the rule: a list of what happened."""

from __future__ import annotations


class NaivePeople:
    def __init__(self):
        self.happened = []
        """(decision or promise, unit, arm, the arms that were retired then)"""
        self.persons = []
        self.retired = frozenset()

    def units(self, unit):
        joined = [person for person in self.persons if unit in person]
        return joined[0] if joined else {unit}

    def join(self, unit, other):
        both = self.units(unit) | self.units(other)
        self.persons = [person for person in self.persons if not person & both] + [both]

    def given(self, unit, kind=None):
        units = self.units(unit)
        return [one for one in self.happened if one[1] in units and kind in (None, one[0])]

    def kept(self, unit):
        """The first arm; another one only if that was retired when it was given."""
        kept = None
        for _, _, arm, retired in self.given(unit):
            if kept is None or kept in retired:
                kept = arm
        return None if kept in self.retired else kept

    def arm(self, unit):
        """What it must be shown; None: the policy may choose."""
        others = [arm for _, _, arm, _ in self.given(unit) if arm not in self.retired]
        return self.kept(unit) or (others[-1] if others else None)

    def decided(self, unit, arm):
        return any(one[2] == arm for one in self.given(unit, "decision"))

    def give(self, unit, arm, promised):
        if self.kept(unit) is None and self.given(unit) and self.arm(unit) == arm:
            self.happened.append(("promise", unit, arm, self.retired))  # from here on it stays
        if self.decided(unit, arm) and self.arm(unit) == arm:
            return
        if not promised or self.arm(unit) is None:
            kind = "promise" if promised else "decision"
            self.happened.append((kind, unit, arm, self.retired))

    def told(self, unit, arm):
        if not self.decided(unit, arm):
            self.happened.append(("decision", unit, arm, self.retired))
