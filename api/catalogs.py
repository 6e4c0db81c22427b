"""Catalogs of intents in request bodies. They are checked in a thread: a large one takes long, and all would wait."""

import asyncio
from typing import Any

from pydantic import SkipValidation, ValidationError

from soulgraph.api.problems import invalid
from soulgraph.senses.intents.catalog import CATALOG, Catalog
from soulgraph.senses.intents.catalogs import ReadCatalog

UncheckedCatalog = SkipValidation[Catalog]
"""For the field `intent_catalog`: described as a catalog, and to be checked by `read_catalog`."""


async def read_catalog(catalog: Any) -> ReadCatalog:
    """Raises InvalidInput, which says where in the body the mistakes are."""
    return await asyncio.to_thread(_read, catalog)


def _read(catalog: Any) -> ReadCatalog:
    try:
        return ReadCatalog.of(CATALOG.validate_python(catalog))
    except ValidationError as error:
        field = "body", "intent_catalog"
        flaws = [{**flaw, "loc": (*field, *flaw["loc"])} for flaw in error.errors(include_url=False)]
        raise invalid(flaws, {"intent_catalog": catalog}) from error
