"""A backup is the whole server as it was at one moment, whoever talks meanwhile, and nothing less."""

import asyncio
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from soulgraph.errors import ConfigurationError, InvalidInput
from soulgraph.memory.events import Event, Pattern, audience_of
from soulgraph.runtime.backup import _workplace
from soulgraph.runtime.ports import open_stores
from soulgraph.runtime.restore import restore
from soulgraph.server import create_app, open_services
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE
from soulgraph.tests import services as databases
from soulgraph.tests.e2e.keyring import problem
from soulgraph.tests.e2e.soul_lines import canonical, exported, lines_of, live_a_life
from soulgraph.tests.forks import ForkedServer
from soulgraph.tests.live import new_soul, say, serving


@pytest.fixture
def elsewhere(database_url, tmp_path):
    """Settings of an empty place on the same kind of database."""
    if database_url.startswith("sqlite"):
        yield Settings.load(data_dir=tmp_path / "elsewhere", mqtt_url="none")
        return
    with databases.postgres_schema() as url:
        yield Settings.load(data_dir=tmp_path / "elsewhere", database_url=url, mqtt_url="none")


async def backed_up(client, path):
    response = await client.post("/v1/backup")
    assert response.status_code == 200, response.text
    path.write_bytes(response.content)
    return path


async def all_of(client, soul_id):
    """The soul as it is told once nothing of it changes any more: what was recalled is counted a moment later."""
    before = None
    async with asyncio.timeout(20):
        while (now := without_events(lines_of(await exported(client, soul_id)))) != before:
            before = now
            await asyncio.sleep(0.5)
    return now


def without_events(lines):
    """The one event of that life was never in Chroma, so it is in no backup either."""
    return canonical([one for one in lines if one.get("table") not in ("event_uses", "event_provenance")])


async def test_what_is_restored_is_the_same_server(client, database_url, tmp_path, elsewhere):
    here = Settings.load(database_url=database_url, data_dir=tmp_path)
    soul_id = await live_a_life(client, here)
    folder = tmp_path / "souls" / soul_id
    folder.mkdir(parents=True)
    (folder / "SOUL.md").write_text("Be kind.")
    (folder / "passwords").symlink_to("/etc/passwd")
    before = await all_of(client, soul_id)
    file = await backed_up(client, tmp_path / "backup.tar.gz")
    await say(client, "this is after the backup", soul_id=soul_id, user_id="ann")
    await restore(elsewhere, file)
    async with serving(database_url=elsewhere.database_url, data_dir=elsewhere.data_dir) as restored:
        assert without_events(lines_of(await exported(restored, soul_id))) == before
        assert (elsewhere.data_dir / "souls" / soul_id / "SOUL.md").read_text() == "Be kind."
        assert not (elsewhere.data_dir / "souls" / soul_id / "passwords").exists()
        answer = await say(restored, "and on we go", soul_id=soul_id, user_id="ann")
        assert answer["reply"], "numbers of new messages are free"
    with pytest.raises(ConfigurationError, match="is not empty"):
        await restore(elsewhere, file)
    assert [*tmp_path.glob("backup-*")] == []


def event_of(n):
    told = f"A keeper lost hive number {n} to the frost of year {n * 7}"
    return Event(
        f"evt_{n}", told, Pattern(f"frost {n}", f"a hive {n} dies", "grief", "care"), {}, "They wept.", "2026-11-16"
    )


async def test_the_catalogue_and_chroma_agree_while_events_come_and_go(database_url, tmp_path, elsewhere):
    """Events are added and deleted all the time; in every backup each side has what the other has."""
    settings = Settings.load(data_dir=tmp_path / "here", database_url=database_url, mqtt_url="none")
    async with open_services(settings) as services:
        app = create_app(settings)
        app.state.services = services
        library = services.context.memory.events
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            soul_id = await new_soul(client, user_id="ann")
            session_id = (await say(client, "hello", soul_id=soul_id, user_id="ann"))["session_id"]

            async def live():
                for n in range(10_000):
                    audience = EVERYONE if n % 2 else audience_of(soul_id, ["ann"])
                    await library.add(event_of(n), session_id, soul_id, [], audience)
                    if n % 3 == 0:
                        await library.delete(f"evt_{max(n - 5, 0)}") if n >= 5 else None

            living = asyncio.create_task(live())
            await asyncio.sleep(0.5)
            files = []
            for n in range(4):
                files.append(await backed_up(client, tmp_path / f"{n}.tar.gz"))
                await asyncio.sleep(0.1)
            assert not living.done() or living.exception() is None
            living.cancel()
            await asyncio.wait({living})
    sizes = []
    for file in files:
        documents = members(file)["chroma/events.jsonl"].decode().split("\n")
        in_chroma = {json.loads(line)["id"] for line in documents if line}
        assert catalogue_in(file) == in_chroma
        sizes.append(len(in_chroma))
    assert sizes[-1] > 0
    await restore(elsewhere, files[-1])
    async with open_services(elsewhere) as services:
        library = services.context.memory.events
        page = await library.page(10_000)
        assert {event.event_id for event, _ in page} == in_chroma
        some = page[0][0]
        assert (await library.search(some.summary, 1))[0][0] == some, "vectors came along"


def members(file):
    with tarfile.open(file) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}


def catalogue_in(file):
    """The ids of the events in the copy of the database."""
    found = members(file)
    if "database.sqlite" in found:
        import sqlite3

        connection = sqlite3.connect(":memory:")
        connection.deserialize(found["database.sqlite"])
        return {row[0] for row in connection.execute("SELECT event_id FROM event_uses")}
    header, *rows = found["tables/event_uses.copy"].decode().rstrip("\n").split("\n")
    place = header.split("\t").index("event_id")
    return {row.split("\t")[place] for row in rows if row}


