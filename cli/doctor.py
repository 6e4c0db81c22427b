"""`soulgraph doctor`: what the doctor finds, and whether a server runs."""

from soulgraph.cli.client import own_url, running
from soulgraph.errors import SoulgraphError
from soulgraph.runtime import doctor
from soulgraph.runtime.doctor_services import Finding
from soulgraph.settings import Settings


async def examine(settings: Settings) -> list[Finding]:
    return [*await doctor.examine(settings), _server(settings)]


def _server(settings: Settings) -> Finding:
    url = own_url(settings)
    try:
        ready = running(url)
    except SoulgraphError as error:
        return Finding("problem", "server", error.detail)
    if ready is None:
        return Finding("ok", "server", f"none runs at {url}; `soulgraph serve` starts one")
    return Finding("ok", "server", f"runs at {url} (voice: {ready['voice']}, database: {ready['database']})")
