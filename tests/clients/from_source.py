"""Recordings of programs that cannot be run here, written as their source sends.

To write them: `python -m soulgraph.tests.clients.from_source`. Each program is a function that makes the request for a
history; what people do with it is the same for all.
"""

import json
from collections.abc import Callable
from typing import Any

from soulgraph.tests.clients.live.scenarios import SCENARIOS, Scenario
from soulgraph.tests.clients.replay import RECORDED

Message = dict[str, Any]
Build = Callable[[list[Message]], dict[str, Any]]
REPLIES = (
    "The harbour smells of rain today, and I like that.",
    "I would have waited for you at the lighthouse, you know.",
    "A gull took half of my sandwich, so I am a little cross.",
    "Let us walk slowly; the evening has no hurry either.",
)
SEEN = "I would have waited for"


def librechat(history: list[Message]) -> dict[str, Any]:
    """By LangChain's OpenAI client: usage in the stream, and as `user` the id of an account."""
    streaming = {"stream": True, "stream_options": {"include_usage": True}}
    return {"model": "soul:Mo", "user": "67f0aa01c3b2d4e5f6071829", **streaming, "messages": history}


def airi(history: list[Message]) -> dict[str, Any]:
    """From the browser: what its modules tell is a message of the user's, and its replies have fields of their own."""
    system = "- For any programming code block, always specify the programming language.\nYou are Mo."
    known = {"role": "user", "content": [{"type": "text", "text": AIRI_CONTEXT}]}
    shown = [{**one, "tool_results": []} if one["role"] == "assistant" else one for one in history]
    tools = [{"type": "function", "function": {"name": "mcp_list_tools", "parameters": {"type": "object"}}}]
    messages = [{"role": "system", "content": system}, known, *shown]
    return {"model": "soul:Mo", "stream": True, "tools": tools, "messages": messages}


AIRI_CONTEXT = (
    "These are the contextual information retrieved or on-demand updated from other modules, you may use them as "
    "context for chat, or reference of the next action, tool call, etc.:\n"
    'Module system:minecraft: [{"contextId":"1","strategy":"replace-self","text":"Not in a game."}]\n'
)


def open_llm_vtuber(history: list[Message]) -> dict[str, Any]:
    """A stop is told as a message of the user's, and what was heard of the reply ends with three dots."""
    told: list[Message] = []
    for one in history:
        if one.get("stopped"):
            told += [{"role": "assistant", "content": f"{one['content']}..."}, {"role": "user", "content": INTERRUPTED}]
        else:
            told.append(one)
    persona = "You are Mo.\n\nIf you received `[interrupted by user]` signal, you were interrupted."
    system = {"role": "system", "content": persona}
    return {"model": "soul:Mo", "stream": True, "temperature": 1.0, "messages": [system, *told]}


INTERRUPTED = "[Interrupted by user]"


def xiaozhi(history: list[Message]) -> dict[str, Any]:
    """What changes with every request is a message of the user's in front of what was said."""
    minute = 10 + len(history)
    now = f"当前时间：20:{minute}\n<memory>\nuser养了一只叫豆豆的狗。\n</memory>"
    context = "<context>\n- 今天日期：2026-11-18（星期三）\n- 用户所在城市：上海\n</context>"
    front = [("system", "<identity>\n你是Mo，守着一座灯塔。\n</identity>"), ("system", context), ("user", now)]
    messages = [{"role": role, "content": content} for role, content in front]
    numbers = {"max_tokens": 500, "temperature": 0.7, "top_p": 1.0, "frequency_penalty": 0}
    return {"model": "soul:Mo", "stream": True, **numbers, "messages": [*messages, *history]}


def librechat_title(history: list[Message]) -> dict[str, Any]:
    asked = (
        "Provide a concise, 5-word-or-less title for the conversation, using its same language, with no punctuation. "
        "Apply title case conventions appropriate for the language. Never directly mention the language name or the "
        f'word "title" and only return the title itself.\n\nConversation:\nUser: {history[0]["content"]}\n'
        f"AI: {history[1]['content']}"
    )
    return {"model": "soul:Mo", "stream": False, "messages": [{"role": "user", "content": asked}]}


