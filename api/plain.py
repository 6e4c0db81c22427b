"""The model `plain`: the language model itself, without a soul. It also runs the errands of programs."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from fastapi.responses import JSONResponse, Response, StreamingResponse

from soulgraph.api.errands import Errand, answer_without_model
from soulgraph.api.openai_request import CompletionRequest, Message, text_of
from soulgraph.api.openai_stream import chunk_data, done
from soulgraph.api.openai_wire import Completion, error
from soulgraph.api.services import Services
from soulgraph.api.sse import unbuffered
from soulgraph.errors import ModelError, ModelUnavailable, NotFound
from soulgraph.stores.factories import new_id
from soulgraph.voices.relay import Relayed, words_of

PLAIN = "plain"
NO_TURN = {"X-Soulgraph-Turn": "none"}
"""The header of answers that no soul has given."""


async def complete_plainly(request: CompletionRequest, services: Services) -> Response:
    """The language model's answer to the request as it is. Raises NotFound if clients may not use it."""
    if not services.settings.plain_model:
        raise NotFound("model", PLAIN)
    return await _relayed(request, services)


async def run_errand(errand: Errand, request: CompletionRequest, services: Services) -> Response:
    """The answer to what a program wants, of the language model or without one."""
    if services.relay:
        return await _relayed(request, services)
    completion = Completion(new_id("errand"), request.model, int(services.now()))
    words = answer_without_model(errand, request.messages)
    if not request.stream:
        return JSONResponse(completion.said(words), headers=NO_TURN)
    return unbuffered(_said(completion, words), NO_TURN)


async def words_for_errand(errand: Errand, model: str, messages: Sequence[Message], services: Services) -> str:
    """The same for a request in another form: the words alone."""
    if services.relay is None:
        return answer_without_model(errand, messages)
    plain = [{"role": one.role, "content": text_of(one.content)} for one in messages]
    content = await services.relay.whole({"messages": plain, "stream": False})
    return words_of(content)


async def _relayed(request: CompletionRequest, services: Services) -> Response:
    if services.relay is None:
        raise ModelUnavailable("there is no language model: set SOULGRAPH_LLM_MODEL and an endpoint or a key")
    body = request.model_dump(mode="json", exclude_unset=True)
    if not request.stream:
        return JSONResponse(await services.relay.whole(body), headers=NO_TURN)
    answer = await services.relay.stream(body)
    return StreamingResponse(_passed_on(answer), headers=NO_TURN, media_type=answer.content_type)


async def _passed_on(answer: Relayed) -> AsyncIterator[bytes]:
    async with aclosing(answer):
        try:
            async for chunk in answer.chunks:
                yield chunk
        except ModelError as broken:
            yield chunk_data(error(broken.problem()))


async def _said(completion: Completion, words: str) -> AsyncIterator[bytes]:
    yield chunk_data(completion.delta(role="assistant", content=words))
    yield chunk_data(completion.delta("stop"))
    yield done()
