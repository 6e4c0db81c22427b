"""Prompt templates: the modules of layers 2 to 5 of a prompt.

Layer 1 (safety) and layer 6 (the conversation, the user's input and the output contract) are fixed: no template can
name, move, switch off or precede them.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal, NamedTuple, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from soulgraph.errors import InvalidInput
from soulgraph.prompts.lookalikes import shadow, visible
from soulgraph.prompts.render import VARIABLE, variables_of
from soulgraph.soul.language import Lang
from soulgraph.soul.validation import FLAG, NOT_BLANK, NUMBER, explain

MAX_OWN_TEXT = 1000
"""Characters of its own that a template may have in layers 2 to 4, so that there is room for the persona."""


class Variable(NamedTuple):
    layer: int
    """The layer in which it may be used; 0 for any."""
    volatile: bool
    """Whether it changes from turn to turn; then it comes after the conversation, so that prompt caches work."""
    meaning: str


VARIABLES: Mapping[str, Variable] = {
    "soul_name": Variable(0, False, "the soul's name"),
    "soul_file": Variable(2, False, "the soul's SOUL.md"),
    "identity_file": Variable(2, False, "the soul's IDENTITY.md"),
    "base_persona": Variable(2, False, "who the character is, for good"),
    "personality": Variable(2, False, "how warm, touchy, steady, open and blunt the soul is, and how it has changed"),
    "style_examples": Variable(2, False, "how the character speaks, in examples"),
    "background": Variable(2, False, "the world of the session"),
    "background_description": Variable(2, False, "the same without its rules"),
    "world_rules": Variable(2, False, "the rules of that world"),
    "evolved_persona": Variable(2, False, "what the character has become in this session"),
    "inner_state": Variable(2, False, "the soul's inner monologue about itself"),
    "profile": Variable(2, False, "core identity and the most important items of each profile field"),
    "mood": Variable(2, True, "how the soul feels now, in words"),
    "relation": Variable(3, False, "since when the soul knows this person, and what it feels about them"),
    "user_file": Variable(3, False, "what USER.md says about this person"),
    "preferences": Variable(3, False, "the user's long-term preferences"),
    "slots": Variable(3, False, "what the soul keeps in its memory slots"),
    "mode": Variable(4, False, "the session's mode and what it asks for"),
    "wishes": Variable(4, False, "what the user has asked for in this session, and not for good"),
    "skills": Variable(5, False, "what the soul can do"),
    "gate": Variable(5, True, "that the soul cannot act now, why, what would help, and what it was asked for"),
    "events": Variable(5, True, "abstract experiences that resemble this moment"),
    "episodes": Variable(5, True, "what was said earlier, in the words of then"),
    "summaries": Variable(5, True, "how earlier conversations went, in short"),
    "scratch_area": Variable(5, True, "the soul's working notes, the newest of them"),
    "plans": Variable(5, True, "what lies ahead of the person, and what is over and may be asked about"),
    "lore": Variable(5, True, "entries of the world's lore that were touched on"),
    "unarchived_messages": Variable(5, True, "nothing: the conversation always follows the system's text by itself"),
}
ALIASES: Mapping[str, str] = {
    "dynamic_profile_json": "{{profile}}",
    "dynamic_profile_json_content": "{{profile}}",
    "rag_events": "{{events}}\n{{episodes}}\n{{summaries}}",
    "rag_retrieved_events_formatted_text": "{{events}}\n{{episodes}}\n{{summaries}}",
    "last_N_unarchived_messages": "{{unarchived_messages}}",
    "user_input_text": "{{unarchived_messages}}",
}
"""Other names that templates may use, and what they stand for."""
_RESERVED = re.compile(r"safety|output contract|user input|conversation|安全|输出约定|用户输入")
_Name = Annotated[str, StringConstraints(pattern=r"^\w[\w ()&',.]*$", max_length=60)]
_Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]


def _error(message: str, **values: Any) -> PydanticCustomError:
    return PydanticCustomError("template", message, values)


@lru_cache(maxsize=512)
def _without_aliases(template: str) -> str:
    return VARIABLE.sub(lambda match: ALIASES.get(match[1], match[0]), template)


@lru_cache(maxsize=512)
def _variables(template: str) -> frozenset[str]:
    return variables_of(_without_aliases(template))


class Module(BaseModel):
    """A section of the prompt: `content` is used unchanged, `template` with its variables filled."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "required": ["name"],
            "if": {"properties": {"content": {"type": "string"}}, "required": ["content"]},
            "then": {"properties": {"template": {"type": "null"}}},
            "else": {"properties": {"template": {"type": "string"}}, "required": ["template"]},
        },
    )

    name: _Name
    layer: Literal[2, 3, 4, 5]
    """If it is not given, that of the module's variables, or 2."""
    priority: Annotated[int, Field(ge=0, le=1000), NUMBER] = 50
    enabled: Annotated[bool, FLAG] = True
    content: _Text | None = None
    template: _Text | None = None
    content_source: Literal["static", "dynamic", "rag", "messages"] | None = None
    """What others note down about a module; the variables say it better."""

    @model_validator(mode="before")
    @classmethod
    def _find_layer(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "layer" in data:
            return data
        template = data.get("template")
        used = sorted(_variables(template)) if isinstance(template, str) else []
        known = [VARIABLES[name].layer for name in used if name in VARIABLES]
        return {**data, "layer": next(filter(None, known), 2)}

    @property
    def text(self) -> str:
        return _without_aliases(self.template) if self.template else self.content or ""

    @property
    def variables(self) -> frozenset[str]:
        return _variables(self.template) if self.template else frozenset()

    @property
    def volatile(self) -> bool:
        return any(VARIABLES[name].volatile for name in self.variables)

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if (self.content is None) == (self.template is None):
            raise _error("give either content, said as it is, or template, with {{variables}}")
        if _RESERVED.search(shadow(visible(self.name))):
            raise _error("the name {name} is kept for a section of the system: choose another", name=self.name)
        if self.content and VARIABLE.search(self.content):
            raise _error("content is said as it is: to fill variables, write it as template")
        return self

    @model_validator(mode="after")
    def _check_variables(self) -> Self:
        if self.template and "{{" in VARIABLE.sub("", self.template):
            raise _error("a variable is written {{name}}, with letters and _ only: correct the braces")
        for name in sorted(self.variables):
            if name not in VARIABLES:
                known = ", ".join([*VARIABLES, *ALIASES])
                raise _error("there is no variable {name}: use one of {known}", name=name, known=known)
            if (layer := VARIABLES[name].layer) not in (0, self.layer):
                raise _error("{name} belongs to layer {layer}: move it to a module there", name=name, layer=layer)
        return self


_REQUIRED = (
    Module(name="Base Identity (Immutable Core)", layer=2, priority=40, template="{{base_persona}}"),
    Module(name="This Person (never shown)", layer=3, priority=5, template="{{relation}}"),
    Module(name="Session Mode", layer=4, priority=10, template="{{mode}}"),
)


class Template(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    template_id: Annotated[str, StringConstraints(pattern=r"^[\w.:@-]{1,128}$")]
    name: Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True), NOT_BLANK]
    voice: Literal["companion", "narrator"] = "companion"
    """Whether the soul itself speaks or a narrator does; for the offline voice, which does not read the prompt."""
    modules: Annotated[tuple[Module, ...], Field(min_length=1, max_length=40)]

    @model_validator(mode="before")
    @classmethod
    def _name_by_id(cls, data: Any) -> Any:
        """A template without a name is called by its id."""
        if not isinstance(data, dict) or "name" in data:
            return data
        template_id = data.get("template_id") or data.get("id")
        return {**data, "name": template_id[:80]} if isinstance(template_id, str) else data

    @property
    def spoken(self) -> list[Module]:
        """The enabled modules by layer, then by priority, the lowest number first.

        Who the character is, whom it talks to and the session's mode are always said: modules for them are added where
        they are missing.
        """
        enabled = [module for module in self.modules if module.enabled]
        said = frozenset[str]().union(*(module.variables for module in enabled))
        missing = [module for module in _REQUIRED if not module.variables <= said]
        return sorted([*enabled, *missing], key=lambda module: (module.layer, module.priority))

    @model_validator(mode="after")
    def _check_modules(self) -> Self:
        names = [" ".join(module.name.casefold().split()) for module in self.modules]
        if duplicate := next((name for name in names if names.count(name) > 1), None):
            raise _error("two modules are called {name}: rename one", name=duplicate)
        own = sum(len(VARIABLE.sub("", module.text)) for module in self.spoken if module.layer < 5)
        if own > MAX_OWN_TEXT:
            raise _error(
                "the modules of layers 2 to 4 have {own} characters of their own: shorten them to {most} or less",
                own=own,
                most=MAX_OWN_TEXT,
            )
        return self


def read_template(data: Mapping[str, Any]) -> Template:
    """A template from outside; raises InvalidInput with the place of what is wrong."""
    try:
        return Template.model_validate(data)
    except ValidationError as error:
        raise InvalidInput(explain(error)) from error


@cache
def shipped(template_id: str, lang: Lang = "en") -> Template:
    """A template that ships with the package: `prompts/<template_id>.yaml`, in Chinese `<template_id>.zh.yaml`."""
    file = f"{template_id}.yaml" if lang == "en" else f"{template_id}.{lang}.yaml"
    text = (files(__package__) / file).read_text("utf-8")
    return read_template(yaml.load(text, yaml.CSafeLoader))
