"""A turn for OpenAI's clients: whose it is, in which conversation, and what of the request it has no use for."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from fastapi import Request
from pydantic import TypeAdapter, ValidationError

from soulgraph.api.access import Caller
from soulgraph.api.fields import Text
from soulgraph.api.limits import MEBIBYTE
from soulgraph.api.openai_request import Message, OpenAIRequest, ignored_header, kinds_in, person_called, text_of
from soulgraph.api.openai_sessions import Named, placed
from soulgraph.api.problems import invalid_field
from soulgraph.api.services import Services
from soulgraph.api.talk import Talk, read_talk
from soulgraph.errors import InvalidInput, NotFound, TooLarge
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.soul.validation import explain
from soulgraph.stores.records import Soul

SOUL = "soul:"

_USER_HEADERS = ("X-OpenWebUI-User-Id", "X-LibreChat-User-Id")
_text: TypeAdapter[str] = TypeAdapter(Text)


class BegunTurn(NamedTuple):
    """`begun` is what the client has of the reply already."""

    turn: RunningTurn
    headers: dict[str, str]
    begun: str


async def begin_turn(
    http: Request,
    request: OpenAIRequest,
    messages: Sequence[Message],
    named: Named,
    input_id: str | None,
    caller: Caller,
    services: Services,
) -> BegunTurn:
    """Start the turn that these messages ask for. Raises InvalidInput if nobody says anything in them."""
    services.runner.require_room()
    if forced := request.forced_by:
        raise invalid_field(forced, "a soul has tools of its own, and calls none of yours: leave this out, or `auto`")
    if any(len(text_of(last.content)) > MEBIBYTE for last in messages[-1:]):
        raise TooLarge("a message may have a million characters at most")
    talk = read_talk(messages)
    if talk is None:
        raise invalid_field("messages", "there is no message of the user")
    user_id, ignored = await _speaker(http, request, talk, named, caller, services)
    soul = await find_soul(request.model, caller.acting_for(user_id), services)
    wanted = TurnRequest(_checked(talk.said), user_id, input_id, soul_id=soul.soul_id)
    placed_turn = await placed(talk, named, wanted, caller, services)
    turn = await services.runner.start(placed_turn)
    session = {"X-Session-Id": quote(turn.utterance["session_id"], safe=":@")}
    unused = [*request.unused, *ignored, *_unseen(messages), *(["length"] if talk.shortened else [])]
    return BegunTurn(turn, session | ignored_header(unused), placed_turn.continues)


def _checked(said: str) -> str:
    try:
        return _text.validate_python(said)
    except ValidationError as error:
        raise invalid_field("messages", f"the user's last message: {explain(error)}") from error


def _unseen(messages: Sequence[Message]) -> list[str]:
    """What of the messages a soul does not read: its persona is its own, and it has no eyes."""
    kinds = sorted({kind for message in messages for kind in kinds_in(message.content)})
    has_system = any(message.role in ("system", "developer") for message in messages)
    return [*(["system"] if has_system else []), *kinds]


async def _speaker(
    http: Request, request: OpenAIRequest, talk: Talk, named: Named, caller: Caller, services: Services
) -> tuple[str | None, list[str]]:
    """Who speaks, and what of the request said otherwise and was ignored.

    In a group it is whom the message's `name` says; elsewhere that is just a name, and `user` says who it is. Raises
    Forbidden if either names another person than the caller is; what is nobody's id here is just a label of a program.
    """
    person, name = person_called(request.user), person_called(talk.speaker)
    async with services.stores.read() as tx:
        session = await tx.sessions.find(named.session_id) if named.session_id else None
        is_group = session is not None and bool(session.people)
        if caller.acts_for_anybody:
            sent = (person_called(http.headers.get(header)) for header in _USER_HEADERS)
            return (name if is_group else None) or person or next(filter(None, sent), None), []
        if is_group and name:
            caller.acting_for(name)
        if person in (None, caller.user_id):
            return caller.user_id, []
        if await tx.sessions.with_person(person or "", limit=1):
            caller.acting_for(person)
    return caller.user_id, ["user"]


async def find_soul(model: str, caller: Caller, services: Services) -> Soul:
    """The soul with this id or name; of several with the same name, the one of the caller's person.

    Raises NotFound if there is none, and InvalidInput if there are still several.
    """
    if not model.startswith(SOUL):
        raise NotFound("model", model)
    async with services.stores.read() as tx:
        called = await tx.souls.called(model.removeprefix(SOUL))
    found = [soul for soul in called if caller.sees_soul(soul.soul_id)]
    if len(found) > 1:
        found = [soul for soul in found if soul.user_id == caller.one_person] or found
    if not found:
        raise NotFound("model", model)
    if len(found) > 1:
        ids = ", ".join(f"{SOUL}{soul.soul_id}" for soul in found)
        raise InvalidInput(f"several souls have this name: choose one of {ids}")
    return found[0]
