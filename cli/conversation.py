"""A chat with a soul in a terminal or through a pipe: prints its reply as it arrives, and its mood."""

import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b

from rich.console import Console
from rich.table import Table

from soulgraph.cli.client import Event, Json, SoulClient
from soulgraph.cli.plain_errors import plain_error
from soulgraph.cli.thinking import Thinking
from soulgraph.errors import NotFound, RequestError, SoulgraphError
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.language import Lang, lang_of
from soulgraph.soul.mood import describe

with suppress(ImportError):  # there is no readline on Windows
    import readline  # noqa: F401  lets people edit what they type to `input`

# Without markup: the words of souls and people are printed as they are.
console = Console(markup=False, emoji=False, highlight=False)
errors = Console(markup=False, emoji=False, highlight=False, stderr=True)

_GATE_WORDS: dict[Lang, dict[str, str]] = {
    "en": {"auto_execute": "would act", "blocked": "would not act"},
    "zh": {"auto_execute": "愿意行动", "blocked": "不愿行动"},
}
_COMMANDS: dict[Lang, dict[str, str]] = {
    "en": {
        "/help": "this list",
        "/mood": "how the soul feels now, in numbers, and whether it would act",
        "/mode NAME": "how it speaks from now on: rational, idol, hybrid or strict",
        "/quit": "end the conversation; Ctrl-D and Ctrl-C do it too",
    },
    "zh": {
        "/help": "这个列表",
        "/mood": "灵魂此刻的心情（数值），以及它愿不愿意行动",
        "/mode NAME": "接下来用哪种方式说话：rational、idol、hybrid 或 strict",
        "/quit": "结束对话；Ctrl-D 和 Ctrl-C 也可以",
    },
}
_SAID_TO_THE_SOUL: dict[Lang, str] = {
    "en": "Everything else is said to the soul.",
    "zh": "其他的话都会说给灵魂听。",
}
_UNKNOWN_COMMAND: dict[Lang, str] = {
    "en": "{command} is no command here: /help lists them",
    "zh": "没有 {command} 这个命令：/help 会列出所有命令",
}
_AXES = {"p": "pleasure", "a": "arousal", "d": "dominance"}
_CONTROL_CHARACTERS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")})


class Conversation:
    """One person and one soul in one session, which the next call of the command continues."""

    def __init__(self, client: SoulClient, soul: Json, person: str | None = None) -> None:
        """`person` is who talks; None: whose soul it is."""
        self._client = client
        self._soul = soul if person is None else {**soul, "user_id": person}
        self._session_id = _session_id(soul["soul_id"], person)
        self._mid_line = False
        self._lang: Lang = lang_of(soul["name"])
        self._thinking = Thinking(console, strip_controls(soul["name"]))

    def run(self) -> None:
        """Read and handle lines until `/quit`. An error is printed, and the conversation goes on."""
        console.print(f"{self._soul['name']} is listening. Commands: /help, /mood, /mode NAME, /quit", style="dim")
        self._try(self._greet)
        while (line := read_line("› ")) != "/quit":
            self._try(self._handle_line, line)

    def _try(self, action: Callable[..., None], *arguments: str) -> None:
        try:
            action(*arguments)
        except SoulgraphError as error:
            self._end_line()
            print_error(error)

    def _greet(self) -> None:
        """Print the greeting of the soul's character, unless the session has had turns already."""
        if self._soul["character_id"] is None:
            return
        session = self._client.open_session(self._soul, self._session_id)
        if session["greeting"] and session["turn"] == 0:
            self._print_reply(session["greeting"])
            self._end_line()

    def _handle_line(self, line: str) -> None:
        match line.split():
            case []:
                pass
            case ["/help" | "/?" | "/帮助", *_]:
                console.print(help_text(self._lang))
            case ["/mood"]:
                console.print(emotion_table(self._client.emotion(self._soul["soul_id"])))
            case ["/mode", mode]:
                self._change_mode(mode)
            case [command, *_] if command.startswith("/"):
                raise SoulgraphError(_UNKNOWN_COMMAND[self._lang].format(command=command))
            case _:
                self._send(line)

    def _change_mode(self, mode: str) -> None:
        try:
            state = self._client.choose_mode(self._session_id, mode)
        except RequestError as error:
            if error.extra["code"] != NotFound.code:
                raise
            raise RequestError("the conversation begins with your first words: say them, then choose a mode") from error
        self._print_note(f"{state['mode']} mode for the next {state['ttl_turns']} turns")

    def _send(self, text: str) -> None:
        last = ""
        self._lang = lang_of(text)
        self._thinking.begin(self._lang)
        try:
            for event in self._client.chat(self._soul, self._session_id, text):
                self._show_event(event)
                last = event.name
        finally:
            self._thinking.hide()
        if last != "done":
            raise SoulgraphError("the server stopped in the middle of the turn")

    def _show_event(self, event: Event) -> None:
        match event.name, event.data:
            case "token", {"text": words}:
                self._print_reply(words)
            case "tool", {"name": name, "arguments": arguments}:
                self._print_note(f"{name}: {', '.join(map(str, arguments.values()))}")
                self._thinking.show()
            case "intent_action", {"intents": intents}:
                self._print_note(f"does: {', '.join(intent['intent_name'] for intent in intents)}")
                self._thinking.show()
            case "done", answer:
                self._lang = lang_of(answer["reply"])
                self._print_note(mood_line(answer))
            case "error", problem:
                raise SoulgraphError(plain_error(problem, self._soul["name"]))

    def _print_reply(self, words: str) -> None:
        """Print a piece of the reply, after the soul's name if it is the first."""
        self._thinking.hide()
        if not self._mid_line:
            console.print(f"{self._soul['name']}: ", style="bold", end="")
            words = words.lstrip("\n")
        self._mid_line = True
        console.out(strip_controls(words), end="")

    def _print_note(self, note: str) -> None:
        self._thinking.hide()
        self._end_line()
        console.print(f"  {strip_controls(note)}", style="dim", soft_wrap=True)

    def _end_line(self) -> None:
        """End the line of a reply that is being printed."""
        if self._mid_line:
            console.print()
        self._mid_line = False


