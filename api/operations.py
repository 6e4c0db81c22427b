"""For operators: health, readiness and metrics; the settings in force, and what the doctor finds."""

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field

from soulgraph.api.auth import server_owner
from soulgraph.api.services import Served
from soulgraph.runtime.doctor import examine_running, settings_in_force
from soulgraph.runtime.doctor_services import Level

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    status: Literal["ready"] = "ready"
    database: str
    voice: str = Field(description="the model's name, or `offline`")
    broker: dict[str, str] | None = Field(description="the broker's addresses by protocol; null without one")


class SettingOut(BaseModel):
    name: str
    value: str = Field(description="without its secrets")
    source: Literal["set", "default"]
    description: str


class FindingOut(BaseModel):
    level: Level
    subject: str
    detail: str


@router.get("/healthz")
async def healthz() -> Health:
    """Answers as soon as the server runs."""
    return Health()


@router.get("/readyz")
async def readyz(services: Served) -> Readiness:
    """Answers `ready` if the database can be reached, else 503. The language model is not asked."""
    async with services.stores.read() as tx:
        await tx.ping()
    hub = services.context.outlets.hub
    return Readiness(
        database=services.stores.database.url.get_backend_name(),
        voice=services.context.voice.name,
        broker=hub.addresses if hub else None,
    )


@router.get("/metrics", dependencies=[server_owner])
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
    findings = await examine_running(services.settings, services.stores, services.context.voice)
    return [FindingOut(**asdict(finding)) for finding in findings]
