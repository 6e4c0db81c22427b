"""The problems in the description of the API have the words that the code says: an example must not go stale."""

import ast
import re
from pathlib import Path

import pytest

from soulgraph.api import raising
from soulgraph.api.raising import BAD_LINE
from soulgraph.errors import NotFound, SoulgraphError

ROOT = Path(raising.__file__).parent.parent
ROOMS = ["api", "library", "memory", "nodes", "prompts", "runtime", "senses", "soul", "stores", "terminals", "voices"]
MIN_LITERAL = 12


@pytest.fixture(scope="module")
def said():
    """Every text that the code has, as a pattern: what is filled in may be anything."""
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py") if file.name != "raising.py"]
    return {pattern for file in files for pattern in patterns_in(ast.parse(file.read_text("utf-8")))}


def patterns_in(tree):
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        literals = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if sum(map(len, literals)) >= MIN_LITERAL:
            filled = (re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in parts)
            yield re.compile("".join(filled))


def examples():
    """Those that are written down; `not_found` makes its words itself."""
    for value in vars(raising).values():
        for error in value if isinstance(value, tuple) else (value,):
            if isinstance(error, SoulgraphError) and not isinstance(error, NotFound):
                yield error.detail


def test_every_example_of_a_problem_says_what_the_code_says(said):
    unsaid = {detail for detail in examples() if not any(one.fullmatch(detail) for one in said)}
    assert unsaid == {BAD_LINE.detail}, "of which only the number is ours"
