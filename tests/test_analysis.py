"""From a history to a verdict: Kaplan-Meier, windows, cohorts, the future, the page, the
command."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from patientbandits._util.durations import DAY, HOUR
from patientbandits.analysis import Analysis, analyse
from patientbandits.analysis.events import Events, read_events
from patientbandits.analysis.events.example import write_example
from patientbandits.analysis.normals import best_probability, expected_loss, normal_cdf
from patientbandits.analysis.page import write_analysis
from patientbandits.analysis.survival import product_limit
from patientbandits.cli import main
from patientbandits.errors import InputError


def made_up(
    seed: int, decisions: int, rate: float, median_days: float, span_days: float = 60
) -> tuple[np.ndarray, np.ndarray]:
    """Ages and delays in seconds: log-normal delays, decisions spread evenly over the span."""
    random = np.random.default_rng(seed)
    ages = random.random(decisions) * span_days * DAY
    delays = random.lognormal(math.log(median_days * DAY), 1.0, decisions)
    converts = (random.random(decisions) < rate) & (delays <= ages)
    return ages, np.where(converts, delays, np.inf)


@pytest.fixture(scope="module")
def shop() -> Events:
    """The second arm is better and slow."""
    return Events.of(
        {"control": made_up(1, 6000, 0.05, 0.5), "slow": made_up(2, 6000, 0.07, 6.0)},
        window=30 * DAY,
        end=1_780_000_000,
    )


@pytest.fixture(scope="module")
def found(shop: Events) -> Analysis:
    return analyse(shop)


def naive_kaplan_meier(ages: np.ndarray, delays: np.ndarray, time: float) -> float:
    """From the definition, decision by decision."""
    left = 1.0
    for moment in sorted({delay for delay in delays if delay <= time}):
        events = sum(delay == moment for delay in delays)
        at_risk = sum(min(age, delay) >= moment for age, delay in zip(ages, delays, strict=True))
        left *= 1 - events / at_risk
    return 1 - left


def test_kaplan_meier_is_the_definition() -> None:
    ages, delays = made_up(3, 120, 0.5, 3.0)
    ages, delays = np.round(ages / DAY), np.round(delays / DAY)  # ties
    curve = product_limit(ages, delays)
    for time in (0, 1, 2, 5, 17, 40):
        expected = naive_kaplan_meier(ages, delays, time)
        assert float(curve.at(time)) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(float(curve.at(ages.max() + 1)))


@pytest.mark.filterwarnings("ignore")
def test_kaplan_meier_agrees_with_lifelines() -> None:
    from lifelines import KaplanMeierFitter

    ages, delays = made_up(4, 3000, 0.3, 4.0)
    ages, delays = np.minimum(ages, 30 * DAY), np.where(delays <= 30 * DAY, delays, np.inf)
    converted = np.isfinite(delays)
    fitter = KaplanMeierFitter().fit(np.where(converted, delays, ages), converted)
    curve = product_limit(ages, delays)
    theirs = 1 - fitter.survival_function_at_times(curve.times).to_numpy()
    assert np.abs(curve.share - theirs).max() < 1e-12
    low, high = fitter.confidence_interval_survival_function_.to_numpy().T
    places = np.searchsorted(fitter.survival_function_.index.to_numpy(), curve.times)
    z = stats.norm.ppf(0.975)
    left = 1 - curve.share
    bound = z * np.sqrt(curve.variance) / (left * np.log(left))  # log-log intervals, as theirs
    ours = np.exp(np.log(left)[:, None] * np.exp(np.stack([-bound, bound], axis=1)))
    assert np.abs(np.sort(ours, axis=1) - np.stack([low, high], axis=1)[places]).max() < 1e-9


def test_normals_are_those_of_simulation() -> None:
    means, spreads = np.array([0.3, 0.31, 0.28]), np.array([0.02, 0.03, 0.05])
    draws = np.random.default_rng(0).normal(means, spreads, (400_000, 3))
    loss = draws.max(axis=1).mean() - means.max()
    assert float(expected_loss(means, spreads)) == pytest.approx(loss, rel=0.02)
    share = np.bincount(draws.argmax(axis=1)) / len(draws)
    assert best_probability(means, spreads) == pytest.approx(share, abs=0.004)
    x = np.linspace(-5, 5, 301)
    assert normal_cdf(x) == pytest.approx(stats.norm.cdf(x), abs=1e-8)


def test_two_normals_in_closed_form() -> None:
    """E max - m1 = s phi(d/s) - d (1 - Phi(d/s)), d = m1 - m2 > 0, s^2 = s1^2 + s2^2."""
    means, spreads = np.array([0.05, 0.045]), np.array([0.003, 0.004])
    s, d = math.hypot(*spreads), 0.005
    exact = s * stats.norm.pdf(d / s) - d * stats.norm.sf(d / s)
    assert float(expected_loss(means, spreads)) == pytest.approx(exact, rel=1e-3)


def test_findings_are_consistent(found: Analysis) -> None:
    for arm in found.arms.values():
        assert 0 <= arm.low <= arm.rate <= arm.high <= 1
        assert arm.anytime_low <= arm.rate <= arm.anytime_high
        assert arm.raw <= arm.rate
        assert arm.matured == pytest.approx(
            arm.conversions / (arm.conversions + arm.to_come), abs=0.02
        )
    assert sum(arm.best for arm in found.arms.values()) == pytest.approx(1)
    assert found.arms["control"].lift is None
    assert found.verdict.leader == "slow"
    assert found.arms["slow"].matured < found.arms["control"].matured
    assert "slow leads" in found.verdict.words


def test_nothing_comes_from_decisions_older_than_the_window(shop: Events) -> None:
    old = Events.of(
        {
            arm.name: (arm.ages + 31 * DAY, np.where(arm.delays <= 30 * DAY, arm.delays, np.inf))
            for arm in shop.arms
        },
        window=30 * DAY,
        end=shop.end,
    )
    result = analyse(old)
    for arm in result.arms.values():
        assert arm.to_come == pytest.approx(0, abs=1e-9)
        assert arm.matured == pytest.approx(1)
        assert arm.rate == pytest.approx(arm.raw, rel=0.05)


def test_windows_show_where_the_ranking_flips(found: Analysis) -> None:
    leaders = {row.window: row.leader for row in found.windows}
    assert leaders[DAY] == "control"
    assert leaders[30 * DAY] == "slow"
    flips = [row for row in found.windows if row.flipped]
    assert len(flips) == 1
    assert DAY < flips[0].window <= 30 * DAY
    shares = np.array([[part.caught for part in row.arms] for row in found.windows])
    assert np.all(np.diff(shares, axis=0) >= 0)
    assert shares[-1] == pytest.approx(1.0)
    assert found.windows[0].window == HOUR


def test_cohorts_add_up(found: Analysis) -> None:
    for arm in found.arms.values():
        rows = [row for row in found.cohorts if row.arm == arm.arm]
        assert sum(row.decisions for row in rows) == arm.decisions
        assert sum(row.conversions for row in rows) == arm.conversions
        expected = arm.conversions + arm.to_come
        assert sum(row.expected for row in rows) == pytest.approx(expected, rel=0.05)


def test_another_window_recomputes(shop: Events, found: Analysis) -> None:
    shorter = analyse(shop, window="1d")
    assert shorter.verdict.leader == "control"
    assert shorter.arms["slow"].rate < found.arms["slow"].rate / 3


def test_clear_cases_can_stop_and_others_are_too_early() -> None:
    clear = Events.of(
        {"a": made_up(5, 20_000, 0.02, 0.3), "b": made_up(6, 20_000, 0.08, 0.3)}, window=7 * DAY
    )
    verdict = analyse(clear).verdict
    assert verdict.days_left == 0
    assert verdict.certain
    assert verdict.words.endswith("that is low enough to stop")
    early = Events.of(
        {"a": made_up(7, 40, 0.1, 5.0), "b": made_up(8, 40, 0.1, 5.0)}, window=30 * DAY
    )
    verdict = analyse(early).verdict
    assert verdict.too_early
    assert verdict.words.startswith("Too early to say")


def test_an_arm_without_conversions_and_a_single_arm() -> None:
    ages = np.linspace(0, 10, 300) * DAY
    silent = Events.of(
        {"a": (ages, np.full(300, np.inf)), "b": made_up(9, 300, 0.2, 0.5)}, window=DAY
    )
    result = analyse(silent)
    assert result.verdict.too_early
    assert result.arms["a"].rate < result.arms["b"].rate
    alone = analyse(Events.of({"a": made_up(9, 300, 0.2, 0.5)}, window=DAY))
    assert "only one arm" in alone.verdict.words


def test_refuses(shop: Events) -> None:
    with pytest.raises(InputError, match="tolerance must be between 0 and 1"):
        analyse(shop, tolerance=0.0)
    with pytest.raises(InputError, match="events must come from read_events; got str"):
        analyse("shop.csv")  # type: ignore[arg-type]


def test_pandas_and_plot(found: Analysis) -> None:
    table = found.to_pandas()
    assert table.loc["slow", "decisions"] == 6000
    assert len(found.plot().axes) == 6


def test_the_page_has_everything_inside(found: Analysis, tmp_path: Path) -> None:
    page = write_analysis(found, tmp_path).read_text()
    assert found.verdict.words in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert page.count("data:image/svg+xml;base64,") == 5
    data = json.loads((tmp_path / "analysis.json").read_text())
    assert data["verdict"]["leader"] == "slow"


JSON_OF_AN_ARM = {
    *("arm", "decisions", "conversions", "rate", "low", "high"),
    *("matured", "to_come", "best", "lift"),
}
JSON_OF_THE_VERDICT = {"leader", "probability", "expected_loss", "days_left", "words"}


def test_the_command_on_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", str(tmp_path / "shop")]) == 0
    capsys.readouterr()
    files = [str(tmp_path / "shop" / name) for name in ("exposures.csv", "orders.csv")]
    out = str(tmp_path / "out")
    assert main(["analyse", *files, "--window", "30d", "--out", out, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {arm["arm"] for arm in data["arms"]} == {"control", "blue", "green"}
    assert all(set(arm) >= JSON_OF_AN_ARM for arm in data["arms"])
    assert set(data["verdict"]) >= JSON_OF_THE_VERDICT
    assert data["control"] == "control"
    assert data["verdict"]["leader"] == "green"
    assert {row["leader"] for row in data["windows"] if row["window"] == 3 * DAY} == {"blue"}
    page = (tmp_path / "out" / "analysis.html").read_text()
    text = re.sub(r"<style>.*?</style>|<code>.*?</code>|</?[bi][^>]*>", "", page, flags=re.DOTALL)
    words = re.sub(r"<[^>]*>", "\n", text)
    assert re.findall(r"\w+[.;)][A-Z]\w*|[a-z]\(\w+", words) == []
    assert (tmp_path / "out" / "rows_set_aside.csv").exists()
    assert main(["analyse", *files, "--window", "30d", "--out", out, "--credit", "last"]) == 0
    verdict = r"^(\w+ leads|No clear leader yet: \w+ is ahead), with a probability of .*[a-z]\.$"
    assert re.search(verdict, capsys.readouterr().out, re.MULTILINE)


def test_the_example_is_as_untidy_as_promised(tmp_path: Path) -> None:
    events = read_events(*write_example(tmp_path), window="30d")
    assert events.decisions == 60_000
    report = events.report
    assert report is not None
    assert report.units_in_several_arms > 100
    assert report.exposures.duplicates > 100
    assert report.exposures.unreadable > 10
    for count in ("duplicates", "unreadable", "unmatched", "before_exposure", "out_of_window"):
        assert getattr(report.orders, count) > 0, count


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--window", "soon"], "window must be a length of time"),
        (["--columns", "unit"], "must be ROLE=NAME"),
        (["--tolerance", "little"], "must be a share such as 0.5%"),
        (["--traffic", "many"], "must be such as 500/day"),
    ],
)
def test_bad_options_end_with_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.csv").write_text("unit,time,variant\na,2026-01-01,x\n")
    (tmp_path / "o.csv").write_text("unit,time\na,2026-01-02\n")
    files = [str(tmp_path / "e.csv"), str(tmp_path / "o.csv")]
    assert main(["analyse", *files, "--out", str(tmp_path / "out"), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_an_unreadable_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("unit,time,variant\na,someday,x\n")
    (tmp_path / "o.csv").write_text("unit,time\na,2026-01-02\n")
    files = [str(tmp_path / "e.csv"), str(tmp_path / "o.csv")]
    assert main(["analyse", *files, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "e.csv, line 2, column time: time must be a date" in error
    assert "'someday'" in error
