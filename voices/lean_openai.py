"""ChatOpenAI for any server that speaks its protocol: quick with long conversations, and content with less."""

import logging
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from openai import BadRequestError, UnprocessableEntityError

_READY = ("messages", "tools")
_COUNTING = ("stream_options", "include_usage")

_log = logging.getLogger(__name__)


class LeanChatOpenAI(ChatOpenAI):
    """Messages and tools are already in wire form, so they travel as `extra_body`, which is sent as it is.

    The client's own walk through every message costs half a millisecond for each of them.
    """

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload = super()._get_request_payload(*args, **kwargs)
        ready = {name: payload.pop(name) for name in _READY if name in payload}
        return {**payload, "messages": [], "extra_body": {**(payload.get("extra_body") or {}), **ready}}

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        """A server that refuses to count what it streams is asked again, and from then on, without."""
        counted = self.stream_usage
        try:
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
            return
        except (BadRequestError, UnprocessableEntityError) as error:
            if not counted or not any(word in str(error) for word in _COUNTING):
                raise
        async for chunk in super()._astream(*args, **{**kwargs, "stream_usage": False}):
            self._count_no_more()
            yield chunk

    def _count_no_more(self) -> None:
        if self.stream_usage:
            self.stream_usage = False
            _log.warning(
                "voice: the server of %s refuses stream_options, so what a streamed answer costs is estimated from "
                "the texts",
                self.model_name,
            )
