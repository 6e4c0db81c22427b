"""Whose pages may read what the server answers: those of this machine, and those that the setting lists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from soulgraph.errors import ConfigurationError
from soulgraph.settings import is_loopback

_SETTING = "SOULGRAPH_CORS_ORIGINS"
_OFF, _NO_ORIGIN = "none", "null"
_SCHEME = r"([a-z][a-z0-9+.-]*)"
_ADDRESS = r"\[[0-9a-f:.]+\]"
_ORIGIN = re.compile(rf"{_SCHEME}://({_ADDRESS}|[\w.-]+)(?::(\d{{1,5}}))?", re.ASCII | re.IGNORECASE)
_ENTRY = re.compile(rf"{_SCHEME}://({_ADDRESS}|\*|(?:\*\.)?[\w.-]+)(?::(\d{{1,5}}|\*))?/?", re.ASCII | re.IGNORECASE)
_USUAL_PORTS = {"http": "80", "https": "443"}
_OF_APPS = frozenset({"tauri", "app", "capacitor", "ionic"})
"""Programs of this machine whose pages come from no server; nothing of the web can be at such an address."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Of a page, or an entry of the list, in which `*` stands for any host or port, and `*.` for any name below."""

    scheme: str
    host: str
    port: str

    @classmethod
    def of(cls, found: re.Match[str]) -> Self:
        scheme, host, port = found[1].lower(), found[2].lower(), found[3] or ""
        return cls(scheme, host, "" if _USUAL_PORTS.get(scheme) == port else port)

    @classmethod
    def parse(cls, header: str) -> Self | None:
        """None for what no page can be at, such as `null` of a file."""
        found = _ORIGIN.fullmatch(header)
        return cls.of(found) if found else None

    @property
    def is_local(self) -> bool:
        here = is_loopback(self.host.strip("[]")) or self.host.endswith(".localhost")
        return here and self.scheme in {*_USUAL_PORTS, *_OF_APPS}

    def admits(self, page: "Origin") -> bool:
        """Whether a page is meant by this entry."""
        same_port = self.port in ("*", page.port)
        return self.scheme == page.scheme and same_port and self._admits_host(page.host)

    def _admits_host(self, host: str) -> bool:
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return self.host in ("*", host)


@dataclass(frozen=True, slots=True)
class Origins:
    """What `SOULGRAPH_CORS_ORIGINS` says. Pages of this machine are let in as well, unless it is `none`."""

    off: bool = False
    everybody: bool = False
    nowhere: bool = False
    """Whether `null` is listed: pages from files and from frames without an origin."""
    entries: tuple[Origin, ...] = ()

    @classmethod
    def parse(cls, setting: str) -> Self:
        """Raises ConfigurationError for what is no origin."""
        words = [word for word in re.split(r"[,;\s]+", setting) if word]
        if _OFF in words:
            if len(words) > 1:
                raise ConfigurationError(_SETTING, "`none` stands alone: take it out, or the others")
            return cls(off=True)
        return cls(False, "*" in words, _NO_ORIGIN in words, tuple(_entries(words)))

    @property
    def lists_others(self) -> bool:
        """Whether pages of other machines are let in, once there are keys."""
        return self.everybody or self.nowhere or bool(self.entries)

    def is_local(self, header: str) -> bool:
        page = Origin.parse(header)
        return page is not None and page.is_local

    def lists(self, header: str) -> bool:
        if self.everybody or (self.nowhere and header == _NO_ORIGIN):
            return True
        page = Origin.parse(header)
        return page is not None and any(entry.admits(page) for entry in self.entries)


def _entries(words: list[str]) -> Iterator[Origin]:
    for word in words:
        if word in ("*", _NO_ORIGIN):
            continue
        found = _ENTRY.fullmatch(word)
        if found is None:
            how = "write scheme, host and port as the browser shows them, like https://app.example.com"
            raise ConfigurationError(_SETTING, f"{word!r} is no origin: {how}")
        yield Origin.of(found)
