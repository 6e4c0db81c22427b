"""The services that tests talk to: where they are, and what happens to a test when one is missing.

A missing service skips the tests that need it, unless SOULGRAPH_TEST_SERVICES=required: then they fail.
"""

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NoReturn
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from soulgraph.stores.columns import metadata

POSTGRES_URL = os.environ.get("SOULGRAPH_TEST_DATABASE_URL", "postgresql://127.0.0.1:5432/test")
MQTT_URL = os.environ.get("SOULGRAPH_TEST_MQTT_URL", "mqtt://127.0.0.1:1883")
REQUIRED = os.environ.get("SOULGRAPH_TEST_SERVICES") == "required"
_TIMEOUT_S = 3
_BOOKS_OF_MIGRATIONS = ("alembic_version", "checkpoint_migrations")


@contextmanager
def postgres_schema(database_url: str = POSTGRES_URL) -> Iterator[str]:
    """The URL of an empty schema; its connections carry the schema's name, so that a test can end just its own.

    Commits do not wait for the disk: no test outlives the database server.
    """
    if trouble := _postgres_trouble(database_url):
        _without(f"PostgreSQL does not answer at SOULGRAPH_TEST_DATABASE_URL: {trouble}")
    schema = f"test_{uuid4().hex}"
    options = {"options": f"-csearch_path={schema} -csynchronous_commit=off", "application_name": schema}
    url = make_url(database_url).update_query_dict(options).render_as_string(hide_password=False)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
        try:
            yield url.replace("+", "%20")  # the only way to write a space that psql reads too
        finally:
            connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())


def empty_tables(url: str) -> None:
    """Leave a `postgres_schema` as its migrations left it: no rows, and numbers that begin at one."""
    by_dependence = {table.name: place for place, table in enumerate(metadata.sorted_tables)}
    with psycopg.connect(url, options=f"{make_url(url).query['options']} -clock_timeout=10s") as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
        names = {name for (name,) in tables}.difference(_BOOKS_OF_MIGRATIONS)
        for name in sorted(names, key=lambda name: by_dependence.get(name, 0), reverse=True):
            connection.execute(f"DELETE FROM {name}".encode())
        connection.execute(
            "SELECT setval(quote_ident(sequencename)::regclass, start_value, false)"
            " FROM pg_sequences WHERE schemaname = current_schema()"
        )


def end_connections(url: str) -> None:
    """Cut every connection that was made with the URL of a `postgres_schema`, as a restarted server would."""
    name = make_url(url).query["application_name"]
    with psycopg.connect(url, application_name="", autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s", [name]
        )


def mosquitto() -> str:
    if trouble := _mosquitto_trouble():
        _without(f"no MQTT broker answers at SOULGRAPH_TEST_MQTT_URL: {trouble}")
    return MQTT_URL


def chromium() -> str:
    """The browser in which the studio is tested."""
    found = os.environ.get("SOULGRAPH_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    return found or _without("Chromium is not installed: SOULGRAPH_TEST_CHROMIUM may say where it is")


def psql() -> str:
    return shutil.which("psql") or _without("psql is not installed")


def espeak() -> str:
    return shutil.which("espeak-ng") or _without("espeak-ng is not installed: nothing here can speak")


def ffmpeg() -> str:
    return shutil.which("ffmpeg") or _without("ffmpeg is not installed: only wav and pcm can be spoken here")


def _without(reason: str) -> NoReturn:
    if REQUIRED:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@cache
def _postgres_trouble(database_url: str) -> str:
    try:
        psycopg.connect(database_url, connect_timeout=_TIMEOUT_S).close()
    except psycopg.OperationalError as error:
        return str(error)
    return ""


@cache
def _mosquitto_trouble() -> str:
    where = urlsplit(MQTT_URL)
    try:
        socket.create_connection((where.hostname, where.port or 1883), _TIMEOUT_S).close()
    except OSError as error:
        return str(error)
    return ""
