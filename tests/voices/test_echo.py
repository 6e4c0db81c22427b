import pytest
from pydantic import ValidationError

from soulgraph.voices.echo import refuse_echo

TEMPLATE = """You write a recap of what was said, and invent nothing.

<messages>{{messages}}</messages>

{"title": "Ove's lost boat", "notes": [{"text": "Ove told how his boat sank in the October storm.", "tag": "sea"}]}

Answer in English."""
DATA = {"messages": [{"role": "user", "content": "I dream of Ove's lost boat"}]}


@pytest.mark.parametrize(
    ("answer", "at"),
    [
        ({"title": "…"}, "title"),
        ({"title": "..."}, "title"),
        ({"title": "notes", "notes": "x"}, "title"),
        ({"title": "Rain", "notes": [{"text": "Ove told how his boat sank in the October storm"}]}, "notes.0.text"),
        ({"text": "Ove told us how his boat sank in the storm of October."}, "text"),
        ({"text": "They like rain. Ove told how his boat sank in the October storm."}, "text"),
        ({"text": "invent nothing. Answer in English."}, "text"),
        ({"text": "you write a recap of what was said"}, "text"),
    ],
)
def test_what_repeats_the_form_is_refused_with_its_place(answer, at):
    with pytest.raises(ValidationError) as caught:
        refuse_echo(answer, TEMPLATE, DATA)
    [flaw] = caught.value.errors()
    assert ".".join(map(str, flaw["loc"])) == at


@pytest.mark.parametrize(
    "answer",
    [
        {"title": "Ove's lost boat"},
        {"title": "", "tag": "sea"},
        {"title": "A storm", "text": "Somebody lost a boat in a storm."},
        {"count": 3, "speak": False, "names": ["Ann"]},
    ],
    ids=["said in the material too", "short", "other words", "no text"],
)
def test_other_answers_pass(answer):
    refuse_echo(answer, TEMPLATE, DATA)
