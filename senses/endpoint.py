"""The address, key and model of an OpenAI-compatible server."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Endpoint:
    model: str
    base_url: str = ""
    """Empty for OpenAI itself."""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 10.0
    temperature: float | None = None

    @property
    def place(self) -> str:
        """The server's URL without credentials, or "OpenAI"; for messages."""
        return masked(self.base_url) or "OpenAI"


def masked(url: str) -> str:
    """The URL with its user and password replaced by ***."""
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", re.sub(r"://[^/]*@", "://***@", url))
