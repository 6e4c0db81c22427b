"""No number and no text in a path or a query is too much for the server, whatever the endpoint."""

import re
from urllib.parse import quote

import pytest

from soulgraph.tests.api.scenario import LAST, example_of, living
from soulgraph.tests.declared import description, resolved

NUMBERS = [f"{sign}{number}" for number in (2**31, 2**53, 2**63, 2**64, 10**30) for sign in ("", "-")] + ["-1", "1e9"]
# NUL, half of a surrogate pair, a byte that is no UTF-8, ends of lines, nothing but dots, too long, Arabic digits.
TEXTS = ["a%00b", "%ED%A0%80", "%FF", "a%E2%80%A8b", "%0A", "%2E%2E", "x" * 5000, "%D9%A1"]


def requests():
    """Every endpoint with one extreme value in one of its parameters, and examples in the others."""
    for path, operations in description()["paths"].items():
        for method, operation in operations.items():
            parameters = [one for one in operation.get("parameters", ()) if one["in"] in ("path", "query")]
            for parameter in parameters:
                kinds = [resolved(kind) for kind in parameter["schema"].get("anyOf", [parameter["schema"]])]
                is_number = any(kind.get("type") in ("integer", "number") for kind in kinds)
                for value in NUMBERS + TEXTS if is_number else TEXTS:
                    yield f"{method.upper()} {path}", operation, address(path, parameters, parameter, value)


def address(path, parameters, extreme, value):
    def text_of(parameter):
        return value if parameter is extreme else quote(str(example_of(parameter)), safe="")

    named = {one["name"]: one for one in parameters if one["in"] == "path"}
    query = [one for one in parameters if one["in"] == "query" and (one is extreme or one["required"])]
    where = re.sub(r"\{(\w+)\}", lambda found: text_of(named[found[1]]), path)
    return where + "?" * bool(query) + "&".join(f"{one['name']}={text_of(one)}" for one in query)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_no_value_of_a_parameter_is_a_failure_of_ours(tmp_path, method):
    failed = {}
    async with living(tmp_path) as scenario:
        await scenario.make()
        for call, operation, where in requests():
            if call.startswith(f"{method} ") and call not in LAST:
                status = await status_of(scenario, call, operation, where)
                if status >= 500:
                    failed[call, where] = status
    assert failed == {}


async def status_of(scenario, call, operation, where):
    content, headers = await scenario.body(call, operation, {})
    method = call.partition(" ")[0]
    async with scenario.client.stream(method, scenario.real(where), content=content, headers=headers) as answer:
        return answer.status_code
