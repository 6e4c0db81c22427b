"""What is remembered is bounded by the number of texts and by their length."""

import pytest

from soulgraph.senses import common_words, planted, text, tokenizer, units
from soulgraph.senses.emotion import features
from soulgraph.senses.intents import concepts, opposites, shape, utterance
from soulgraph.soul.short_texts import remembers_short


@pytest.fixture
def looked_at():
    return []


@pytest.fixture
def upper(looked_at):
    @remembers_short(2, max_chars=5)
    def upper(text):
        looked_at.append(text)
        return text.upper()

    return upper


def test_a_short_text_is_looked_at_once(upper, looked_at):
    assert [upper("short"), upper("short")] == ["SHORT", "SHORT"]
    assert looked_at == ["short"]


def test_a_long_text_is_not_kept(upper, looked_at):
    assert [upper("longer"), upper("longer")] == ["LONGER", "LONGER"]
    assert looked_at == ["longer", "longer"]


def test_no_more_than_so_many_are_kept(upper, looked_at):
    for word in ("a", "b", "c", "c", "b", "a"):
        upper(word)
    assert looked_at == ["a", "b", "c", "a"]


OF_TEXTS = pytest.mark.parametrize(
    "function",
    [
        text.normalise,
        text._one_line,
        planted._marks,
        concepts.concepts_in,
        opposites.sides_in,
        shape._shape,
        utterance._clauses,
        utterance.folded,
    ],
    ids=lambda function: function.__name__,
)


def remembered_by(function):
    (remembered,) = [cell.cell_contents for cell in function.__closure__ if hasattr(cell.cell_contents, "cache_info")]
    return remembered


@OF_TEXTS
def test_what_people_send_is_not_kept_where_it_is_long(function):
    """Whoever sends a thousand different pages does not find them in the memory of the server."""
    page = "她说今天的雨下得很大，and we stayed at home. " * 100
    before = remembered_by(function).cache_info()
    function(page)
    assert remembered_by(function).cache_info() == before


@OF_TEXTS
def test_thousands_of_turns_leave_no_more_than_the_last_texts(function):
    for n in range(1500):
        function(f"we walked {n} miles")
    assert remembered_by(function).cache_info().currsize <= 1024


@pytest.mark.parametrize(
    "remembered", [units._normalise_unit, tokenizer._stem, common_words.is_common, features._subword_buckets]
)
def test_thousands_of_words_leave_no_more_than_the_last(remembered):
    for n in range(3000):
        remembered(f"word{n}")
    assert remembered.cache_info().currsize <= 2048
