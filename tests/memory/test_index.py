"""The index of one soul: terms by BM25, vectors by cosine, and the relevance of neighbouring messages."""

import math
from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.memory.index import SoulIndex
from soulgraph.memory.inverted_index import InvertedIndex
from soulgraph.memory.ranking import FEW_TEXTS, K1, USUAL_LENGTH, B
from soulgraph.memory.source import Query
from soulgraph.memory.vector_index import VectorIndex
from soulgraph.senses.question import read_question
from soulgraph.senses.tokenizer import fingerprints, query_terms
from soulgraph.stores.episodes import index_columns
from soulgraph.stores.records import Episode

TEXTS = st.lists(st.lists(st.integers(0, 6), max_size=8), min_size=1, max_size=12)
NOW = 1_800_000_000.0


def packed_terms(terms):
    return np.array(terms, "<u4").tobytes()


def plain_bm25(texts, question):
    scores, whole = [0.0] * len(texts), 0.0
    for term in dict.fromkeys(question):
        holders = sum(term in text for text in texts)
        idf = math.log(1 + (max(len(texts), FEW_TEXTS) - holders + 0.5) / (holders + 0.5))
        whole += idf
        for n, text in enumerate(texts):
            tf = Counter(text)[term]
            scores[n] += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * len(text) / USUAL_LENGTH)) if tf else 0
    return [score / max(whole, 1e-9) for score in scores]


@given(TEXTS, st.lists(st.integers(0, 8), max_size=5), st.integers(1, 4))
def test_words_are_matched_as_bm25_would_however_the_texts_arrived(texts, question, step):
    index = InvertedIndex()
    for start in range(0, len(texts), step):
        index.add([packed_terms(text) for text in texts[start : start + step]])
    match = index.match(index.postings(question).values())
    assert match.scores() == pytest.approx(plain_bm25(texts, question), abs=1e-5)
    assert (match.known_terms > 0) == any(term in text for term in question for text in texts)


def session_of(*texts, by_user=True):
    """Episodes of one session with these texts, numbered from 1."""
    return [Episode(n, n - 1 or None, by_user, NOW, **index_columns(text, NOW, UTC)) for n, text in enumerate(texts, 1)]


def query(text, vector=None, exclude=()):
    return Query("soul_1", text, query_terms(text), vector, NOW, 3, None, exclude)


def asked(text):
    return read_question(text, datetime.fromtimestamp(NOW, UTC))


def search(index, text, limit=10, vector=None, exclude=()):
    return index.search(query(text, vector, exclude), asked(text), limit)


def found(index, text, vector=None, limit=10, exclude=()):
    return search(index, text, limit, vector, exclude).message_ids


@pytest.fixture
def index():
    index = SoulIndex()
    index.add(session_of("My daughter is called Mika", "What a lovely name", "米卡喜欢画画", "I parked on level three"))
    return index


def test_a_message_is_found_by_its_words(index):
    assert found(index, "where did I park?")[0] == 4
    assert found(index, "米卡喜歡什麼")[0] == 3
    assert found(index, "submarine") == []


def test_a_form_is_found_by_its_word():
    index = SoulIndex()
    index.add(session_of("We bought a boat and named it Gull", "Lovely", "The children ran to the harbour"))
    assert found(index, "what did we buy?")[0] == 1
    assert found(index, "which child runs there?")[0] == 3


def test_a_bare_answer_is_shown_with_its_question():
    index = SoulIndex()
    question = Episode(1, None, False, NOW, fingerprints("What is the parrot called?"), size=26, asks=True)
    index.add([question, Episode(2, 1, True, NOW, b"", size=4)])
    shown = search(index, "parrot")
    assert {shown.message_ids[0], *shown.around[0]} == {1, 2}
    assert shown.around[shown.message_ids.index(2)] == [1]


def test_lines_from_around_come_along_and_no_more_than_two():
    index = SoulIndex()
    index.add(session_of("rain again", "a red kite", "how nice", "a red kite flies", "a kite", "bread", "sleep"))
    shown = search(index, "red kite")
    assert shown.message_ids[0] in (2, 4)
    for message_id, around in zip(shown.message_ids, shown.around, strict=True):
        assert len(around) <= 2
        assert all(0 < abs(one - message_id) <= 2 for one in around)
    assert {2, 4} <= {shown.message_ids[0], *shown.around[0]}


def test_what_was_said_in_one_language_is_found_in_the_other():
    index = SoulIndex()
    index.add(session_of("我妈妈的膝盖疼", "嗯", "The neighbour's cat stole my umbrella"))
    assert found(index, "what is wrong with Mum's knee?")[0] == 1
    assert found(index, "谁拿了我的雨伞？")[0] == 3


def test_what_is_in_the_prompt_already_is_not_found(index):
    assert 4 not in found(index, "park level", exclude={4, 999})


def test_a_question_whose_words_were_never_used_finds_only_what_is_clearly_near(index):
    vectors = np.eye(4, 16, dtype=np.float32)
    index.add_vectors([(n, half_precision(vectors[n - 1])) for n in range(1, 5)])
    hardly = 0.1 * vectors.sum(axis=0) + 0.98 * np.eye(16, dtype=np.float32)[9]
    assert found(index, "nitrogen boils", hardly) == []
    assert found(index, "nitrogen boils", vectors[1])[0] == 2
    assert found(index, "park nitrogen", hardly)[0] == 4


