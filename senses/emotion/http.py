"""The client of an external emotion recogniser: one POST per text, and a validated answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Self

import httpx
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.emotion.scales import Axis, Label, Share
from soulgraph.soul.emotions import Appraisal, UserEmotion
from soulgraph.soul.validation import explain

TIMEOUT_S = 1.5
MAX_ANSWER = 64 * 1024  # bytes; an honest answer has a few hundred

MAX_REASONS = 20
Reason = Annotated[str, StringConstraints(max_length=200)]

# Without compression the size of the answer can be checked while it arrives.
_HEADERS = {"content-type": "application/json", "accept-encoding": "identity"}


class AnsweredAppraisal(BaseModel):
    """What the words are to the soul, if the service says so."""

    model_config = ConfigDict(extra="ignore", strict=True)

    toward: Share
    hostility: Share
    repair: Share
    reasons: list[Reason] = Field(default=[], max_length=MAX_REASONS)

    def to_appraisal(self) -> Appraisal:
        return Appraisal(self.toward, self.hostility, self.repair, tuple(self.reasons))


class Answer(BaseModel):
    """The service's answer; unknown fields are ignored, known ones are checked strictly."""

    model_config = ConfigDict(extra="ignore", strict=True)

    emotion: Label
    p: Axis
    a: Axis
    d: Axis
    intensity: Share
    confidence: Share | None = None
    appraisal: AnsweredAppraisal | None = None

    def to_user_emotion(self) -> UserEmotion:
        appraisal = self.appraisal.to_appraisal() if self.appraisal else None
        return UserEmotion(self.emotion, self.p, self.a, self.d, self.intensity, self.confidence, appraisal)


class HttpRecogniser:
    """Sends one request without retries: an emotion that comes late is of no use to the turn."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self._client = client
        self._url = httpx.URL(url)

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncIterator[Self]:
        """One client for all turns, without a limit on connections, of which 64 are kept alive."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        async with httpx.AsyncClient(limits=limits) as client:
            yield cls(client, url)

    async def recognise(self, text: str) -> UserEmotion:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = Answer.model_validate_json(await self._post(text))
        except TimeoutError as error:
            raise SenseUnavailable(f"the emotion service did not answer within {TIMEOUT_S} s") from error
        except httpx.HTTPError as error:
            raise SenseUnavailable(f"the emotion service cannot be reached: {_describe(error)}") from error
        except ValidationError as error:
            raise SenseUnavailable(
                f"the emotion service answered something unusable: {explain(error, root='answer')}"
            ) from error
        return answer.to_user_emotion()

    async def _post(self, text: str) -> bytes:
        payload = json.dumps({"text": text})
        request = self._client.stream("POST", self._url, content=payload, headers=_HEADERS, follow_redirects=False)
        async with request as response:
            if not response.is_success:
                raise SenseUnavailable(f"the emotion service answered {response.status_code} {response.reason_phrase}")
            return await _read_body(response)


async def _read_body(response: httpx.Response) -> bytes:
    body = b""
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_ANSWER:
            raise SenseUnavailable(f"the emotion service's answer is longer than {MAX_ANSWER} bytes")
    return body


def _describe(error: httpx.HTTPError) -> str:
    """The class and text of an error: some of httpx's errors have no text."""
    return f"{type(error).__name__} {error}".strip()
