import pytest

from soulgraph.prompts.budget import Budget
from soulgraph.prompts.context import build
from soulgraph.prompts.layers import assemble
from soulgraph.prompts.preview import preview
from soulgraph.prompts.templates import shipped
from soulgraph.prompts.tokens import tokens_of
from soulgraph.tests.prompts.samples import FULL, HISTORY

COMPANION = shipped("companion_v1")


def test_a_preview_shows_what_a_turn_sends():
    budget = Budget(persona=700)
    shown = preview(COMPANION, FULL, HISTORY, "good morning", budget)
    assert shown.messages == assemble(build(COMPANION, FULL, budget), HISTORY, "good morning", {})
    assert shown.context.meta["truncated"]


def test_every_module_is_measured_also_those_that_say_nothing():
    modules = [m.model_copy(update={"enabled": m.name != "World"}) for m in COMPANION.modules]
    shown = preview(COMPANION.model_copy(update={"modules": tuple(modules)}), FULL)
    measured = {module.name: module for module in shown.modules}
    assert list(measured) == [module.name for module in COMPANION.modules]
    assert measured["World"].characters == measured["World"].tokens == 0
    assert measured["Soul"].characters == len("---Soul---\nBe kind.")
    assert (
        sum(module.characters for module in shown.modules)
        < shown.characters
        == sum(len(message.text) for message in shown.messages)
    )
    assert sum(module.tokens for module in shown.modules) < shown.tokens


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("four", 1), ("five!", 2), ("你好", 2), ("你好，hello", 5), ("한국어", 3), ("🙂", 1)]
)
def test_tokens_are_estimated_by_script(text, tokens):
    assert tokens_of(text) == tokens