def test_the_lines_are_those_of_the_session():
    index = SoulIndex()
    index.add(session_of("a red kite", "lovely"))
    index.add([Episode(3, None, True, NOW, fingerprints("a red balloon")), Episode(4, 3, True, NOW, b"")])
    assert search(index, "kite", 1).around == [[2]]
    assert search(index, "balloon", 1).around == [[4]]


def test_adding_the_same_again_changes_nothing(index):
    before = found(index, "daughter park 米卡")
    index.add(session_of("My daughter is called Mika", "What a lovely name"))
    assert (len(index), index.last_id) == (4, 4)
    assert found(index, "daughter park 米卡") == before


def test_an_index_with_nothing_in_it_finds_nothing():
    assert found(SoulIndex(), "anything", np.ones(8, np.float32)) == []


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_messages_find_their_neighbours_in_whatever_order_they_arrive(order):
    messages = session_of("a red kite", "lovely", "so it is", "bread")
    index = SoulIndex()
    for place in order:
        index.add([messages[place]])
    assert [one for one in search(index, "kite", 1).around[0] if one < 3] == [2]
    assert 3 in search(index, "bread", 1).around[0]
    assert index.last_id == 4


def half_precision(vector):
    return (vector / np.linalg.norm(vector)).astype("<f2").tobytes()


def test_a_message_is_found_by_its_meaning_once_it_has_a_vector(index):
    vectors = np.eye(4, 16, dtype=np.float32)
    assert found(index, "submarine", vectors[3]) == []
    index.add_vectors([(4, half_precision(vectors[3]))])
    assert index.embedded_to == 0
    index.add_vectors([(n, half_precision(vectors[n - 1])) for n in range(1, 5)])
    assert index.embedded_to == 4
    assert found(index, "submarine", vectors[3])[0] == 4


def test_a_message_is_found_by_its_words_while_only_others_have_vectors(index):
    vectors = np.eye(4, 16, dtype=np.float32)
    index.add_vectors([(n, half_precision(vectors[n - 1])) for n in (1, 2, 3)])
    assert found(index, "in which street did I park yesterday?", vectors[3])[0] == 4
    assert found(index, "submarine", vectors[3]) == []


def test_among_many_the_sketch_finds_what_comparing_each_would_find():
    rng = np.random.default_rng(3)
    topics = rng.normal(size=(40, 64))
    vectors = topics[rng.integers(40, size=6000)] + 0.5 * rng.normal(size=(6000, 64))
    by_user = np.arange(6000) % 2 == 0
    vectors[by_user] += 3 * rng.normal(size=64)
    vector_index = VectorIndex(64)
    for rows in np.array_split(np.arange(6000), 7):
        vector_index.put(rows, [half_precision(vectors[row]) for row in rows], by_user[rows])
    for row in range(0, 6000, 500):
        asked = (vectors[row] / np.linalg.norm(vectors[row])).astype(np.float32)
        short = vector_index.shortlist(asked, 200)
        everything = vector_index.cosines(asked, np.arange(6000))
        assert len(short) == 200
        assert set(np.argsort(-everything)[:10]) <= set(short)
        assert everything[row] == pytest.approx(1, abs=0.01)


def test_of_some_thousand_the_nearest_are_on_the_shortlist_and_no_more():
    """Each row on it is looked at with its neighbours, so a list of all of them would make every turn dearer."""
    vectors = np.random.default_rng(5).normal(size=(3000, 64))
    vector_index = VectorIndex(64)
    vector_index.put(np.arange(3000), [half_precision(vector) for vector in vectors], np.arange(3000) % 2 == 0)
    asked = (vectors[7] / np.linalg.norm(vectors[7])).astype(np.float32)
    short = vector_index.shortlist(asked, 64)
    everything = vector_index.cosines(asked, np.arange(3000))
    assert len(short) == 256
    assert set(np.argsort(-everything)[:250]) <= set(short)


def test_a_byte_for_each_value_is_as_good_as_the_whole_vector():
    vectors = np.random.default_rng(6).normal(size=(300, 512))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    vector_index = VectorIndex(512)
    vector_index.put(np.arange(300), [half_precision(vector) for vector in vectors], np.ones(300, bool))
    near = vector_index.cosines(vectors[0].astype(np.float32), np.arange(300))
    centred = vectors - vectors.sum(axis=0) / (300 + 64)
    centred /= np.linalg.norm(centred, axis=1)[:, None]
    assert near == pytest.approx(centred @ centred[0], abs=0.005)


def test_who_speaks_does_not_count_as_what_is_meant():
    """Two speakers whose vectors differ more by speaker than by subject; each speaks of two subjects."""
    rng = np.random.default_rng(4)
    subjects = rng.normal(size=(2, 64))
    manners = 3 * rng.normal(size=(2, 64))
    subject = np.arange(400) // 2 % 2
    speaker = np.arange(400) % 2
    vectors = subjects[subject] + manners[speaker] + 0.1 * rng.normal(size=(400, 64))
    vector_index = VectorIndex(64)
    vector_index.put(np.arange(400), [half_precision(vector) for vector in vectors], speaker == 1)
    near = vector_index.cosines((vectors[0] / np.linalg.norm(vectors[0])).astype(np.float32), np.arange(400))
    assert near[subject == 0].min() > near[subject == 1].max()
