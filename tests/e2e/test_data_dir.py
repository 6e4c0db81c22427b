"""Nobody else on the machine can read what is in the data directory, whatever was there and whatever the umask."""

import os
import stat

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from soulgraph import open_souls, soul_named, soul_node
from soulgraph.tests.e2e.afterglow import attentive, settled
from soulgraph.tests.e2e.test_afterglow import SURPRISED
from soulgraph.tests.forks import ForkedServer
from soulgraph.tests.live import new_soul, say


@pytest.fixture(autouse=True)
def loose_umask():
    """As most machines have it."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder):
    """The mode of the folder and of everything in it, by path; links are not followed."""
    paths = [folder, *(path for path in folder.rglob("*") if not path.is_symlink())]
    return {path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in paths}


def private(folder):
    """The same as it should be."""
    return {name: 0o700 if (folder / name).is_dir() else 0o600 for name in modes(folder)}


def left_behind(folder, migrated_file):
    """The data directory of an earlier version, open to everybody."""
    (folder / "souls" / "luna").mkdir(parents=True)
    (folder / "souls" / "luna" / "SOUL.md").write_text("I like rain.")
    (folder / "soulgraph.db").write_bytes(migrated_file.read_bytes())
    (folder / "telemetry.jsonl").write_text("{}\n")
    (folder / "telemetry.jsonl.1").write_text("{}\n")
    assert 0o755 in modes(folder).values()


@pytest.mark.parametrize("existing", [True, False])
async def test_a_server_keeps_everything_to_itself(existing, stub, tmp_path, migrated_file):
    folder = tmp_path / "data"
    if existing:
        left_behind(folder, migrated_file)
    model = {"llm_base_url": attentive(stub).base_url, "llm_model": "stub"}
    server = ForkedServer(data_dir=str(folder), mqtt_url="none", **model)
    await server.start()
    stub.script(SURPRISED)
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        await say(client, "about topic 01", soul_id=await new_soul(client), session_id="s")
        await settled(client)
        events = (await client.get("/v1/events")).json()
    running, wanted = modes(folder), private(folder)
    server.stop()
    assert (running, modes(folder)) == (wanted, private(folder))
    assert {"soulgraph.db", "soulgraph.db-wal", "soulgraph.db-shm", "telemetry.jsonl", "chroma"} <= running.keys()
    assert len(events) == 1, "nothing was archived: Chroma's files would prove nothing"


async def test_an_embedding_program_keeps_its_umask_and_its_souls_to_itself(tmp_path):
    folder = tmp_path / "data"
    async with open_souls(data_dir=folder) as context:
        graph = StateGraph(MessagesState).add_node("soul", soul_node(context, await soul_named(context, "Luna")))
        await graph.add_edge(START, "soul").compile().ainvoke({"messages": [HumanMessage("Hello!")]})
        ours = {name: mode for name, mode in modes(folder).items() if not name.startswith("chroma")}
        (tmp_path / "theirs.txt").write_text("")
    assert ours == {
        ".": 0o700,
        "soulgraph.db": 0o600,
        "soulgraph.db-wal": 0o600,
        "soulgraph.db-shm": 0o600,
        "telemetry.jsonl": 0o600,
    }
    assert modes(tmp_path)["theirs.txt"] == 0o644


async def test_a_database_elsewhere_is_left_as_it_is(tmp_path, migrated_file):
    elsewhere = tmp_path / "shared.db"
    elsewhere.write_bytes(migrated_file.read_bytes())
    elsewhere.chmod(0o664)
    async with open_souls(data_dir=tmp_path / "data", database_url=f"sqlite:///{elsewhere}"):
        assert modes(tmp_path)["shared.db"] == 0o664
        assert modes(tmp_path / "data")["."] == 0o700
