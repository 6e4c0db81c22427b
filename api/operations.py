"""For operators: health, readiness and metrics; the settings in force, what the doctor finds, and what he repairs."""

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Literal, Self

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse
from fastapi.sse import format_sse_event
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field

from soulgraph.api.auth import server_owner
from soulgraph.api.media import SSE, text
from soulgraph.api.raising import NO_DATABASE, REPAIR_RUNNING, raises
from soulgraph.api.services import Served
from soulgraph.api.sse import unbuffered
from soulgraph.errors import SoulgraphError
from soulgraph.memory.upkeep import Repaired
from soulgraph.runtime.doctor import examine_running, settings_in_force
from soulgraph.runtime.doctor_findings import Level
from soulgraph.stores.records import Json

router = APIRouter(tags=["operations"])

_METRICS = text(
    CONTENT_TYPE_LATEST.partition(";")[0],
    "one figure to a line",
    '# TYPE soulgraph_turns_total counter\nsoulgraph_turns_total{outcome="ok"} 1.0\n',
)

_REPAIR = text(
    SSE,
    "`progress`, then `done` or `error`",
    'event: progress\ndata: {"name": "events", "put": 400, "lost": 0, "moved_to": null}\n\n',
)
# Told to everybody who asks, so without the reason, which may name folders.
_DEGRADED = (
    "events and summaries cannot be recalled: `soulgraph doctor --repair` rebuilds them; "
    "GET /v1/doctor and the log say what is wrong"
)


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    status: Literal["ready", "degraded"] = Field(description="`degraded`: turns are answered, with less memory")
    database: str
    voice: str = Field(description="the model's name, or `offline`")
    broker: dict[str, str] | None = Field(description="the broker's addresses by protocol; null without one")
    memory: str | None = Field(description="what souls cannot recall, and what to do; null if nothing is wrong")


class SettingOut(BaseModel):
    name: str
    value: str = Field(description="without its secrets")
    source: Literal["set", "default"]
    description: str


class FindingOut(BaseModel):
    level: Level
    subject: str
    detail: str


class RepairedOut(BaseModel):
    name: str = Field(description="`events` or `summaries`")
    put: int = Field(description="how many were put back")
    lost: int = Field(description="how many had been nowhere but in Chroma")
    moved_to: str | None = Field(description="where the damaged folder is now, if there was one")

    @classmethod
    def of(cls, state: Repaired) -> Self:
        moved_to = str(state.moved_to) if state.moved_to else None
        return cls(name=state.name, put=state.put, lost=state.lost, moved_to=moved_to)


class RepairOut(BaseModel):
    repaired: list[RepairedOut]


@router.get("/healthz")
async def healthz() -> Health:
    """Answers as soon as the server runs."""
    return Health()


@router.get("/readyz")
@raises(NO_DATABASE)
async def readyz(services: Served) -> Readiness:
    """Answers `ready` if the database can be reached, else 503. The language model is not asked.

    `degraded`, with 200 too, if events and summaries cannot be recalled: turns go on without them.
    """
    async with services.stores.read() as tx:
        await tx.ping()
    hub = services.context.outlets.hub
    damaged = bool(services.context.memory.health.problem)
    return Readiness(
        status="degraded" if damaged else "ready",
        database=services.stores.database.url.get_backend_name(),
        voice=services.context.voice.name,
        broker=hub.addresses if hub else None,
        memory=_DEGRADED if damaged else None,
    )


@router.get("/metrics", dependencies=[server_owner], response_class=Response, responses={200: _METRICS})
async def metrics(services: Served) -> Response:
    """The metrics in Prometheus' text format."""
    services.metrics.running.set(services.runner.running)
    async with services.stores.read() as tx:
        services.metrics.outbox(await tx.outbox.counts())
    return Response(services.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/settings", dependencies=[server_owner])
async def list_settings(services: Served) -> list[SettingOut]:
    """List every setting as it is in force, with the variable that sets it. Secrets and passwords are masked."""
    return [SettingOut(**asdict(setting)) for setting in settings_in_force(services.settings)]


@router.get("/v1/doctor", dependencies=[server_owner])
async def read_doctor(services: Served) -> list[FindingOut]:
    """Check whether everything that is configured can be used, as `soulgraph doctor` does; it may take some seconds.

    Services are called once. The language model is not talked to.
    """
    findings = await examine_running(services.settings, services.context)
    return [FindingOut(**asdict(finding)) for finding in findings]


@router.post(
    "/v1/doctor/repair", dependencies=[server_owner], response_class=StreamingResponse, responses={200: _REPAIR}
)
@raises(REPAIR_RUNNING)
async def repair(services: Served) -> StreamingResponse:
    """Rebuild what Chroma has lost or cannot read from the database, while turns go on.

    A damaged folder is moved aside, and never deleted. The answer is an event stream: `progress`, then `done` or
    `error`. Broken off, the next repair goes on where it was. 409 while another one runs.
    """
    following = services.context.memory.health.repair()
    first = await anext(following, None)  # so that a refusal is one, and not an event
    return unbuffered(_events(first, following))


async def _events(first: Repaired | None, following: AsyncIterator[Repaired]) -> AsyncIterator[bytes]:
    repaired = {first.name: first} if first else {}
    try:
        async for state in following:
            repaired[state.name] = state
            yield _event("progress", RepairedOut.of(state))
        yield _event("done", RepairOut(repaired=[RepairedOut.of(state) for state in repaired.values()]))
    except SoulgraphError as error:
        yield _event("error", error.problem())


def _event(name: str, data: BaseModel | Json) -> bytes:
    plain = data.model_dump() if isinstance(data, BaseModel) else data
    return format_sse_event(event=name, data_str=json.dumps(plain, ensure_ascii=False))