def xiaozhi_memory(history: list[Message]) -> dict[str, Any]:
    """When the device goes: also what is not streamed to it is asked for as a stream."""
    rules = "7、只需要返回总结摘要，严格控制在1800字内"
    system = f"\n你是一个经验丰富的记忆总结者，擅长将对话内容进行总结摘要，遵循以下规则：\n{rules}\n"
    talk = "".join(f"{one['role'].capitalize()}: {one['content']}\n" for one in history)
    asked = f"{talk}当前时间：2026-11-18 20:30:00"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": asked}]
    return {"model": "soul:Mo", "stream": True, "max_tokens": 2000, "temperature": 0.2, "messages": messages}


PROGRAMS: dict[str, tuple[str, str, Build, Build | None, frozenset[str]]] = {
    "librechat": (
        "LibreChat",
        "",
        librechat,
        librechat_title,
        frozenset(("chat", "regenerate", "edit", "all", "stop", "new_chat")),
    ),
    "airi": ("AIRI", "005fee3", airi, None, frozenset(("chat", "new_chat"))),
    "open-llm-vtuber": ("Open-LLM-VTuber", "f819f08", open_llm_vtuber, None, frozenset(("chat", "stop", "new_chat"))),
    "xiaozhi": ("xiaozhi-esp32-server", "346b78b", xiaozhi, xiaozhi_memory, frozenset(("chat", "stop", "new_chat"))),
}
HEADERS = {"airi": {"origin": "http://localhost:5173"}}
_TITLE_COMES_FIRST = ("librechat",)


def play(name: str, scenario: Scenario) -> list[dict[str, Any]]:
    """The requests of one scenario, in their order."""
    _, _, build, task, _ = PROGRAMS[name]
    headers = HEADERS.get(name, {})
    history: list[Message] = []
    exchanges: list[dict[str, Any]] = []
    for step in scenario.steps:
        if step.action == "new chat":
            history = []
            continue
        if step.action == "regenerate":
            history = history[:-1]
        elif step.action == "edit":
            history = [*history[:-2], {"role": "user", "content": step.text}]
        else:
            history = [*history, {"role": "user", "content": step.text}]
        stopped = step.action == "stop"
        said = REPLIES[len(exchanges) % len(REPLIES)] if not stopped else SEEN
        exchanges.append(_exchange(step.action, build(history), said, headers, whole=not stopped))
        history = [*history, {"role": "assistant", "content": said, **({"stopped": True} if stopped else {})}]
        if task and name in _TITLE_COMES_FIRST and len(history) == 2:
            exchanges.append(_exchange("title", task(history), "A Walk by the Sea", headers, task=True))
    if task and name not in _TITLE_COMES_FIRST:
        exchanges.append(_exchange("memory", task(history), "user今天爬了楼梯。", headers, task=True))
    return exchanges


def _exchange(
    step: str, body: dict[str, Any], said: str, headers: dict[str, str], whole: bool = True, task: bool = False
) -> dict[str, Any]:
    without_marks = [{key: value for key, value in one.items() if key != "stopped"} for one in body["messages"]]
    sent = {"method": "POST", "path": "/v1/chat/completions", "headers": headers}
    request = {**sent, "body": {**body, "messages": without_marks}}
    reply = {"status": 200, "text": said, "whole": whole}
    return {"step": step, "request": request, "reply": reply, **({"task": True} if task else {})}


def main() -> None:
    for name, (program, version, _, _, names) in PROGRAMS.items():
        (RECORDED / name).mkdir(parents=True, exist_ok=True)
        for scenario in SCENARIOS:
            if scenario.name not in names:
                continue
            told = {"program": program, "version": version, "recorded": "from source", "scenario": scenario.name}
            fixture = {**told, "expected": scenario.outcome.as_json(), "exchanges": play(name, scenario)}
            path = RECORDED / name / f"{scenario.name}.json"
            path.write_text(json.dumps(fixture, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
