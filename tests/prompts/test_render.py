import json
import re
from importlib.resources import files
from typing import get_args

import pytest

from soulgraph.errors import PromptError
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.context import build
from soulgraph.prompts.layers import assemble
from soulgraph.prompts.persona import Persona
from soulgraph.prompts.render import load, render, variables_of
from soulgraph.prompts.templates import shipped
from soulgraph.soul.language import Lang
from soulgraph.voices.fact_extraction import EXTRACT_FACTS
from soulgraph.voices.llm_senses import CHOOSE_INTENTS, FEEL
from soulgraph.voices.proposals import PROPOSE_WISHES
from soulgraph.voices.task_outputs import json_objects_in
from soulgraph.voices.tasks import EXTRACT_EVENT, PROACTIVE, REFLECT, REMIND, SUMMARIZE, UPDATE_MEMORY, task_message
from soulgraph.voices.updates import UPDATE_STATE

LANGS = get_args(Lang)
PACKAGE = files("soulgraph.prompts")
FILES = sorted(path.name for path in PACKAGE.iterdir() if path.name.endswith(".md"))
TASKS = [
    (EXTRACT_EVENT, {"messages": [], "state_changes": [], "names": [], "remembered": []}),
    (REFLECT, {"messages": [], "inner_state": "", **REFLECT.defaults}),
    (UPDATE_MEMORY, {"messages": [], "base_persona": "", "evolved_persona": ""}),
    (SUMMARIZE, {"messages": []}),
    (PROACTIVE, dict.fromkeys(variables_of(load("task_proactive", "en")), "")),
    (REMIND, dict.fromkeys(variables_of(load("task_remind", "en")), "")),
    (FEEL, {"text": "", "prototypes": {}}),
    (PROPOSE_WISHES, {"message": "", "known": {}}),
    (EXTRACT_FACTS, {"messages": [], "known": []}),
    (CHOOSE_INTENTS, {"text": "", "candidates": []}),
    (UPDATE_STATE, {"name": "Mika", "beliefs": {}, "messages": [], **UPDATE_STATE.defaults}),
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


def spoken(lang, carrier):
    context = build(shipped("companion_v1", lang), Persona("Mika", "hybrid", lang=lang))
    return assemble(context, [], "hi", {}, carrier)[0].text


def rendered(lang):
    """Every prompt in this language by the name of its file, as the code that uses it renders it."""
    return {
        "safety": spoken(lang, "tags"),
        "contract_tags": spoken(lang, "tags"),
        "contract_plain": spoken(lang, "plain"),
        "repair": render(load("repair", lang), name="Mika", persona="", mood=""),
        "task_repair": render(load("task_repair", lang), problem="Mika"),
        **{task.prompt: task_message(task, lang, data).text for task, data in TASKS},
    }


@pytest.mark.parametrize("lang", LANGS)
def test_every_prompt_file_is_rendered_by_the_code_that_uses_it(lang):
    texts = rendered(lang)
    assert texts.keys() == {name.removesuffix(f".{lang}.md") for name in FILES if name.endswith(f".{lang}.md")}
    for name, text in texts.items():
        assert "{{" not in text, name
        assert load(name, lang).partition("\n\n")[0].split("{{")[0] in text, name


def test_every_prompt_is_there_in_both_languages_with_the_same_variables():
    names = {name.split(".")[0] for name in FILES}
    assert {f"{name}.{lang}.md" for name in names for lang in LANGS} == set(FILES)
    for name in names:
        assert variables_of(load(name, "en")) == variables_of(load(name, "zh")), name


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_shipped_template_has_the_same_modules_in_both_languages(template):
    en, zh = (
        [
            (module.layer, module.priority, module.enabled, module.variables)
            for module in shipped(template, lang).modules
        ]
        for lang in ("en", "zh")
    )
    assert en == zh
    assert (shipped(template, "en").template_id, shipped(template, "en").voice) == (
        shipped(template, "zh").template_id,
        shipped(template, "zh").voice,
    )


NAMES = "field|name|text|words?|content|string|value|reason|字段|内容|文字"
PLACEHOLDER = re.compile(rf"…|\.\.\.|<(?:{NAMES})>|\"(?:{NAMES})\"\s*[,}}\]]|\bTODO\b")


@pytest.mark.parametrize("name", FILES)
def test_no_example_has_a_placeholder_that_a_model_could_copy(name):
    """What small models read they say: "what the user reads" was said to users, and "…" was stored."""
    lines = (PACKAGE / name).read_text("utf-8").splitlines()
    assert not [line for line in lines if line.startswith(("{", "<narrative>")) and PLACEHOLDER.search(line)]
    assert not [line for line in lines if "…" in line or "..." in line]


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith(("task_", "contract_tags"))])
def test_the_examples_of_a_prompt_are_whole_json(name):
    lines = (PACKAGE / name).read_text("utf-8").splitlines()
    examples = [line for line in lines if re.match(r'\{\s*"', line)]
    assert examples or "repair" in name
    assert all(isinstance(json.loads(line), dict) for line in examples)


def test_every_voice_can_be_configured():
    assert sorted(get_args(PersonaConfig.model_fields["default_template"].annotation)) == sorted(TEMPLATES)


TASK_FILES = [name for name in FILES if name.startswith("task_")]


@pytest.mark.parametrize("name", TASK_FILES)
def test_no_prompt_of_a_task_has_a_placeholder_that_could_be_copied(name):
    text = load(*name.removesuffix(".md").split("."))
    tags = set(re.findall(r"</(\w+)>", text))
    assert not re.search(r"…|\.\.\.|\[\w+\]|\{\w+\}(?!\})", text)
    assert set(re.findall(r"<(\w+)>", text)) == tags, "angle brackets are for sections of data"


@pytest.mark.parametrize(("task", "data"), TASKS, ids=lambda one: getattr(one, "name", ""))
@pytest.mark.parametrize("lang", LANGS)
def test_every_task_has_a_worked_example_of_its_own_form(task, data, lang):
    examples = [json.loads(example) for example in json_objects_in(load(task.prompt, lang))]
    assert examples
    keys = [*task.output.schema_for({"candidates": [], **data})["properties"]]
    assert all([*example] == keys for example in examples), "also in the order in which they are generated"
