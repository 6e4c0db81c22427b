"""`soulgraph doctor`: what the doctor finds, whether a server runs, and the repair of what the server cannot recall."""

from soulgraph.api.origins import Origins
from soulgraph.cli.client import Json, SoulClient, events, own_url, reach, running
from soulgraph.cli.conversation import console
from soulgraph.cli.transfers import Bar, progress
from soulgraph.errors import ConfigurationError, RequestError, SoulgraphError
from soulgraph.runtime import doctor
from soulgraph.runtime.doctor_findings import Finding, Level
from soulgraph.runtime.doctor_memory import check_memory
from soulgraph.settings import Settings


async def examine(settings: Settings) -> list[Finding]:
    server, ready = _server(settings)

    async def ask_server(_: Settings) -> tuple[Level, str]:
        problem = (ready or {}).get("memory")
        return ("problem", problem) if problem else ("ok", "looked after by the server that runs")

    # What a server has open is not opened a second time.
    return [*await doctor.examine(settings, ask_server if ready else check_memory), *_origins(settings), server]


def _origins(settings: Settings) -> list[Finding]:
    """What is wrong with the list of pages, with which no server starts."""
    try:
        Origins.parse(settings.cors_origins)
    except ConfigurationError as error:
        return [Finding("problem", "pages", error.detail)]
    return []


def _server(settings: Settings) -> tuple[Finding, Json | None]:
    """The finding, and what the server says of itself if one runs."""
    url = own_url(settings)
    try:
        ready = running(url)
    except SoulgraphError as error:
        return Finding("problem", "server", error.detail), None
    if ready is None:
        return Finding("ok", "server", f"none runs at {url}; `soulgraph serve` starts one"), None
    told = f"runs at {url} (voice: {ready['voice']}, database: {ready['database']})"
    return Finding("ok", "server", told), ready


def repair(settings: Settings, server: str | None) -> None:
    """Have the server that runs rebuild what it cannot recall, or one that is started for it."""
    with reach(settings, server) as client, progress("events and summaries are looked through") as bar:
        repaired = _follow(client, bar)
    for one in repaired:
        console.print(_told(one), soft_wrap=True)


def _follow(client: SoulClient, bar: Bar) -> list[Json]:
    with client.streaming("POST", "/v1/doctor/repair", {}) as response:
        for event in events(response.iter_text()):
            if event.name == "done":
                repaired: list[Json] = event.data["repaired"]
                return repaired
            if event.name == "error":
                raise RequestError(event.data["detail"], code=event.data["code"])
            bar.count(event.data["put"], None, f"{event.data['name']} are put back")
    raise SoulgraphError("the server broke off: run this again, and it goes on where it was")


def _told(repaired: Json) -> str:
    if not (repaired["put"] or repaired["moved_to"]):
        return f"{repaired['name']}: nothing is wrong"
    moved = f"; the damaged folder is {repaired['moved_to']} now" if repaired["moved_to"] else ""
    lost = f"; {repaired['lost']} are lost, which only Chroma had" if repaired["lost"] else ""
    return f"{repaired['name']}: {repaired['put']:,} were put back{moved}{lost}"
