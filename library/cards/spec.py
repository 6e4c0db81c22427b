"""The character card format in its three versions; only fields we use are validated, the rest is kept unchanged."""

import reprlib
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from soulgraph.errors import InvalidInput
from soulgraph.soul.validation import explain

Json = dict[str, Any]

V2, V3 = "chara_card_v2", "chara_card_v3"
VERSIONS = {V2: "2.0", V3: "3.0"}
OURS = "soulgraph"
"""Our key in the extensions of a card and of a lorebook entry."""

AND_ANY, NOT_ALL, NOT_ANY, AND_ALL = range(4)
EXCLUDING = (NOT_ALL, NOT_ANY)
"""With these, secondary keys keep an entry out of the prompt, which ours cannot do."""

_V1 = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
_TEXTS = (*_V1, "creator_notes", "system_prompt", "post_history_instructions", "creator", "character_version")
_LISTS = ("alternate_greetings", "tags")
NEW_IN_V3 = (
    "assets",
    "nickname",
    "creator_notes_multilingual",
    "source",
    "group_only_greetings",
    "creation_date",
    "modification_date",
)


def or_default(default: Any) -> BeforeValidator:
    """Replaces null by a default: many programs write null for a missing value."""
    return BeforeValidator(lambda value: default if value is None else value)


Text = Annotated[str, or_default("")]
Texts = Annotated[list[str], or_default([])]
Flag = Annotated[bool, or_default(False)]
Extensions = Annotated[Json, or_default({})]


class Entry(BaseModel):
    """One entry of a card's lorebook."""

    keys: Texts = []
    secondary_keys: Texts = []
    content: Text = ""
    enabled: Annotated[bool, or_default(True)] = True
    selective: Flag = False
    constant: Flag = False
    use_regex: Flag = False
    priority: float | None = Field(None, allow_inf_nan=False)
    insertion_order: float | None = Field(None, allow_inf_nan=False)
    extensions: Extensions = {}

    @property
    def by_sillytavern(self) -> bool:
        return "selectiveLogic" in self.extensions or "useProbability" in self.extensions

    @property
    def logic(self) -> Any:
        """How SillyTavern reads the secondary keys, see `AND_ANY`."""
        return self.extensions.get("selectiveLogic")


class Book(BaseModel):
    entries: Annotated[list[Entry], or_default([])] = []
    extensions: Extensions = {}


class Asset(BaseModel):
    uri: Text = ""


class Data(BaseModel):
    name: str
    nickname: Text = ""
    description: Text = ""
    personality: Text = ""
    scenario: Text = ""
    first_mes: Text = ""
    mes_example: Text = ""
    creator_notes: Text = ""
    system_prompt: Text = ""
    post_history_instructions: Text = ""
    alternate_greetings: Texts = []
    character_book: Annotated[Book, BeforeValidator(lambda book: book or {})] = Book()
    assets: Annotated[list[Asset], or_default([])] = []
    extensions: Extensions = {}


def blank_card(name: str) -> Json:
    """A card with all fields empty but the name."""
    data: Json = dict.fromkeys(_TEXTS, "") | {field: [] for field in _LISTS}
    return {"spec": V3, "data": {**data, "name": name, "extensions": {}, "group_only_greetings": []}}


def as_card(given: Any) -> Json:
    """The card as `spec`, `spec_version` and `data`, a V1 card as V2; other top-level fields only repeat `data`."""
    if not isinstance(given, dict):
        raise InvalidInput("the card is not a JSON object: send a character card of V1, V2 or V3")
    if "spec" not in given and "data" not in given:
        return {"spec": V2, "data": {field: given[field] for field in _V1 if field in given}}
    spec = given.get("spec")
    if not isinstance(spec, str) or spec not in VERSIONS:
        raise InvalidInput(f"spec: is {reprlib.repr(spec)}, expected one of {', '.join(VERSIONS)}, or a V1 card")
    return {key: given[key] for key in ("spec", "spec_version", "data") if key in given}


def validate_card(card: Json) -> Data:
    """The validated fields of a card; raises InvalidInput for a wrong type."""
    try:
        return Data.model_validate(card.get("data"))
    except ValidationError as error:
        raise InvalidInput(explain(error, within="data")) from error
