"""The jobs that follow turns: list them with their errors, and retry dead ones."""

from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel

from soulgraph.api.auth import server_owner
from soulgraph.api.fields import BeforeId, JobId
from soulgraph.api.raising import JOB_NOT_DEAD, raises
from soulgraph.api.services import Served
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Job, JobStatus

router = APIRouter(prefix="/v1/jobs", tags=["operations"], dependencies=[server_owner])


class JobOut(BaseModel):
    job_id: int
    kind: str
    soul_id: str
    session_id: str
    turn_id: str
    status: JobStatus
    attempts: int
    run_at: str
    created_at: str
    error: str

    @classmethod
    def of(cls, job: Job) -> Self:
        fields = {name: getattr(job, name) for name in cls.model_fields}
        return cls(**fields | {"run_at": iso(job.run_at), "created_at": iso(job.created_at)})


class Retried(BaseModel):
    retried: list[int]


@router.get("")
async def list_jobs(
    services: Served,
    status: JobStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    before: BeforeId = None,
) -> list[JobOut]:
    """List jobs, the newest first; pass the last `job_id` as `before` for the next page.

    A dead job has failed too often and is not tried again until you retry it.
    """
    async with services.stores.read() as tx:
        return [JobOut.of(job) for job in await tx.outbox.page(status, limit, before)]


@router.post("/{job_id}/retry")
@raises(JOB_NOT_DEAD)
async def retry_job(job_id: JobId, services: Served) -> JobOut:
    """Retry a dead job; 409 if it is not dead."""
    async with services.stores.write() as tx:
        job = await tx.outbox.retry(job_id, services.now())
    services.afterglow.wake()  # after the transaction, so that the workers can see the job
    return JobOut.of(job)


@router.post("/retry")
async def retry_dead_jobs(services: Served) -> Retried:
    """Retry all dead jobs."""
    async with services.stores.write() as tx:
        dead = await tx.outbox.page("dead", limit=10_000)
        retried = [await tx.outbox.retry(job.job_id, services.now()) for job in dead]
    services.afterglow.wake()
    return Retried(retried=[job.job_id for job in retried])
