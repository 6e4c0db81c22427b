"""Import of chats with other programs: the file is the request's body, and how far it is comes as an event stream."""

import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from fastapi.sse import format_sse_event
from pydantic import BaseModel

from soulgraph.api.auth import Owner
from soulgraph.api.fields import Content, Id, UserId
from soulgraph.api.media import OCTETS, SSE, sent, text
from soulgraph.api.raising import DAMAGED_ARCHIVE, IMPORT_BROKEN_OFF, IMPORT_RUNNING, raises
from soulgraph.api.services import Served
from soulgraph.api.spooled import fill, spool
from soulgraph.api.sse import unbuffered
from soulgraph.errors import SoulgraphError
from soulgraph.library.chats.conversation import Reason
from soulgraph.runtime.chat_imports import RunningImport
from soulgraph.runtime.chat_survey import ChatSource, SurveyedConversation
from soulgraph.stores.records import Json

router = APIRouter(prefix="/v1/souls/{soul_id}", tags=["souls"])

_FILE = text(
    OCTETS,
    "a file, or a zip of several",
    '{"type": "message", "name": "Ann", "is_user": true, "send_date": "2026-11-16T04:45:14Z", "mes": "Hello!"}',
)
_EVENTS = text(
    SSE,
    "`progress`, then `done` or `error`",
    'event: progress\ndata: {"phase": "storing", "messages": 4200, "total": 9120, "unindexed": 0}\n\n',
)
FileName = Annotated[Content, Query(max_length=255, description="what the file is called: it may tell what is in it")]
DryRun = Annotated[bool, Query(description="only tell what would come, and store nothing")]


class LeftOut(BaseModel):
    reason: Reason
    count: int
    example: str


class SurveyOut(BaseModel):
    """What a file holds, and what of it would be new."""

    programs: list[str]
    conversations: int
    messages: int
    new_messages: int
    since: str | None
    until: str | None
    files: list[str]
    notes: list[str]
    left_out: list[LeftOut]
    largest: list[SurveyedConversation]
    unindexed: int


@router.post(
    "/import-chats",
    response_model=SurveyOut,
    openapi_extra=sent(_FILE),
    responses={200: _EVENTS},
)
@raises(IMPORT_RUNNING, IMPORT_BROKEN_OFF, DAMAGED_ARCHIVE)
async def import_chats(
    soul_id: Id,
    request: Request,
    caller: Owner,
    services: Served,
    user_id: UserId | None = None,
    filename: FileName = "conversations.json",
    dry_run: DryRun = False,
) -> Response:
    """Import chats of ChatGPT, Claude or SillyTavern, or an OpenClaw workspace; the request body is the file or a zip.

    `user_id` is whose chats they are; without it the person whose soul it is. With `dry_run` the answer is JSON. Else
    it is an event stream, and the import goes on if that is not read to its end. The same file again goes on where an
    import was broken off, and doubles nothing.
    """
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
    file = spool()
    try:
        await fill(file, request)
    except BaseException:
        file.close()
        raise
    source = ChatSource(file, filename, services.context.timezone, soul.name)
    person = user_id or soul.user_id
    if dry_run:
        with file:
            return JSONResponse((await services.imports.survey(soul, person, source)).result())
    following = services.imports.follow(soul, person, source)
    first = await anext(following)  # so that a refusal is one, and not an event
    return unbuffered(_events(first, following))


async def _events(first: RunningImport, following: AsyncIterator[RunningImport]) -> AsyncIterator[bytes]:
    yield _event("progress", first.progress())
    try:
        async for state in following:
            done = state.phase == "done"
            yield _event("done", state.result()) if done else _event("progress", state.progress())
    except SoulgraphError as error:
        yield _event("error", error.problem())


def _event(name: str, data: Json) -> bytes:
    return format_sse_event(event=name, data_str=json.dumps(data, ensure_ascii=False))
