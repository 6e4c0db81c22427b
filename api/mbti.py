"""The MBTI type that a character's text suggests."""

import asyncio
from collections.abc import Mapping
from typing import Any, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from soulgraph.api.auth import speaker
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.senses.mbti.leaning import leaning_of
from soulgraph.senses.mbti.suggestion import CharacterText, Suggestion, suggest_mbti

router = APIRouter(prefix="/v1/characters", tags=["library"])

_GIVEN = "the character has it"


class MbtiSuggestion(BaseModel):
    mbti_type: str = Field(examples=["INFJ"])
    confidence: float = Field(ge=0, le=1, description="below 0.3 the text says too little, and the type is a guess")
    why: list[str] = Field(description="short reasons, with the words that were found")

    @classmethod
    def of(cls, suggestion: Suggestion) -> Self:
        return cls(mbti_type=suggestion.mbti_type, confidence=suggestion.confidence, why=[*suggestion.why])


@router.get("/{character_id}/mbti", dependencies=[speaker])
async def suggest_type(character_id: Id, services: Served) -> MbtiSuggestion:
    """The MBTI type for souls of a character: its own if it has one, else the one that its text suggests."""
    return MbtiSuggestion.of(await suggestion_for(character_id, services))


async def suggestion_for(character_id: str, services: Services) -> Suggestion:
    async with services.stores.read() as tx:
        character = await tx.characters.get(character_id)
    fields = {**character.data, "name": character.name}
    # In a thread, because the encoder takes a while for a long text.
    return await asyncio.to_thread(suggested_type, fields)


def suggested_type(character: Mapping[str, Any]) -> Suggestion:
    """The suggestion for the stored fields of a character."""
    if given := character.get("mbti_type"):
        return Suggestion(given, 1.0, (_GIVEN,))
    return suggest_mbti(character_text(character), leaning_of)


def character_text(character: Mapping[str, Any]) -> CharacterText:
    """What of a character says who it is; the tags are in the card that it came from."""
    about = "\n".join(dict.fromkeys(str(character.get(field) or "") for field in ("base_persona", "description")))
    examples = "\n".join(character.get("style_examples") or ())
    return CharacterText(character["name"], about, _tags(character.get("extensions")), examples)


def _tags(extensions: Any) -> list[str]:
    card = extensions.get("card") if isinstance(extensions, dict) else None
    data = card.get("data") if isinstance(card, dict) else None
    tags = data.get("tags") if isinstance(data, dict) else None
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
