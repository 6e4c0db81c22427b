from dataclasses import replace

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.context import build
from soulgraph.prompts.templates import MAX_OWN_TEXT, VARIABLES, read_template, shipped
from soulgraph.tests.prompts.samples import FULL

BASE = {"name": "Who", "layer": 2, "template": "{{base_persona}}"}
MODE = {"name": "How", "layer": 4, "template": "{{mode}}"}


def template(*modules, **fields):
    return {"template_id": "mine", "name": "Mine", "modules": [BASE, MODE, *modules], **fields}


def module(**fields):
    return {"name": "Extra", "layer": 5, "content": "Be brief.", **fields}


def titles(data):
    return [section.module.name for section in build(read_template(data), FULL).sections]


@pytest.mark.parametrize("template_id", TEMPLATES)
def test_a_shipped_voice_says_every_variable_and_can_be_copied(template_id):
    voice = shipped(template_id)
    assert voice.template_id == template_id
    for_others = {"background_description", "world_rules", "unarchived_messages"}
    assert frozenset().union(*(module.variables for module in voice.modules)) == VARIABLES.keys() - for_others
    copy = voice.model_dump(mode="json") | {"template_id": "copy"}
    assert read_template(copy).modules == voice.modules


def test_modules_are_ordered_by_layer_then_by_priority():
    extras = [
        module(name="Last", priority=9),
        module(name="Later", priority=2),
        module(name="First", layer=2, priority=1),
        module(name="Off", enabled=False),
    ]
    assert titles(template(*extras)) == ["First", "Who", "This Person (never shown)", "How", "Later", "Last"]


@pytest.mark.parametrize("layer", [0, 1, 6, 7, -1, "safety", None])
def test_the_layers_of_the_system_are_not_for_templates(layer):
    with pytest.raises(InvalidInput, match=r"modules\.2\.layer: Input should be 2, 3, 4 or 5"):
        read_template(template(module(layer=layer)))


@pytest.mark.parametrize(
    "name", ["Safety", "SAFETY rules", "Output Contract", "user input", "ＳＡＦＥＴＹ", "Sаfety", "Conversation"]
)
def test_the_names_of_the_systems_sections_are_not_for_templates(name):
    with pytest.raises(InvalidInput, match="kept for a section of the system: choose another"):
        read_template(template(module(name=name)))


@pytest.mark.parametrize("name", ["", "---", "a---b", "a\nb", " ", "<narrative>", "x" * 61, "x\u200by"])
def test_a_name_is_a_plain_title(name):
    with pytest.raises(InvalidInput, match=r"modules\.2\.name"):
        read_template(template(module(name=name)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (module(content=None), "give either content, said as it is, or template"),
        (module(template="{{events}}"), "give either content, said as it is, or template"),
        (module(content="{{events}}"), "to fill variables, write it as template"),
        (module(content=None, template="{{evnets}}"), "there is no variable evnets: use one of soul_name, "),
        (module(content=None, template="{{user_name}} {{lore}}"), "there is no variable user_name"),
        (module(content=None, template="{{}} {{lore}}"), "correct the braces"),
        (module(content=None, template="{{lore} {{ my lore }}"), "correct the braces"),
        (
            module(content=None, template="{{base_persona}}"),
            "base_persona belongs to layer 2: move it to a module there",
        ),
        (module(layer=2, content=None, template="{{episodes}}"), "episodes belongs to layer 5"),
        (module(content=""), "at least 1 character"),
        (module(content="x" * 4001), "at most 4000 characters"),
        (module(priority=-1), "greater than or equal to 0"),
        (module(source="rag"), r"modules\.2\.source: Extra inputs are not permitted"),
        (module(name="WHO"), "two modules are called who: rename one"),
        (
            module(layer=2, content="x" * MAX_OWN_TEXT + "x"),
            f"have {MAX_OWN_TEXT + 1} characters of their own: shorten them",
        ),
    ],
)
def test_a_mistake_is_refused_with_what_to_do(wrong, message):
    with pytest.raises(InvalidInput, match=message):
        read_template(template(wrong))


@pytest.mark.parametrize("left", [BASE, MODE])
def test_who_the_soul_is_whom_it_talks_to_and_its_mode_are_said_whatever_a_template_leaves_out(left):
    for modules in ([left], [left, {**(MODE if left is BASE else BASE), "enabled": False}]):
        spoken = read_template(template(modules=modules)).spoken
        said = [(2, {"base_persona"}), (3, {"relation"}), (4, {"mode"})]
        assert [(module.layer, module.variables) for module in spoken] == said


def test_a_template_has_modules():
    with pytest.raises(InvalidInput, match="modules: "):
        read_template(template(modules=[]))
    with pytest.raises(InvalidInput, match="template_id: "):
        read_template(template(template_id="../x"))


@pytest.mark.parametrize("template_id", TEMPLATES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_shipped_voice_says_whom_it_talks_to_in_a_section_that_is_never_shown(template_id, lang):
    context = build(shipped(template_id, lang), FULL)
    [section] = [one for one in context.sections if "relation" in one.module.variables]
    assert (section.layer, FULL.relation in section.text) == (3, True)
    assert section.text in context.private
    assert ("never shown" in section.module.name) == (lang == "en")
    assert ("绝不示人" in section.module.name) == (lang == "zh")


def test_a_copied_template_from_before_says_whom_it_talks_to_first_of_its_layer():
    data = shipped("companion_v1").model_dump(mode="json", exclude_none=True) | {"template_id": "copy"}
    data["modules"] = [one for one in data["modules"] if "relation" not in one.get("template", "")]
    context = build(read_template(data), FULL)
    third = [section for section in context.sections if section.layer == 3]
    assert third[0].module.variables == {"relation"}
    assert third[0].text in context.private


def test_without_a_relation_there_is_no_section_for_it():
    sections = build(shipped("companion_v1"), replace(FULL, relation="")).sections
    assert not any("relation" in section.module.variables for section in sections)
