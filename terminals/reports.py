"""The messages terminals send, parsed and validated: nothing in them is trusted before."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
)

from soulgraph.errors import InvalidInput
from soulgraph.senses.intents.catalog import Catalog
from soulgraph.soul.validation import NUMBER, STORABLE_TEXT, explain
from soulgraph.terminals.arguments import check_schema

MAX_BYTES = 256 * 1024
_MAX_SKILLS, _MAX_SCHEMA_BYTES, _MAX_SCHEMA_DEPTH = 64, 8 * 1024, 10


def _check_schema_size(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A schema goes into the prompt of every turn, so it must be small; and it must describe named arguments."""
    if len(json.dumps(schema, allow_nan=False)) > _MAX_SCHEMA_BYTES or _depth(schema) > _MAX_SCHEMA_DEPTH:
        raise ValueError(f"may have {_MAX_SCHEMA_BYTES} characters and {_MAX_SCHEMA_DEPTH} levels")
    if schema.get("type") != "object" or not isinstance(schema.get("properties", {}), dict):
        raise ValueError('must be a JSON schema of "type": "object"')
    return schema


def _depth(value: JsonValue) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, children), default=0)


Version = Annotated[int, Field(ge=0, lt=2**31), NUMBER]
InputId = Annotated[str, StringConstraints(pattern=r"^[\w.:@-]{1,128}$")]
SpeakerName = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    StringConstraints(max_length=128),
    STORABLE_TEXT,
]
"""As a recogniser calls whom it heard: any words, or a number."""
InputText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8000), STORABLE_TEXT]


class Report(BaseModel):
    """Fields that we do not know are ignored; those we know must have the right type."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    @classmethod
    def read(cls, payload: bytes) -> Self:
        if len(payload) > MAX_BYTES:
            raise InvalidInput(f"{len(payload)} bytes: at most {MAX_BYTES} are read")
        if b"\\u0000" in payload:  # no database keeps it
            raise InvalidInput("must not contain NUL characters")
        try:
            return cls.model_validate_json(payload)
        except ValidationError as error:
            raise InvalidInput(explain(error)[:500]) from error


class TerminalReport(Report):
    """A report that names its terminal, which must be the one of its topic."""

    terminal_id: str


class Skill(Report):
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    input_schema: Annotated[dict[str, JsonValue], AfterValidator(_check_schema_size)] = {
        "type": "object",
        "properties": {},
    }


class SkillReport(TerminalReport):
    soul_hint: Annotated[str, StringConstraints(max_length=128)] | None = None
    skill_version: Version
    skills: Annotated[list[Skill], Field(max_length=_MAX_SKILLS)]

    def usable(self) -> tuple[list[Skill], InvalidInput | None]:
        """The skills whose arguments can be checked, and what is wrong with the others."""
        usable, problems = [], []
        for skill in self.skills:
            try:
                check_schema(skill.input_schema)
                usable.append(skill)
            except InvalidInput as error:
                problems.append(f"skill {skill.name!r} is left out, input_schema: {error.detail}")
        return usable, InvalidInput("; ".join(problems)[:500]) if problems else None


class CatalogReport(TerminalReport):
    catalog_version: Version
    intent_catalog: Catalog


class Input(Report):
    """Something that was said. `user_id` is who spoke, without it the terminal's usual person.

    `speaker` is whom a recogniser has heard, and counts more: see `soul/speakers.py`.
    `session_id` names the conversation, such as that of a group; without it it is the person's own at this terminal.
    """

    input_id: InputId
    type: Literal["keyboard_text", "speech_text"] = "keyboard_text"
    text: InputText
    speaker: SpeakerName | None = None
    user_id: InputId | None = None
    session_id: InputId | None = None


class SkillResult(Report):
    request_id: str
    ok: bool
    output: Any = None
    error: str | None = None
