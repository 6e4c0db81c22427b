"""A backup of everything that the server has, as one archive."""

from tempfile import TemporaryFile

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from soulgraph.api.auth import server_owner
from soulgraph.api.media import GZIP, binary
from soulgraph.api.raising import BACKUP_RUNNING, NO_EVENT_LIBRARY, raises
from soulgraph.api.services import Served
from soulgraph.api.spooled import Download
from soulgraph.errors import Conflict
from soulgraph.runtime.backup import write_backup
from soulgraph.soul.timestamps import iso

router = APIRouter(tags=["operations"])


@router.post(
    "/v1/backup",
    dependencies=[server_owner],
    response_class=StreamingResponse,
    responses={200: binary(GZIP)},
)
@raises(BACKUP_RUNNING, NO_EVENT_LIBRARY)
async def make_backup(services: Served) -> StreamingResponse:
    """Take a backup of the database, of Chroma and of the files of souls, while everything goes on.

    It is the server as it is at one moment; `soulgraph restore` puts it into an empty place. 409 while another one is
    being taken.
    """
    if services.backing_up.locked():
        raise Conflict("backup_running", "a backup is being taken: wait for its end")
    async with services.backing_up:
        data_dir = services.settings.data_dir
        file = TemporaryFile(dir=data_dir)  # noqa: SIM115 - the response closes it
        try:
            await write_backup(services.context, data_dir, file)
        except BaseException:
            file.close()
            raise
    moment = iso(services.now())[:19].replace(":", "").replace("-", "")
    return Download(file, f"soulgraph-{moment}.tar.gz", GZIP)
