from importlib.resources import files
from typing import get_args

import pytest

from soulgraph.errors import PromptError
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.context import Persona, build
from soulgraph.prompts.layers import assemble
from soulgraph.prompts.render import load, render, variables_of
from soulgraph.prompts.templates import shipped
from soulgraph.voices.llm_senses import CHOOSE_INTENTS, FEEL
from soulgraph.voices.proposals import PROPOSE_WISHES
from soulgraph.voices.tasks import EXTRACT_EVENT, PROACTIVE, REFLECT, SUMMARIZE, UPDATE_MEMORY, task_messages

PROMPTS = list(files("soulgraph.prompts").iterdir())
TASKS = [
    (EXTRACT_EVENT, {"messages": [], "state_changes": [], "names": [], "remembered": []}),
    (REFLECT, {"messages": [], "inner_state": "", **REFLECT.defaults}),
    (UPDATE_MEMORY, {"messages": [], "base_persona": "", "evolved_persona": ""}),
    (SUMMARIZE, {"messages": []}),
    (PROACTIVE, dict.fromkeys(variables_of(load("task_proactive")) - {"language"}, "")),
    (FEEL, {"text": "", "prototypes": {}}),
    (PROPOSE_WISHES, {"message": "", "known": {}}),
    (CHOOSE_INTENTS, {"text": "", "candidates": []}),
]


def test_variables_are_filled_wherever_they_stand():
    assert render("{{a}}-{{ b }}-{{a}} {c} {{}}", a="1", b="2") == "1-2-1 {c} {{}}"
    assert variables_of("{{a}} {{ b }} {{a}} {c}") == {"a", "b"}


def test_missing_and_unused_variables_are_named():
    with pytest.raises(PromptError, match="missing variables: a, b"):
        render("{{b}} {{a}} {{c}}", c="")
    with pytest.raises(PromptError, match="unused variables: x, y"):
        render("{{a}}", a="", y="", x="")


def test_inserted_text_is_never_expanded_again():
    assert render("{{a}} {{b}}", a="{{b}}", b=r"{{a}} \1 \g<0>") == r"{{b}} {{a}} \1 \g<0>"


def spoken():
    context = build(shipped("companion_v1"), Persona("Mika", "hybrid"))
    return [message.text for message in assemble(context, [], "hi", {})]


def test_every_prompt_file_is_rendered_by_the_code_that_uses_it():
    rendered = {
        "safety": spoken()[0],
        "output_contract": spoken()[-1],
        **{name: render(load(name), problem="Mika") for name in ("repair", "task_repair")},
        **{task.prompt: task_messages(task, "en", data)[0].text for task, data in TASKS},
    }
    assert rendered.keys() == {path.name.removesuffix(".md") for path in PROMPTS if path.name.endswith(".md")}
    for name, text in rendered.items():
        assert "{{" not in text, name
        assert load(name).split("{{")[0] in text, name


def test_every_voice_can_be_configured():
    assert sorted(get_args(PersonaConfig.model_fields["default_template"].annotation)) == sorted(TEMPLATES)
    assert sorted(TEMPLATES) == sorted(TEMPLATES)
