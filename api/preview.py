"""A preview of the prompt that a turn would send to the model, with the size of each module of the template.

The template is a stored one, or one that is being written and is stored nowhere.
"""

import re
from collections.abc import Sequence
from typing import Self

from fastapi import APIRouter
from langchain_core.messages import BaseMessage
from pydantic import BaseModel, Field, model_validator

from soulgraph.api.access import Caller
from soulgraph.api.auth import Owner
from soulgraph.api.chat import for_caller
from soulgraph.api.edits import Body, example, form
from soulgraph.api.examples import SOUL
from soulgraph.api.fields import Id, Text, UserId
from soulgraph.api.raising import ADMITTED, MODEL_SILENT, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.templates import EXAMPLE, EditedTemplate, data_of
from soulgraph.nodes.persona_context import template_of
from soulgraph.nodes.state import TurnState
from soulgraph.prompts.cues import cues_of
from soulgraph.prompts.templates import Module, Template
from soulgraph.prompts.tokens import tokens_of
from soulgraph.runtime.admission import TurnRequest
from soulgraph.stores.factories import new_id
from soulgraph.stores.stores import Premise, Transaction

router = APIRouter(prefix="/v1/templates", tags=["library"])

_FORMS = [form("session_id", without=["soul_id"]), form("soul_id", without=["session_id"])]
_TITLE = re.compile(r"^---(.+)---$", re.MULTILINE)


class Rehearsal(Body):
    model_config = example({"soul_id": SOUL, "text": "How was your night?", "user_id": "ann"}, one_of=_FORMS)

    text: Text
    session_id: Id | None = None
    soul_id: Id | None = None
    user_id: UserId | None = Field(None, description="who speaks; without it whose session it is, or `default`")

    @model_validator(mode="after")
    def _check_session_or_soul(self) -> Self:
        if (self.session_id is None) == (self.soul_id is None):
            raise ValueError("send either `session_id`, or `soul_id` for a conversation that begins")
        return self


class DraftRehearsal(Rehearsal):
    model_config = example({"template": EXAMPLE, "soul_id": SOUL, "text": "How was your night?"}, one_of=_FORMS)

    template: EditedTemplate = Field(description="as it would be saved; its id and revision change nothing")


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


@router.post("/preview")
@raises(*ADMITTED, MODEL_SILENT)
async def preview_draft(wanted: DraftRehearsal, caller: Owner, services: Served) -> PreviewOut:
    """Show the prompt that a template gives which is not saved, as `/{template_id}/preview` does for one that is.

    A template with mistakes is refused as when it is saved: `errors` has the place and the name of the module.
    """
    template_id = new_id("draft")  # nobody's, so that no session speaks by it but the one that is previewed
    draft = data_of(wanted.template) | {"template_id": template_id}

    async def premise(tx: Transaction) -> None:
        await tx.templates.put(template_id, wanted.template.name, draft, services.now())
        await _speak_by(tx, wanted.session_id, template_id)

    prompt = await _rehearse(template_id, wanted, caller, services, premise)
    return _preview(prompt, wanted.template, wanted.template)


@router.post("/{template_id}/preview")
@raises(*ADMITTED, MODEL_SILENT)
async def preview_template(template_id: Id, wanted: Rehearsal, caller: Owner, services: Served) -> PreviewOut:
    """Show the prompt that this template gives for a text, in a session or at the beginning of a new one.

    It runs the nodes of a turn up to the model call. The model is not called and nothing is stored. Token counts are
    estimates.
    """

    async def premise(tx: Transaction) -> None:
        await _speak_by(tx, wanted.session_id, template_id)

    prompt = await _rehearse(template_id, wanted, caller, services, premise)
    async with services.stores.read() as tx:
        template = await template_of(tx, template_id, "en")
        spoken = await template_of(tx, template_id, cues_of(prompt["messages"])["lang"])
    return _preview(prompt, template, spoken)


async def _speak_by(tx: Transaction, session_id: str | None, template_id: str) -> None:
    """Let an existing session use this template; a new one is made with it."""
    if session_id:
        await tx.sessions.speak_by(session_id, template_id)


async def _rehearse(
    template_id: str, wanted: Rehearsal, caller: Caller, services: Services, premise: Premise
) -> TurnState:
    request = await for_caller(_request(template_id, wanted), caller, services.stores)
    return await services.runner.rehearse(request, premise)


def _preview(prompt: TurnState, template: Template, spoken: Template) -> PreviewOut:
    """`spoken` has the same modules under the names that they have in the prompt."""
    messages = [_message(message) for message in prompt["messages"]]
    sections = _sections(prompt["messages"])
    persona = prompt["persona"]
    return PreviewOut(
        messages=messages,
        modules=[
            _module(module, sections.get(said.name, ""))
            for module, said in zip(template.modules, spoken.modules, strict=True)
        ],
        characters=sum(message.characters for message in messages),
        tokens=sum(message.tokens for message in messages),
        sources=persona["sources"],
        memory_hits=persona["memory_hits"],
        truncated=persona["truncated"],
        cut=persona["cut"],
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
