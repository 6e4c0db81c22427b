"""A preview of the prompt that a turn would send to the model, with the size of each module of the template."""

import re
from collections.abc import Sequence
from typing import Self

from fastapi import APIRouter
from langchain_core.messages import BaseMessage
from pydantic import BaseModel, Field, model_validator

from soulgraph.api.auth import Owner
from soulgraph.api.chat import for_caller
from soulgraph.api.edits import Body
from soulgraph.api.fields import Id, Text, UserId
from soulgraph.api.services import Served
from soulgraph.nodes.persona_context import template_of
from soulgraph.prompts.cues import cues_of
from soulgraph.prompts.templates import Module
from soulgraph.prompts.tokens import tokens_of
from soulgraph.runtime.admission import TurnRequest
from soulgraph.stores.factories import new_id
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/templates", tags=["library"])

_TITLE = re.compile(r"^---(.+)---$", re.MULTILINE)


class Rehearsal(Body):
    text: Text
    session_id: Id | None = None
    soul_id: Id | None = None
    user_id: UserId | None = Field(None, description="who speaks; without it whose session it is, or `default`")

    @model_validator(mode="after")
    def _check_session_or_soul(self) -> Self:
        if (self.session_id is None) == (self.soul_id is None):
            raise ValueError("send either `session_id`, or `soul_id` for a conversation that begins")
        return self


class MessageOut(BaseModel):
    role: str
    content: str
    characters: int
    tokens: int


class ModuleOut(BaseModel):
    name: str
    layer: int
    enabled: bool
    characters: int
    tokens: int


class PreviewOut(BaseModel):
    messages: list[MessageOut]
    modules: list[ModuleOut]
    characters: int
    tokens: int
    sources: list[str]
    memory_hits: int
    truncated: bool
    cut: list[str]


@router.post("/{template_id}/preview")
async def preview_template(template_id: Id, wanted: Rehearsal, caller: Owner, services: Served) -> PreviewOut:
    """Show the prompt that this template gives for a text, in a session or at the beginning of a new one.

    It runs the nodes of a turn up to the model call. The model is not called and nothing is stored. Token counts are
    estimates.
    """

    async def premise(tx: Transaction) -> None:
        """Let an existing session use this template; a new one is made with it."""
        if wanted.session_id:
            await tx.sessions.speak_by(wanted.session_id, template_id)

    request = await for_caller(_request(template_id, wanted), caller, services)
    prompt = await services.runner.rehearse(request, premise)
    async with services.stores.read() as tx:
        template = await template_of(tx, template_id, "en")
        spoken = await template_of(tx, template_id, cues_of(prompt["messages"])["lang"])
    messages = [_message(message) for message in prompt["messages"]]
    sections = _sections(prompt["messages"])
    return PreviewOut(
        messages=messages,
        modules=[
            _module(module, sections.get(said.name, ""))
            for module, said in zip(template.modules, spoken.modules, strict=True)
        ],
        characters=sum(message.characters for message in messages),
        tokens=sum(message.tokens for message in messages),
        sources=prompt["persona"]["sources"],
        memory_hits=prompt["persona"]["memory_hits"],
        truncated=prompt["persona"]["truncated"],
        cut=prompt["persona"]["cut"],
    )


def _request(template_id: str, wanted: Rehearsal) -> TurnRequest:
    """A request in the given session, or in a new one with an unused id."""
    session_id = wanted.session_id or new_id("preview")
    return TurnRequest(
        wanted.text, wanted.user_id, session_id=session_id, soul_id=wanted.soul_id, template_id=template_id
    )


def _message(message: BaseMessage) -> MessageOut:
    role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
    return MessageOut(role=role, content=message.text, characters=len(message.text), tokens=tokens_of(message.text))


def _sections(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """The sections of the prompt by title; they are in the first and the last message.

    Texts in a prompt are escaped, so that none of their lines can be mistaken for a title.
    """
    sections: dict[str, str] = {}
    for message in (messages[0], messages[-1]):
        titles = [*_TITLE.finditer(message.text)]
        ends = [*(title.start() for title in titles[1:]), len(message.text)]
        sections |= {
            title[1]: message.text[title.start() : end].strip() for title, end in zip(titles, ends, strict=True)
        }
    return sections


def _module(module: Module, text: str) -> ModuleOut:
    return ModuleOut(
        name=module.name,
        layer=module.layer,
        enabled=module.enabled,
        characters=len(text),
        tokens=tokens_of(text),
    )
