"""Lazy patterns find what compiled ones find, and are compiled once."""

import re

from soulgraph.soul import patterns
from soulgraph.soul.patterns import compile_pending, lazy_pattern


def test_it_finds_what_a_compiled_one_finds():
    lazy = lazy_pattern(r"(?P<who>ann|ben) (\w+)", re.IGNORECASE)
    found = lazy.search("hello Ann Lee")
    assert found["who"] == "Ann"
    assert lazy.sub(r"\2", "Ben Ray") == "Ray"
    assert [*map(re.Match.group, lazy.finditer("ann a ben b"))] == ["ann a", "ben b"]
    assert (lazy.groups, lazy.flags & re.IGNORECASE) == (2, re.IGNORECASE)


def test_it_is_compiled_with_its_first_use_and_not_again(monkeypatch):
    compiled = []
    monkeypatch.setattr(patterns.re, "compile", lambda *source: compiled.append(source) or re._compile(*source))
    lazy = lazy_pattern("a+")
    assert lazy.pattern == "a+"
    assert compiled == []
    assert lazy.match("aa")
    assert lazy.match("aa")
    assert lazy.fullmatch("aaa")
    assert compiled == [("a+", 0)]


def test_those_that_nobody_has_used_can_be_compiled_all_at_once():
    used, unused = lazy_pattern("a"), lazy_pattern("b")
    assert used.search("a")
    assert [*patterns._pending].count(used) == 0
    compile_pending()
    assert not patterns._pending
    assert "compiled" in vars(unused)


def test_one_that_is_gone_is_not_kept_for_that():
    compile_pending()
    lazy_pattern("gone")
    assert not patterns._pending
