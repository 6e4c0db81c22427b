"""The sentences the head of the appraisal is trained on."""

from soulgraph.scripts.training.appraisal import sentences, strangers
from soulgraph.tests.senses.appraisal.test_appraise import rows


def test_the_sentences_of_strangers_are_among_those_trained_on():
    texts = {sentence.text for sentence in sentences()}
    assert len(strangers()) > 300
    assert texts.issuperset(sentence.text for sentence in strangers())


def test_no_sentence_is_both_about_others_and_an_attack_or_kind():
    assert [each for each in sentences() if max(each.hostility, each.repair) >= 0.5 > each.toward] == []


def test_neither_half_of_the_evaluation_is_trained_on():
    """Single words of command aside: they are what they are in every set."""
    known = {sentence.text.lower() for sentence in sentences()}
    texts = [row["text"] for half in ("open", "held") for row in rows(half)]
    assert [text for text in texts if text.lower() in known and len(text) > 6] == []