def help_text(lang: Lang) -> Table:
    """Every command of the chat, in the language of the conversation."""
    table = Table.grid(padding=(0, 2))
    for command, does in _COMMANDS[lang].items():
        table.add_row(command, does)
    table.add_row("", _SAID_TO_THE_SOUL[lang])
    return table


def mood_line(answer: Json) -> str:
    """The mood and the gate, like "slightly pleased · would act (82%)", in the language of the reply."""
    lang = lang_of(answer["reply"])
    mood = describe(EmotionState.from_dict(answer["soul_emotion"]), lang)
    return f"{mood} · {_GATE_WORDS[lang][answer['exec_mode']]} ({answer['exec_probability']:.0%})"


def emotion_table(emotion: Json) -> Table:
    """The whole emotional state, the gate and its threshold."""
    state, gate = emotion["soul_emotion"], emotion["gate"]
    acts = _GATE_WORDS["en"][gate["exec_mode"]]
    table = Table.grid(padding=(0, 2))
    table.add_row("mood", f"{emotion['mood']['en']} · {emotion['mood']['zh']}")
    table.add_row("gate", f"{acts}: probability {gate['exec_probability']:.2f}, threshold {gate['threshold']:.2f}")
    if gate["locked"]:
        table.add_row("lock", f"opens in {gate['lock_remaining_s']:.0f} s")
    for name in ("p", "a", "d", "boredom", "shock_load", "extreme_memory"):
        table.add_row(_AXES.get(name, name.replace("_", " ")), f"{state[name]:+.3f}")
    return table


def read_line(prompt: str) -> str:
    """The next line of input; the prompt is printed only to a terminal."""
    return input(prompt if sys.stdin.isatty() else "").strip()


def choose_soul(client: SoulClient) -> Json:
    """The only soul; the user is asked which if there are several, and to make one if there is none."""
    souls = client.souls()
    if not souls:
        console.print("There is no soul yet. What shall it be called, and which MBTI type is it (like INFJ)?")
        name = read_line("name: ")
        return client.create_soul(name, read_line("type: "))
    if len(souls) > 1:
        console.print(f"Which soul: {', '.join(soul['name'] for soul in souls)}?")
        return client.soul(read_line("name: "))
    return souls[0]


def print_error(error: SoulgraphError) -> None:
    errors.print(f"soulgraph: {strip_controls(' '.join(error.detail.split()))}", style="red", soft_wrap=True)


def strip_controls(text: str) -> str:
    """The text without control characters, with which a model could rewrite the screen."""
    return text.translate(_CONTROL_CHARACTERS)


def _session_id(soul_id: str, person: str | None) -> str:
    """Everybody's own; the id of a person is too long to be a part of it."""
    own = f":{blake2b(person.encode(), digest_size=8).hexdigest()}" if person else ""
    return f"cli:{soul_id}{own}"