async def test_no_turn_is_torn_however_many_run_meanwhile(client, tmp_path, elsewhere):
    soul_id = await new_soul(client, user_id="ann")

    async def talk(n):
        for m in range(6):
            await say(client, f"line {m} of {n}", soul_id=soul_id, session_id=f"s{n}", user_id="ann", input_id=f"i{m}")

    talking = [asyncio.create_task(talk(n)) for n in range(4)]
    files = []
    for n in range(3):
        files.append(await backed_up(client, tmp_path / f"{n}.tar.gz"))
        await asyncio.sleep(0.2)
    await asyncio.gather(*talking)
    await restore(elsewhere, files[-1])
    async with open_stores(elsewhere) as stores, stores.read() as tx:
        for session in await tx.sessions.all(soul_id):
            messages = await tx.messages.page(session.session_id)
            assert [one.role for one in messages] == ["user", "assistant"] * (len(messages) // 2)
            said = [one.content for one in messages if one.role == "user"]
            assert said == [f"line {m} of {session.session_id[1:]}" for m in range(len(said))]
            assert session.turn == len(said)
        orphans = "SELECT count(*) FROM messages WHERE message_id NOT IN (SELECT message_id FROM episodes)"
        assert (await tx._connection.execute(text(orphans))).scalar() == 0
    async with serving(database_url=elsewhere.database_url, data_dir=elsewhere.data_dir) as restored:
        answer = await say(restored, "and then?", soul_id=soul_id, session_id="s0", user_id="ann")
        assert answer["reply"]


async def test_what_is_no_whole_backup_is_refused_and_nothing_is_put_anywhere(client, tmp_path, elsewhere):
    await new_soul(client, user_id="ann")
    whole = (await client.post("/v1/backup")).content
    unpacked = gzip.decompress(whole)
    strange = io.BytesIO()
    with tarfile.open(fileobj=strange, mode="w:gz") as archive:
        member = tarfile.TarInfo("manifest.json")
        content = json.dumps({"type": "soulgraph-backup", "version": 9}).encode()
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    for content, why in (
        (b"", "no backup"),
        (b"hello", "no backup"),
        (whole[:-1000], "not a whole one"),
        (gzip.compress(unpacked[: len(unpacked) // 2]), "not a whole one|is missing|not what"),
        (gzip.compress(b"\0" * 10_240), "no backup"),
        (strange.getvalue(), "version 9, and this program reads 1"),
    ):
        file = tmp_path / "broken.tar.gz"
        file.write_bytes(content)
        with pytest.raises(InvalidInput, match=why):
            await restore(elsewhere, file)
    assert [*elsewhere.data_dir.iterdir()] == []
    (tmp_path / "whole.tar.gz").write_bytes(whole)
    await restore(elsewhere, tmp_path / "whole.tar.gz")


async def test_a_backup_of_the_other_database_says_what_to_do(sqlite_url, tmp_path):
    async with serving(database_url=sqlite_url, data_dir=tmp_path / "here") as client:
        file = await backed_up(client, tmp_path / "backup.tar.gz")
    refused = pytest.raises(InvalidInput, match="the backup is of sqlite, and the settings name postgresql")
    with databases.postgres_schema() as url, refused:
        await restore(Settings.load(data_dir=tmp_path / "there", database_url=url), file)


async def test_one_backup_at_a_time(client):
    both = await asyncio.gather(*(client.post("/v1/backup") for _ in range(2)))
    codes = sorted(response.status_code for response in both)
    assert codes in ([200, 409], [200, 200])
    assert all(problem(one) == (409, "backup_running") for one in both if one.status_code == 409)


def test_two_processes_of_one_server_do_not_remove_what_the_other_is_copying(tmp_path):
    folder = tmp_path / "data"
    (folder / "backup-of-one-that-was-killed" / "chroma").mkdir(parents=True)
    with _workplace(folder) as one, _workplace(folder) as other:
        assert {*folder.iterdir()} == {one, other}
    assert [*folder.iterdir()] == []


async def test_killed_in_the_middle_there_is_no_half_file(tmp_path):
    """kill -9 of the command, and of the server, at any moment: under its name a backup is whole, or not there."""
    server = ForkedServer(data_dir=str(tmp_path / "data"), mqtt_url="none")
    await server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        soul_id = await new_soul(client, user_id="ann")
        folder = tmp_path / "data" / "souls" / soul_id
        folder.mkdir(parents=True)
        for n in range(40):
            (folder / f"{n}.bin").write_bytes(os.urandom(1024 * 1024))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [Path(sys.executable).parent / "soulgraph", "backup", "--server", server.url]
    for n, wait_s in enumerate((0.6, 1.0, 1.4, 1.8, 2.2)):
        file = tmp_path / f"{n}.tar.gz"
        process = subprocess.Popen([*command, file], **quiet)
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if file.exists():
            assert gzip.decompress(file.read_bytes())
    process = subprocess.Popen([*command, tmp_path / "last.tar.gz"], **quiet)
    await asyncio.sleep(1.2)
    server.kill()
    assert process.wait() != 0 or gzip.decompress((tmp_path / "last.tar.gz").read_bytes())
    assert process.returncode == 0 or not (tmp_path / "last.tar.gz").exists()
    await server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        await backed_up(client, tmp_path / "after.tar.gz")
    server.stop()
    assert [*(tmp_path / "data").glob("backup-*")] == [], "what the killed one left is gone"
