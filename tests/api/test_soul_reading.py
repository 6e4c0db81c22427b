import json
from contextlib import suppress
from datetime import UTC
from io import BytesIO
from pathlib import Path

from soulgraph.api.soul_reading import SoulFile
from soulgraph.errors import InvalidInput

LINES = (Path(__file__).parents[1] / "fuzz" / "soul.jsonl").read_text("utf-8").splitlines()


def read(*lines):
    return SoulFile.read(BytesIO("\n".join(lines).encode()), UTC)


def test_a_row_that_lacks_a_column_is_read_or_refused_whichever_it_is():
    assert read(*LINES).soul
    for at, line in enumerate(LINES):
        whole = json.loads(line)
        for column in whole.get("row", ()):
            rest = {name: value for name, value in whole["row"].items() if name != column}
            with suppress(InvalidInput):
                read(*LINES[:at], json.dumps({**whole, "row": rest}))
