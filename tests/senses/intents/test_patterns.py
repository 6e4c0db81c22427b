"""Regexes from outside: what is refused, and how long the rest may take."""

import logging

import pytest

from soulgraph.senses.intents.patterns import (
    REACH,
    PatternPrefilter,
    RegexBudget,
    UnsafePattern,
    compiled,
    refuse_slow_pattern,
)

EXPLOSIVE = [
    "(a|a)*[xy]",
    "(?:a|aa)+[xy]",
    "(?:(a+)\\1+)+[xy]",
    "(?:.*)*(?:.*)*[xy]",
    "(?=(?:a|aa)*[xy])",
    "(?<=[xy](a|aa)*)$",
    "(?:(?:(?:a{0,99}){0,99}){0,99}){0,99}[xy]",
    "(?:a+b+c+d+){e<=9}[yz]",
    "(a(?1)*)(?1)[xy]",
    "(?:a|(?R))*[xy]",
    ".*" * 200 + "[xy]",
    "a?" * 200 + "[xy]",
]


@pytest.mark.parametrize("pattern", [*EXPLOSIVE[:5], *EXPLOSIVE[6:], "(a+)+$", "^(ab|a|b)*c$", r"(\w+\s?)*$"])
def test_a_pattern_that_shows_itself_explosive_is_refused(pattern):
    with pytest.raises(UnsafePattern, match="takes too long"):
        refuse_slow_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\b(dragon|wyrm)s?\b", "old (king|queen).{0,40}crown", ".*foo.*bar", "魔王|勇者(们)?"]
)
def test_an_ordinary_pattern_is_not(pattern):
    refuse_slow_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?V1)a", r"\L<names>", "(?P<x>a)(?P=y)"])
def test_a_pattern_that_does_not_compile_is_refused(pattern):
    with pytest.raises(UnsafePattern, match="does not compile"):
        compiled(pattern)


@pytest.mark.parametrize("pattern", ["a{1000000000}", "(?:a{1000}){1000}", "(?:(?:a{100,}){100,}){100,}"])
def test_a_pattern_that_would_be_huge_is_refused_before_it_is_compiled(pattern):
    with pytest.raises(UnsafePattern, match="repeats too much"):
        compiled(pattern)


@pytest.mark.parametrize("pattern", ["(?x)a{1 0 0 0 0 0 0}", "(?ix: a )"])
def test_a_verbose_pattern_is_refused(pattern):
    with pytest.raises(UnsafePattern, match="verbose"):
        compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(打开|开)(一下)?.{0,4}灯", "开一下客厅灯"),
        (".*开.*灯.*", "把打开的灯"),
        (r"turn\s+(on|off)\s+(the\s+)?(\w+\s+)?lights?", "Turn ON the kitchen light"),
        (
            r"^(请|麻烦)?你?(帮我|给我)?(把|将)?(.+?)的?(灯|电视|空调)(打开|关掉|关上)(吧|一下)?$",
            "帮我把卧室的灯关掉吧",
        ),
        (r"set\s+(a|the)?\s*timer\s+for\s+(?P<n>\d+)\s*(minutes?|hours?)", "set a timer for 5 minutes"),
        (r"\d{4}-\d{2}-\d{2}", "on 2026-11-16"),
        (r"(?:放|播放)(?P<x>.+)", "播放七里香"),
        ("(a+)+", "aaa"),
    ],
)
def test_an_ordinary_pattern_is_found_whatever_the_case(pattern, text):
    assert RegexBudget().search(pattern, text)


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_a_search_that_takes_too_long_finds_nothing_and_is_reported_once(pattern, caplog):
    budget = RegexBudget(left=60)
    with caplog.at_level(logging.WARNING):
        assert budget.search(pattern, "a" * REACH) is None
        assert budget.search(pattern, "a" * REACH) is None
    assert [record.getMessage() for record in caplog.records] == [
        f"the pattern {pattern} takes too long to search for and counts as not matching"
    ]


def test_when_patience_has_run_out_nothing_more_is_searched_for():
    budget = RegexBudget()
    hostile = (f"(a|a)*[xy]{{1,{n}}}" for n in range(1, 1000))
    searched = sum(1 for pattern in hostile if budget.left > 0 and budget.search(pattern, "a" * REACH) is None)
    assert 1 <= searched <= 50
    assert budget.search("a", "a") is None
    assert RegexBudget().search("a", "a")


def test_a_pattern_sees_the_beginning_of_a_text():
    assert RegexBudget().search("灯$", "啊" * (REACH - 1) + "灯" + "啊" * 100)
    assert RegexBudget().search("灯", "啊" * REACH + "灯") is None


def test_a_sieve_keeps_back_only_what_none_of_its_patterns_is_in():
    prefilter = PatternPrefilter(["开.{0,4}灯|light on", "^play", "闹钟$"])
    assert [prefilter.passes(text) for text in ("请开一下灯", "LIGHT ON", "定闹钟", "闹钟响了", "let me play")] == [
        *[True] * 3,
        *[False] * 2,
    ]


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(?P<x>a)(?P=x)", "(?s)a.b", "(a)(?(1)a|b)", "(x?)a(?1)"])
def test_a_pattern_that_counts_on_being_alone_is_never_held_back(pattern):
    text = "aa a\nb"
    assert RegexBudget().search(pattern, text)
    assert PatternPrefilter(["(.)(.)开灯", pattern]).passes(text)


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_a_sieve_that_takes_too_long_lets_pass(pattern):
    assert PatternPrefilter(["开灯", pattern]).passes("a" * 100 + "z 开灯")


def test_a_sieve_that_takes_long_is_paid_from_the_budget_of_the_utterance():
    budget = RegexBudget()
    assert PatternPrefilter(EXPLOSIVE[:1]).passes("a" * REACH, budget)
    assert budget.left < RegexBudget().left


def test_a_sieve_is_not_searched_when_the_budget_is_used_up():
    budget = RegexBudget(left=0)
    assert PatternPrefilter(["开灯"]).passes("关窗", budget)
    assert budget.left == 0


def test_a_pattern_that_somebody_holds_is_not_compiled_again():
    held = compiled("held(open)?")
    compiled.cache_clear()
    assert compiled("held(open)?") is held
