"""What alerts keep of the log: as the log has it, in room that has a limit."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest

from patientbandits.live.errors import RefusedError
from patientbandits.live.monitoring import watched_log
from patientbandits.live.monitoring.watched_log import TimeHistogram, WatchedLog, report_time
from patientbandits.live.settings.quarantine import decision_quarantined, quarantined
from patientbandits.live.storage import queries
from patientbandits.live.storage.base import END
from patientbandits.live.times import SECOND

BYTES_FOR_EACH = 8
"""that may be kept for each further decision; its time alone would take as much"""


class NaiveLog:
    """Every decision and every payment, one by one, for ever."""

    def __init__(self, reader, experiment, settings):
        rules = settings.quarantine
        self.made = [[] for _ in settings.arms]
        self.paid = {}
        self.messages = []
        rows = reader.rows(queries.WATCHED_DECISIONS, experiment, 0, END)
        for _seq, arm, made, _, unit, sender in rows:
            if not decision_quarantined(rules, made, unit, sender):
                self.made[arm].append(made)
        for row in reader.rows(queries.WATCHED_PAYMENTS, experiment, 0, END):
            self.add(rules, *row)

    def add(
        self, rules, seq, kind, time, decision, value, happened, stated, unit, sender, arm, made
    ):
        told = report_time(time, happened, stated)
        if kind in ("conversion", "order") and value and not quarantined(rules, time, unit, sender):
            self.messages.append((told, unit, seq))
        if kind == "order":
            return
        worth = 0 if kind == "retraction" else value
        if decision in self.paid:
            self.paid[decision] = (*self.paid[decision][:3], worth)
        elif worth:
            self.paid[decision] = (told, made, arm, worth)

    def arrivals(self, arm):
        return sorted(
            (told, made) for told, made, of, worth in self.paid.values() if of == arm and worth
        )


def some_shop(shop, clock, random, events=160):
    """Decisions and exposures; conversions, orders and second orders; some are taken back, some
    decisions converted by id have orders too; days go by."""
    handle = shop.experiment("button", ["a", "b", "c"], policy="Uniform", seed=1, sticky=False)
    ids = [handle.decide(unit="u1").id]
    for number in range(events):
        clock.now += random.exponential(4000.0)
        with suppress(RefusedError):  # came before with other content, or there is none to retract
            happens(handle, clock.now, random, ids, number)
    return handle


def happens(handle, now, random, ids, number):
    unit = f"u{random.integers(12)}"
    what = random.integers(9)
    if what < 3:
        ids.append(handle.decide(unit=unit).id)
    elif what == 3:
        handle.expose(unit, "abc"[random.integers(3)], now - 5 * random.random(), 1 / 3)
    elif what < 6:
        handle.convert(str(random.choice(ids)), at=now - float(random.integers(2)))
    elif what < 8:
        handle.convert(unit=unit, order=f"o{number % 40}")
    elif random.random() < 0.5:
        handle.retract(str(random.choice(ids)))
    else:
        handle.retract(order=f"o{random.integers(number + 1) % 40}")


def compare(shop, handle, watched):
    experiment = handle.experiment.id
    with shop.store.reading() as reader:
        settings = watched.settings
        naive = NaiveLog(reader, experiment, settings)
        watched.read_on(reader, experiment)
        latest = reader.last_time(experiment)
        for arm, found in enumerate(watched.arrivals()):
            told = naive.arrivals(arm)
            assert found.reported.total == len(told)
            young = latest - watched_log.BURST_MEMORY * SECOND
            recently = [one for one in told if one[0] > young]
            kept = found.recent[found.recent[:, 0] > young / SECOND]
            assert kept.tolist() == [[one / SECOND for one in pair] for pair in recently]
            assert watched.made[arm].bins().total == len(naive.made[arm])
            assert mean(watched.made[arm].bins()) == pytest.approx(np.mean(naive.made[arm]))
        messages = watched.messages()
        assert messages.total == len(naive.messages)
        assert messages.last == max(told for told, _, _ in naive.messages) / SECOND
        units = Counter(unit for told, unit, _ in naive.messages if told > latest - 86400 * SECOND)
        recent_ones = messages.recent[messages.recent[:, 0] > latest - 86400 * SECOND]
        assert Counter(recent_ones[:, 1].tolist()) == {hash(unit): n for unit, n in units.items()}
        for unit in units:
            first = next(seq for _, of, seq in naive.messages if of == unit)
            assert watched.first_line(reader, experiment, hash(unit)) == first
    return naive


def mean(bins):
    return np.average(bins.times, weights=bins.counts) * SECOND


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lines", [3, 50])
def test_as_the_log_has_it(clear_shop, clock, monkeypatch, seed, lines):
    """Read in stretches, with what is taken back and paid again later, and in quarantine."""
    monkeypatch.setattr(watched_log, "LINES_READ_AT_A_TIME", lines)
    monkeypatch.setattr(watched_log, "PAUSE", 0.0)
    random = np.random.default_rng(seed)
    handle = some_shop(clear_shop, clock, random)
    naive = compare(clear_shop, handle, WatchedLog(handle.settings))
    assert any(not worth for *_, worth in naive.paid.values())  # some were taken back
    clock.now += 60.0
    handle.quarantine(unit="u3")
    handle.quarantine(since=clock.now - 30_000.0, only="conversions")
    after = compare(clear_shop, handle, WatchedLog(handle.settings))
    assert len(after.messages) < len(naive.messages)


def months(random, events, days):
    return np.sort(random.integers(0, int(days * 86400 * SECOND), events)) + 10**15


def test_bins_of_lonely_events_are_exact():
    """One in a second is as it was, and what is taken out leaves the others as they were."""
    random = np.random.default_rng(8)
    times = 10**15 + np.sort(random.choice(200_000, 3000, replace=False)) * SECOND + 123_457
    out = times[random.random(3000) < 0.3]
    counts = TimeHistogram()
    counts.add(random.permutation(times))
    counts.bins()
    counts.add(out, -1)
    left = np.setdiff1d(times, out)
    assert counts.bins().times.tolist() == (left / SECOND).tolist()
    assert counts.bins().total == len(left)


def test_taken_out_long_after():
    """When seconds have become minutes and hours."""
    random = np.random.default_rng(9)
    times = months(random, 3000, 60)
    counts, fewer = TimeHistogram(), TimeHistogram()
    out = random.random(3000) < 0.4
    out[-1] = False
    for piece in np.array_split(np.arange(3000), 5):
        counts.add(times[piece])
        counts.bins()
    counts.add(times[out], -1)
    fewer.add(times[~out])
    assert counts.bins().times.tolist() == fewer.bins().times.tolist()
    assert counts.bins().counts.tolist() == fewer.bins().counts.tolist()


def test_recent_rows_have_a_limit(monkeypatch):
    monkeypatch.setattr(watched_log, "MOST_RECENT", 50)
    kept = watched_log.RecentRows(2, memory=30)
    for number in range(200):
        kept.add([(number, 2 * number)] * 3)
    assert kept.rows.tolist() == sorted([[n, 2 * n] for n in range(170, 200)] * 3)[-50:]
    kept.remove([(199, 398), (199, 398), (3, 6)])
    assert len(kept.rows) == 48


class Flood:
    """A log of so many decisions, 100 a second, each fourth of which is paid for at once."""

    def __init__(self, decisions):
        self.decisions = decisions

    def head(self, experiment):
        return self.decisions

    def rows(self, statement, experiment, after, last):
        found = []
        for seq in range(after + 1, last + 1):
            made = 10**15 + seq * SECOND // 100
            if statement == queries.WATCHED_DECISIONS:
                found.append((seq, seq % 2, made, 0.5, None, None))
            elif seq % 4 == 0:
                paid = (seq, "conversion", made, seq, 10**6, made, None, None, None)
                found.append((*paid, seq % 2, made))
        return found

    def decided(self, experiment, column, values):
        return []

    def with_credits(self, experiment, found):
        return []


def kept_bytes(settings, decisions):
    tracemalloc.start()
    watched = WatchedLog(settings)
    watched.read_on(Flood(decisions), 1)
    watched.arrivals()
    for counts in watched.made:
        counts.bins()
    gc.collect()  # gives back the interpreter's own spare tuples, too
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert watched.messages().total == decisions // 4
    return kept


def test_what_is_kept_does_not_grow_with_the_decisions(shop, monkeypatch):
    """Further decisions and payments take few bytes each; when as many as are kept one by one have
    come, hardly any."""
    monkeypatch.setattr(watched_log, "PAUSE", 0.0)
    settings = shop.experiment("button", ["a", "b"]).settings
    kept_bytes(settings, 1000)
    few, many = kept_bytes(settings, 20_000), kept_bytes(settings, 80_000)
    assert many - few < BYTES_FOR_EACH * 60_000
    monkeypatch.setattr(watched_log, "MOST_RECENT", 1000)
    few, many = kept_bytes(settings, 20_000), kept_bytes(settings, 80_000)
    assert many - few < 2 * 60_000


def test_buckets_have_a_limit(monkeypatch):
    """Twenty times as often: the same room, once seconds are all in use."""
    monkeypatch.setattr(watched_log, "BY_SECOND", 3600 * SECOND)
    random = np.random.default_rng(4)
    counts = TimeHistogram()
    for day in range(30):
        counts.add(10**15 + day * 86400 * SECOND + random.integers(0, 86400 * SECOND, 40_000))
    assert len(counts.bins().times) < 2 * 3600 + 22 * 1440 + 9 * 24
    assert counts.bins().total == 30 * 40_000
