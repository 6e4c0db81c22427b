"""Health, readiness and metrics endpoints for operators."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from soulgraph.api.auth import server_owner
from soulgraph.api.services import Served

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answers as soon as the server runs."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(services: Served) -> dict[str, Any]:
    """Answers `ready` if the database can be reached, else 503. The language model is not asked."""
    async with services.stores.read() as tx:
        await tx.ping()
    hub = services.context.outlets.hub
    return {
        "status": "ready",
        "database": services.stores.database.url.get_backend_name(),
        "voice": services.context.voice.name,
        "broker": hub.addresses if hub else None,
    }


@router.get("/metrics", dependencies=[server_owner])
async def metrics(services: Served) -> Response:
    """The metrics in Prometheus' text format."""
    services.metrics.running.set(services.runner.running)
    async with services.stores.read() as tx:
        services.metrics.outbox(await tx.outbox.counts())
    return Response(services.metrics.text(), media_type=CONTENT_TYPE_LATEST)
