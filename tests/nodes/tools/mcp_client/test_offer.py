"""Listed tools, each judged by itself."""

import pytest

from soulgraph.nodes.tools.mcp_client.offer import offer

LOOK = {"name": "look", "description": "Look.", "inputSchema": {"type": "object", "properties": {}}}


async def call(request, handler):
    raise AssertionError("nothing is called here")


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "bad"},
        {"name": "bad", "inputSchema": "none"},
        {"name": "bad", "inputSchema": {"type": "array"}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"n": {"type": "whole-number"}}}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": []}},
        {"inputSchema": {"type": "object"}},
        "bad",
        None,
    ],
)
def test_a_bad_tool_costs_none_of_the_others(bad):
    offered = offer([bad, LOOK], "room", call)
    assert [tool.name for tool in offered.tools] == ["look"]
    assert [*offered.left_out] == ["bad" if isinstance(bad, dict) and "name" in bad else "without a name"]
    assert all(offered.left_out.values())


def test_what_only_looks_is_not_gated_and_a_name_is_made_callable():
    listed = [{**LOOK, "annotations": {"readOnlyHint": True}}, {**LOOK, "name": "files.read/" + "x" * 80}]
    look, read = offer(listed, "room", call).tools
    assert (look.metadata.get("gated"), read.metadata["gated"]) == (None, True)
    assert read.name == ("files_read_" + "x" * 80)[:64]


def test_a_schema_without_properties_gets_them():
    [tool] = offer([{"name": "look", "inputSchema": {"type": "object"}}], "room", call).tools
    assert tool.args_schema == {"type": "object", "properties": {}}
