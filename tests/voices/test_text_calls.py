"""Calls written as text are understood when all of it is calls that can be made, and prose stays prose."""

import json

import pytest

from soulgraph.voices.text_calls import MAX_CALLS, MAX_CHARS, read_calls


def function(name, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": schema}}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
TOOLS = [
    function("remember", ["fact"], fact=TEXT),
    function("recall_memory", ["query"], query=TEXT),
    function("note", ["text"], text=TEXT, replace={"type": "boolean"}),
    function("wave"),
    function(
        "lamp",
        ["level"],
        level={"type": "integer", "minimum": 0, "maximum": 100},
        colour={"enum": ["warm", "cold"]},
        rooms={"type": "array", "items": TEXT},
        fade={"type": "object", "properties": {"seconds": WHOLE}, "required": ["seconds"]},
    ),
]
TEA, RAIN = ("remember", {"fact": "likes tea"}), ("remember", {"fact": "林岚喜欢下雨"})
TEA_JSON = '{"name": "remember", "arguments": {"fact": "likes tea"}}'
RAIN_JSON = '{"name": "remember", "arguments": {"fact": "林岚喜欢下雨"}}'
WAVE = ("wave", {})


def read(text):
    return [(call["name"], call["args"]) for call in read_calls(text, TOOLS)]


CALLS = {
    TEA_JSON: [TEA],
    RAIN_JSON: [RAIN],
    f"  \n{TEA_JSON}\n ": [TEA],
    '{"name": "remember", "parameters": {"fact": "likes tea"}}': [TEA],
    '{"name": "remember", "args": {"fact": "likes tea"}}': [TEA],
    '{"tool": "remember", "arguments": {"fact": "likes tea"}}': [TEA],
    '{"tool_name": "remember", "input": {"fact": "likes tea"}}': [TEA],
    '{"function": "remember", "arguments": {"fact": "likes tea"}}': [TEA],
    '{"type": "function", "name": "remember", "parameters": {"fact": "likes tea"}}': [TEA],
    '{"function": {"name": "remember", "arguments": "{\\"fact\\": \\"likes tea\\"}"}}': [TEA],
    '{"id": "c1", "type": "function", "function": {"name": "remember", "arguments": {"fact": "likes tea"}}}': [TEA],
    '{"tool_calls": [{"function": {"name": "remember", "arguments": "{\\"fact\\": \\"likes tea\\"}"}}]}': [TEA],
    f'{{"tool_calls": [{TEA_JSON}, {RAIN_JSON}]}}': [TEA, RAIN],
    f"[{TEA_JSON}, {RAIN_JSON}]": [TEA, RAIN],
    f"{TEA_JSON}\n{RAIN_JSON}": [TEA, RAIN],
    f"{TEA_JSON}; {RAIN_JSON}": [TEA, RAIN],
    f"{TEA_JSON},{RAIN_JSON},": [TEA, RAIN],
    f"```json\n{TEA_JSON}\n```": [TEA],
    f"```JSON\n{TEA_JSON}\n```": [TEA],
    f"```\n{RAIN_JSON}\n```": [RAIN],
    f"```json\n{TEA_JSON}\n```\n```json\n{RAIN_JSON}\n```": [TEA, RAIN],
    f"```tool_call\n{TEA_JSON}\n```": [TEA],
    '```python\nremember(fact="likes tea")\n```': [TEA],
    f"<tool_call>\n{TEA_JSON}\n</tool_call>": [TEA],
    f"<tool_call>{TEA_JSON}</tool_call>\n<tool_call>{RAIN_JSON}</tool_call>": [TEA, RAIN],
    f"<tool_call>\n{RAIN_JSON}": [RAIN],
    f"<tool_calls>[{TEA_JSON}]</tool_calls>": [TEA],
    f"```xml\n<tool_call>{TEA_JSON}</tool_call>\n```": [],
    f"<|python_tag|>{TEA_JSON}<|eom_id|>": [TEA],
    '<|python_tag|>remember(fact="likes tea")': [TEA],
    f"[TOOL_CALLS][{TEA_JSON}]</s>": [TEA],
    f"[TOOL_CALLS] [{TEA_JSON}, {RAIN_JSON}]": [TEA, RAIN],
    '<function=remember>{"fact": "likes tea"}</function>': [TEA],
    '<function=remember>{"fact": "likes tea"}</function><function=wave>{}</function>': [TEA, WAVE],
    '<tool_call><function=remember>{"fact": "likes tea"}</function></tool_call>': [TEA],
    'remember({"fact": "likes tea"})': [TEA],
    'remember(fact="likes tea")': [TEA],
    "remember(fact='林岚喜欢下雨')": [RAIN],
    'note({"text": "ask again", "replace": true})': [("note", {"text": "ask again", "replace": True})],
    'note(text="ask again", replace=True)': [("note", {"text": "ask again", "replace": True})],
    "wave()": [WAVE],
    '{"name": "wave"}': [WAVE],
    '{"name": "wave", "arguments": {}}': [WAVE],
    '{"name": "lamp", "arguments": {"level": 40, "rooms": ["厨房"], "fade": {"seconds": 2}}}': [
        ("lamp", {"level": 40, "rooms": ["厨房"], "fade": {"seconds": 2}})
    ],
    '{"name": "remember", "arguments": {"fact": "says \\"}</tool_call>\\" a lot"}}': [
        ("remember", {"fact": 'says "}</tool_call>" a lot'})
    ],
}


@pytest.mark.parametrize("text", CALLS)
def test_a_text_that_is_calls_is_read(text):
    assert read(text) == CALLS[text]


DEEP = '{"fade": ' * 900
NO_CALLS = [
    "",
    " \n",
    "Hello! How are you?",
    "你好，我记住了。",
    "I will remember that you like tea.",
    "我用 remember 记住了这件事。",
    'I call remember(fact="likes tea") now.',
    'remember(fact="likes tea") is what I would call.',
    f"Sure! {TEA_JSON}",
    f"{TEA_JSON} I have noted it.",
    f"好的：{RAIN_JSON}",
    f"Here is an example:\n```json\n{TEA_JSON}\n```",
    f"```json\n{TEA_JSON}\n```\nDone.",
    f"<tool_call>{TEA_JSON}</tool_call> and so on",
    '{"name": "fly", "arguments": {}}',
    '{"name": "Remember", "arguments": {"fact": "likes tea"}}',
    '{"name": "remember"}',
    '{"name": "remember", "arguments": {}}',
    '{"name": "remember", "arguments": {"fact": 7}}',
    '{"name": "remember", "arguments": {"fact": null}}',
    '{"name": "remember", "arguments": ["likes tea"]}',
    '{"name": "remember", "arguments": "likes tea"}',
    '{"name": "remember", "arguments": {"fact": "likes tea", "mood": "happy"}}',
    '{"name": "remember", "arguments": {"fact": "likes tea"}, "reply": "Noted!"}',
    '{"name": ["remember"], "arguments": {"fact": "likes tea"}}',
    '{"name": "lamp", "arguments": {"level": 400}}',
    '{"name": "lamp", "arguments": {"level": "bright"}}',
    '{"name": "lamp", "arguments": {"level": NaN}}',
    '{"name": "lamp", "arguments": {"level": 4, "colour": "green"}}',
    '{"name": "lamp", "arguments": {"level": 4, "fade": {}}}',
    '{"name": "remember", "arguments": {"fact": "likes tea"}',
    '{"name": "remember", "arguments": {"fact": "likes tea}}',
    "{'name': 'remember', 'arguments': {'fact': 'likes tea'}}",
    f"{TEA_JSON}\n" + '{"name": "fly", "arguments": {}}',
    '{"inner_state": "I feel calm"}',
    '{"tool_calls": []}',
    "[]",
    "[1, 2]",
    "{}",
    "42",
    "<tool_call></tool_call>",
    "<tool_call>remember</tool_call>",
    "<function=fly>{}</function>",
    "<function=remember>likes tea</function>",
    "[TOOL_CALLS]",
    "[TOOL_CALLS] remember it",
    "```json\n```",
    "```python\nprint('remember')\n```",
    "remember(",
    "remember()",
    'remember("likes tea")',
    'remember(fact=open("x").read())',
    'remember(fact="a", **{})',
    'remember(fact="a"); wave()',
    'remember(fact="a")(1)',
    "wave(" + "(" * 500 + ")" * 500 + ")",
    f'{{"name": "lamp", "arguments": {DEEP}',
    "[" * 5000,
    json.dumps({"name": "remember", "arguments": {"fact": "a" * MAX_CHARS}}),
    "[" + ", ".join(['{"name": "wave"}'] * (MAX_CALLS + 1)) + "]",
]


@pytest.mark.parametrize("text", NO_CALLS, ids=lambda text: text[:50])
def test_anything_else_is_none(text):
    assert read(text) == []


def test_without_tools_nothing_is_a_call():
    assert read_calls(TEA_JSON, []) == []


def test_calls_of_one_text_have_ids_of_their_own_and_are_what_langchain_expects():
    first, second = read_calls(f"{TEA_JSON}{TEA_JSON}", TOOLS)
    assert first["id"] != second["id"]
    assert first["type"] == "tool_call"


def test_a_slow_pattern_and_a_schema_from_elsewhere_cost_nothing():
    slow = function("slow", ["it"], it={"type": "string", "pattern": "^(a+)+$"})
    away = function("away", ["it"], it={"$ref": "http://127.0.0.1:1/schema.json"})
    assert len(read_calls('{"name": "slow", "arguments": {"it": "' + "a" * 60 + '!"}}', [slow])) == 1
    assert read_calls('{"name": "away", "arguments": {"it": "x"}}', [away]) == []
