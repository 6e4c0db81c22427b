"""An OpenAI-compatible server and one of its models, as the settings name them."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Endpoint:
    model: str
    base_url: str = ""
    """Empty: OpenAI itself."""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 10.0
    temperature: float | None = None

    @property
    def place(self) -> str:
        """Where it is, without the user and password that may be in the URL."""
        return masked(self.base_url) or "OpenAI"


def masked(url: str) -> str:
    """The URL without the user and password that may be in it."""
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", re.sub(r"://[^/]*@", "://***@", url))
