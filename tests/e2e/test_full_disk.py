"""A disk without room: what is answered is true, nothing is half-written, and it goes on when there is room again."""

import errno
import logging
from contextlib import contextmanager

import pytest

from soulgraph.api import spooled
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.tests.live import new_soul, say, served, transcript
from soulgraph.tests.statements import noting_statements

LONG = "I have a lot to tell you. " * 300


@pytest.fixture
async def app(tmp_path):
    return create_app(Settings(_env_file=None, data_dir=tmp_path, mqtt_url="none"))


@contextmanager
def full(app):
    """No page more than the database has: SQLite then says what it says of a disk that is full."""
    pages = 1

    def limit(one):
        one.driver.execute(f"PRAGMA max_page_count={pages}")

    with noting_statements(limit):
        yield
        pages = 2**30  # for the connections that were limited
        for driver in app.state.services.stores.database._idle:
            driver.execute(f"PRAGMA max_page_count={pages}")


def problem(response):
    return response.status_code, response.json()["code"], response.json()["detail"]


FULL = (503, "store_unavailable", "the disk is full, and nothing was written: free some space, and send it again")


async def test_a_turn_that_cannot_be_stored_says_why_and_is_stored_when_it_is_sent_again(app):
    async with served(app) as client:
        soul_id = await new_soul(client)
        await say(client, "hi", soul_id=soul_id, session_id="s")
        turn = {"session_id": "s", "text": LONG, "input_id": "long"}
        with full(app):
            assert problem(await client.post("/v1/chat", json=turn)) == FULL
            assert len(await transcript(client, "s")) == 2
            created = await client.post("/v1/characters", json={"name": "x", "base_persona": "x" * 20_000})
            assert problem(created) == FULL
        assert (await client.post("/v1/chat", json=turn)).status_code == 200
        assert [role for role, _ in await transcript(client, "s")] == ["user", "assistant"] * 2


async def test_an_upload_that_finds_no_room_says_so(app, monkeypatch):
    class FullFile(spooled.SpooledTemporaryFile):
        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spooled, "SpooledTemporaryFile", FullFile)
    async with served(app) as client:
        soul_id = await new_soul(client)
        for refused in (
            await client.post("/v1/souls/import", content=b"{}\n"),
            await client.post(f"/v1/souls/{soul_id}/import-chats?filename=a.json", content=b"[]"),
            await client.get(f"/v1/souls/{soul_id}/export"),
        ):
            assert problem(refused) == FULL


async def test_telemetry_that_finds_no_room_costs_no_turn_and_complains_once(app, monkeypatch, caplog):
    async with served(app) as client:
        soul_id = await new_soul(client)
        await say(client, "hi", soul_id=soul_id, session_id="s")
        handler = app.state.services.context.telemetry._handler

        def refuse(text):
            raise OSError(errno.ENOSPC, "No space left on device")

        with caplog.at_level(logging.WARNING):
            monkeypatch.setattr(handler.stream, "write", refuse)
            for _ in range(2):
                await say(client, "hi again", session_id="s")
            monkeypatch.undo()
            await say(client, "and again", session_id="s")
        complaints = [record.getMessage() for record in caplog.records if "telemetry" in record.getMessage()]
        lost = "telemetry is not written: [Errno 28] No space left on device"
        assert complaints == [lost, "telemetry is written again"]
