import pytest

from soulgraph.prompts.tokens import tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("four", 1), ("five!", 2), ("你好", 2), ("你好，hello", 5), ("한국어", 3), ("🙂", 1)]
)
def test_tokens_are_estimated_by_script(text, tokens):
    assert tokens_of(text) == tokens
