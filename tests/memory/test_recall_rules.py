"""Rules of recall, each on a short conversation: days, names, the soul's own words, and what is shown together."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.memory.doubt import Doubt, signals
from soulgraph.memory.features import Lines, speaker_named
from soulgraph.memory.index import SoulIndex
from soulgraph.memory.source import Query
from soulgraph.memory.spreading import RANKING, spread
from soulgraph.senses.question import read_question
from soulgraph.senses.tokenizer import query_terms
from soulgraph.stores.episodes import index_columns
from soulgraph.stores.records import Episode

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
DAY_S = 86_400.0


def talk(*lines):
    """An index of one session of (role, text, days ago)."""
    index = SoulIndex()
    for n, (role, text, days_ago) in enumerate(lines, 1):
        at = NOW.timestamp() - days_ago * DAY_S
        index.add([Episode(n, n - 1 or None, role == "user", at, **index_columns(text, at, UTC))])
    return index


def asked(index, text, limit=5):
    query = Query("soul_1", text, query_terms(text), None, NOW.timestamp(), limit)
    return index.search(query, read_question(text, NOW), limit)


def test_what_was_said_of_last_friday_is_found_by_its_date():
    index = talk(
        ("user", "We went swimming on Monday at the lake", 40),
        ("assistant", "How nice", 40),
        ("user", "Nothing new", 30),
        ("assistant", "I see", 30),
        ("user", "Last Friday we went swimming in the sea", 9),  # on Monday 9 November: 6 November
        ("assistant", "Wonderful", 9),
    )
    assert asked(index, "What did we do on 6 November?").message_ids[0] == 5
    assert asked(index, "Where did we swim on the 6th of November 2026?").message_ids[0] == 5


def test_a_question_for_a_month_finds_what_was_said_then():
    index = talk(
        ("user", "I painted the boat blue", 200),
        ("assistant", "Blue like the sea", 200),
        ("user", "Hm", 150),
        ("assistant", "Yes", 150),
        ("user", "I painted the boat red", 35),
        ("assistant", "Red like a tomato", 35),
    )
    assert asked(index, "How did I paint the boat last month?").message_ids[0] == 5
    assert asked(index, "How did I paint the boat in May 2026?").message_ids[0] == 1


def test_when_a_time_is_asked_for_what_names_one_comes_first():
    index = talk(
        ("user", "The concert hall is beautiful, the concert was loud", 20),
        ("assistant", "I like concerts", 20),
        ("user", "Hm", 19),
        ("assistant", "Yes", 19),
        ("user", "The concert is on 3 December", 18),
    )
    assert asked(index, "When is the concert?").message_ids[0] == 5


def test_what_the_soul_promised_is_found_when_it_is_asked_for():
    index = talk(
        ("user", "I would love a song about whales", 9),
        ("assistant", "I promise to sing you a song about whales on Sunday", 9),
        ("user", "Good night", 9),
    )
    assert asked(index, "What did you promise to sing?").message_ids[0] == 2


def test_a_name_that_only_one_of_the_two_says_is_the_others():
    lines = [("user", f"Hey Bo, number {n}", n) for n in range(4)] + [
        ("assistant", f"Ann, it is {n}", n) for n in range(4)
    ]
    index = talk(*lines)
    by_user = index._by_user.values
    for name, whom in (("Bo", -1.0), ("Ann", 1.0)):
        question = read_question(f"What did {name} count?", NOW)
        names, about = speaker_named(question, index._terms.postings(question.terms), by_user)
        assert (len(names), about) == (1, whom)
    question = read_question("What did Zoe count?", NOW)
    assert speaker_named(question, index._terms.postings(question.terms), by_user) == (set(), 1.0)


@given(st.lists(st.floats(-8, 8), min_size=1, max_size=30), st.integers(1, 12))
def test_no_message_is_chosen_twice_and_lines_come_from_within_two(scores, limit):
    n = len(scores)
    rows = np.arange(n)
    ones = np.ones(n, bool)
    lines = Lines(ones, np.zeros(n), np.full(n, 60), ~ones, ~ones, rows - 1, np.append(rows[1:], -1))
    chosen = spread(np.append(np.array(scores), -np.inf), ones, lines, limit, RANKING)
    assert len({one.row for one in chosen}) == len(chosen) <= limit
    assert scores[chosen[0].row] >= max(scores) - 4
    for one in chosen:
        assert len(one.around) <= 2
        assert all(0 < abs(row - one.row) <= 2 for row in one.around)


@pytest.mark.parametrize(("speaker", "doubted"), [(1, False), (-1, True)])
def test_what_the_other_has_said_is_doubted(speaker, doubted):
    """With weights that look only at the words: in the mouth of whom the question names they answer, else not."""
    index = talk(("user", "I bought a red boat", 3), ("assistant", "Boats are fun", 3))
    query = Query("soul_1", "boat", query_terms("red boat"), None, NOW.timestamp(), 3)
    found = index.candidates(query, read_question("red boat", NOW))
    assert found is not None
    _, features, _ = found
    features = features._replace(speaker=np.where([True, False], 1, -1) * speaker)
    plain = Doubt(0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0)
    assert plain.doubts(features) == doubted
    assert len(signals(features)) == 6
