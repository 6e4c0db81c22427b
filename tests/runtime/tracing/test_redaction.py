"""What is left of a value before it goes anywhere."""

from dataclasses import dataclass

import pytest

from soulgraph.runtime.tracing.redaction import HIDDEN, Redactor
from soulgraph.runtime.tracing.trace import Trace

OWN = "the-key-of-this-server"


@dataclass
class Soul:
    name: str
    inner_state: str


def test_none_hides_the_servers_own_keys_and_nothing_else():
    redactor = Redactor("none", [OWN])
    told = redactor.clean(
        {"text": f"{OWN} sk-abcdefgh12345678", "soul": Soul("a", "lonely")}, Trace(private={"abcdefgh"})
    )
    assert told == {"text": f"{HIDDEN} sk-abcdefgh12345678", "soul": {"name": "a", "inner_state": "lonely"}}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("mine is sk-proj-abcdefgh12345678!", f"mine is {HIDDEN}!"),
        ("Authorization: Bearer abcdefgh.ijkl", f"Authorization: Bearer {HIDDEN}"),
        ("postgresql://me:secret@host/db", f"postgresql://{HIDDEN}@host/db"),
        ('<inner_state>"I am\nlonely"</inner_state> Begin from <inner_state>.', None),
        ('{"inner_state": "so \\"lonely\\"", "slots": []}', f'{{"inner_state": "{HIDDEN}", "slots": []}}'),
        ('{"about_itself": "I wait better"}', f'{{"about_itself": "{HIDDEN}"}}'),
        ("<about_itself>I wait better</about_itself>", f"<about_itself>{HIDDEN}</about_itself>"),
        ("they said my private words aloud", f"they said my {HIDDEN} aloud"),
        ("sk-8 and the bearer of news, at http://host:80/a@b", "sk-8 and the bearer of news, at http://host:80/a@b"),
    ],
)
def test_secrets_are_what_looks_like_a_key_and_what_the_soul_thinks_for_itself(said, told):
    told = told or f"<inner_state>{HIDDEN}</inner_state> Begin from <inner_state>."
    assert Redactor("secrets", []).text(said, Trace(private={"private words"})) == told


def test_what_a_soul_thinks_of_itself_or_of_somebody_is_hidden_in_data_too():
    asked = {"task": "reflect", "about_itself": "I wait better", "relation": {"inner_state": "Ann tires me"}}
    hidden = {"task": "reflect", "about_itself": HIDDEN, "relation": {"inner_state": HIDDEN}}
    assert Redactor("secrets", []).clean(asked, Trace()) == hidden


def test_a_secret_too_short_to_be_one_hides_no_text():
    assert Redactor("none", ["a", ""]).text("a cat among dogs", Trace()) == "a cat among dogs"


def test_of_what_is_no_data_only_the_kind_is_told():
    assert Redactor("secrets", []).clean({"task": object(), "many": ({"x": 1},)}, Trace()) == {
        "task": "<object>",
        "many": [{"x": 1}],
    }
