"""Hundreds of reminders through kill -9 and clock jumps, each said once; `make reminders` does it with ten thousand."""

from soulgraph.bench.reminders import run


async def test_each_is_said_once_whatever_happens_to_servers_and_clocks(database_url, tmp_path):
    servers = 2 if database_url.startswith("postgresql") else 1
    report = await run(database_url, tmp_path, count=300, servers=servers, steps=14)
    assert report.wrong == []
    assert report.kills > 3 and min(report.jumps.values()) > 0
    assert report.stored >= 300
