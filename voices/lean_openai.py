"""ChatOpenAI for any server with an OpenAI-compatible API: faster with long conversations, and more tolerant."""

import logging
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from openai import BadRequestError, UnprocessableEntityError

_WIRE_FIELDS = ("messages", "tools")
_USAGE_OPTIONS = ("stream_options", "include_usage")

_log = logging.getLogger(__name__)


class LeanChatOpenAI(ChatOpenAI):
    """Sends messages and tools as `extra_body`, which the OpenAI client does not transform.

    They are in wire form already; the client's transformation would cost half a millisecond for each message.
    """

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload = super()._get_request_payload(*args, **kwargs)
        fields = {name: payload.pop(name) for name in _WIRE_FIELDS if name in payload}
        return {**payload, "messages": [], "extra_body": {**(payload.get("extra_body") or {}), **fields}}

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        """Stream with usage. A server that refuses `stream_options` is asked again, now and from then on, without."""
        with_usage = self.stream_usage
        try:
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
            return
        except (BadRequestError, UnprocessableEntityError) as error:
            if not with_usage or not any(option in str(error) for option in _USAGE_OPTIONS):
                raise
        # The refusal comes before the first chunk, so nothing is yielded twice.
        async for chunk in super()._astream(*args, **{**kwargs, "stream_usage": False}):
            self._disable_stream_usage()
            yield chunk

    def _disable_stream_usage(self) -> None:
        """Called for every chunk, and does something for the first: only an answer proves that it works without."""
        if self.stream_usage:
            self.stream_usage = False
            _log.warning(
                "voice: the server of %s refuses stream_options, so what a streamed answer costs is estimated from "
                "the texts",
                self.model_name,
            )
