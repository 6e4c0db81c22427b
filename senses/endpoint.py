"""The address, key and model of an OpenAI-compatible server."""

import re
from dataclasses import dataclass, field
from typing import Literal

CarrierSetting = Literal["auto", "tags", "plain"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    model: str
    base_url: str = ""
    """Empty for OpenAI itself."""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 10.0
    temperature: float | None = None
    max_tokens: int = 0
    """Most tokens of one answer; 0 for the server's own limit."""
    carrier: CarrierSetting = "auto"
    """How a chat model tells what has changed in the soul."""

    @property
    def place(self) -> str:
        """The server's URL without credentials, or "OpenAI"; for messages."""
        return masked(self.base_url) or "OpenAI"


def masked(url: str) -> str:
    """The URL with its user and password replaced by ***."""
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", re.sub(r"://[^/]*@", "://***@", url))
