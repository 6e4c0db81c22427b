"""Opens the trace exporters that the environment (LangSmith) and the settings (OTLP) ask for; by default none."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from soulgraph.errors import ConfigurationError
from soulgraph.runtime.tracing.langsmith import open_langsmith
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.settings import PREFIX, Settings


@asynccontextmanager
async def open_tracing(settings: Settings) -> AsyncIterator[None]:
    """Export traces for as long as the block lasts; raises ConfigurationError if the OTLP packages are missing."""
    redactor = Redactor(settings.trace_redact, settings.secrets)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_langsmith(redactor))
        if settings.otlp_endpoint:
            await stack.enter_async_context(_otlp(settings.checked_otlp_endpoint, redactor))
        yield


@asynccontextmanager
async def _otlp(endpoint: str, redactor: Redactor) -> AsyncIterator[None]:
    try:
        # Imported only when it is used: it takes a third of a second and needs the optional `trace` packages.
        from soulgraph.runtime.tracing.otlp import open_otlp
    except ModuleNotFoundError as error:
        detail = f"needs {error.name}: install `soulgraph[trace]`, or unset it"
        raise ConfigurationError(f"{PREFIX}OTLP_ENDPOINT", detail) from error
    async with open_otlp(endpoint, redactor):
        yield
