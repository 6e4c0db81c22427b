"""The character card format in its three versions; only fields we use are read, the rest is kept unchanged."""

from typing import Annotated, Any

from pydantic import BaseModel

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.lenient import (
    OBJECT,
    OBJECTS,
    Extensions,
    Flag,
    FlagOn,
    Json,
    Keys,
    Number,
    Oddities,
    Text,
    Texts,
)

V2, V3 = "chara_card_v2", "chara_card_v3"
VERSIONS = {V2: "2.0", V3: "3.0"}
OURS = "soulgraph"
"""Our key in the extensions of a card and of a lorebook entry."""

AND_ANY, NOT_ALL, NOT_ANY, AND_ALL = range(4)
EXCLUDING = (NOT_ALL, NOT_ANY)
"""With these, secondary keys keep an entry out of the prompt, which ours cannot do."""

V1_FIELDS = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
_TEXTS = (*V1_FIELDS, "creator_notes", "system_prompt", "post_history_instructions", "creator", "character_version")
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


class Entry(BaseModel):
    """One entry of a card's lorebook."""

    keys: Keys = []
    secondary_keys: Keys = []
    content: Text = ""
    enabled: FlagOn = True
    selective: Flag = False
    constant: Flag = False
    use_regex: Flag = False
    priority: Number = None
    insertion_order: Number = None
    extensions: Extensions = {}

    @property
    def by_sillytavern(self) -> bool:
        return "selectiveLogic" in self.extensions or "useProbability" in self.extensions

    @property
    def logic(self) -> Any:
        """How SillyTavern reads the secondary keys, see `AND_ANY`."""
        return self.extensions.get("selectiveLogic")


class Book(BaseModel):
    entries: Annotated[list[Entry], OBJECTS] = []
    extensions: Extensions = {}


class Asset(BaseModel):
    type: Text = ""
    uri: Text = ""
    name: Text = ""


class Data(BaseModel):
    name: Text = ""
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
    group_only_greetings: Texts = []
    tags: Keys = []
    character_book: Annotated[Book, OBJECT] = Book()
    assets: Annotated[list[Asset], OBJECTS] = []
    extensions: Extensions = {}


def blank_card(name: str) -> Json:
    """A card with all fields empty but the name."""
    data: Json = dict.fromkeys(_TEXTS, "") | {field: [] for field in _LISTS}
    return {"spec": V3, "data": {**data, "name": name, "extensions": {}, "group_only_greetings": []}}


def validate_card(card: Json, oddities: Oddities | None = None) -> Data:
    """The fields of a card, those of another kind understood as far as it goes; `oddities` are told of them.

    V2 has no nickname: in cards of it that we write it stands beside the data.
    Raises InvalidInput when it has no fields at all.
    """
    data = card.get("data")
    if not isinstance(data, dict):
        raise InvalidInput("data: is no object: send a whole card")
    beside = {"nickname": card["nickname"]} if card.get("nickname") and not data.get("nickname") else {}
    return Data.model_validate({**data, **beside}, context=oddities)
