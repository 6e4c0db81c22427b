"""The `soulgraph` command as people use it: real servers on free ports, the offline voice or a scripted model."""

import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from soulgraph.cli.client import Event, events
from soulgraph.cli.hosting import hosted
from soulgraph.cli.main import app
from soulgraph.library.cards.files import read_file
from soulgraph.settings import Settings
from soulgraph.tests.cli.test_models import running
from soulgraph.tests.library.cards.samples import V3, as_bytes

COMMAND = [sys.executable, "-m", "soulgraph.cli"]
STUB = Path(__file__).parents[1] / "stub_openai.py"


@pytest.fixture(autouse=True)
def no_server_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens on port 0, so a command that is given no server brings its own."""
    monkeypatch.setenv("SOULGRAPH_PORT", "0")


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A scripted model, configured; the value is where its script is posted."""
    with subprocess.Popen([sys.executable, str(STUB)], stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdout
        url = stub.stdout.readline().split()[1]
        monkeypatch.setenv("SOULGRAPH_LLM_BASE_URL", url)
        monkeypatch.setenv("SOULGRAPH_LLM_MODEL", "stub-model")
        monkeypatch.setenv("SOULGRAPH_LLM_CARRIER", "tags")
        yield url.removesuffix("/v1") + "/_script"
        stub.terminate()


def soulgraph(*arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=said)


def words(text: str) -> str:
    """The text without the layout of its tables."""
    return " ".join(text.split())


def refused(result: Result, code: int, about: str) -> bool:
    """Whether the command ended with this code and one line that names what it is about."""
    lines = result.stderr.splitlines()
    return result.exit_code == code and len(lines) == 1 and about in lines[0]


def secret_of(created: Result) -> str:
    return created.stdout.strip()


def test_the_version_is_told() -> None:
    assert re.fullmatch(r"soulgraph \d+\.\d+\.\d+\n", soulgraph("--version").stdout)


def test_a_created_soul_is_listed_and_shown() -> None:
    created = soulgraph("soul", "create", "Mira", "--mbti", "infj", "--character", "xiaoman", "--user", "ann")
    soul_id = created.stdout.split()[-1]
    assert created.exit_code == 0

    assert re.search(rf"Mira +INFJ +ann +0 +{soul_id}", soulgraph("soul", "list").stdout)
    by_name, by_id = soulgraph("soul", "show", "Mira").stdout, soulgraph("soul", "show", soul_id).stdout
    for shown in (by_name, by_id):
        assert re.search(r"empathy +█+░+ +0\.\d\d", shown)
        assert "calm · 平静" in shown
        assert "would act: probability" in shown


def test_what_the_server_refuses_is_one_line() -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    assert refused(soulgraph("soul", "create", "Mira", "--mbti", "INFJ"), 1, "already has a soul called 'Mira'")
    assert refused(soulgraph("soul", "create", "Lin", "--mbti", "XXXX"), 1, "no MBTI type")
    assert refused(soulgraph("soul", "show", "Lin"), 1, "no soul 'Lin'")


def test_a_card_comes_in_and_goes_out_as_a_picture(tmp_path: Path) -> None:
    card, picture = tmp_path / "lumen.json", tmp_path / "lumen.PNG"
    card.write_bytes(as_bytes(V3))
    with hosted(Settings.load()) as url:
        made = soulgraph("character", "import", str(card), "--server", url)
        assert words(made.stdout).startswith("Lumen is in the library: char_")
        character = made.stdout.splitlines()[0].split()[-1]
        assert soulgraph("character", "export", character, str(picture), "--server", url).exit_code == 0
        assert read_file(picture.read_bytes()) == V3
        picture.write_bytes(b"no card")
        assert refused(soulgraph("character", "import", str(picture), "--server", url), 1, "the file is no card")
        nowhere = str(tmp_path / "no folder" / "card.json")
        assert refused(soulgraph("character", "export", character, nowhere, "--server", url), 1, "cannot be written to")


def test_a_name_that_two_souls_have_must_be_an_id() -> None:
    for user in ("ann", "bob"):
        soulgraph("soul", "create", "Mira", "--mbti", "INFJ", "--user", user)
    assert refused(soulgraph("soul", "show", "Mira"), 1, "2 souls are called 'Mira'")


def test_a_server_that_was_named_is_not_replaced_by_one_of_our_own() -> None:
    assert refused(
        soulgraph("soul", "list", "--server", "http://127.0.0.1:1"), 1, "http://127.0.0.1:1 cannot be reached"
    )
    assert refused(soulgraph("soul", "list", "--server", "nonsense"), 1, "nonsense cannot be reached")


@pytest.mark.parametrize(
    ("said", "reply", "mind"),
    [
        ("hello, I am very happy today\n", r"Mira: [A-Z].+", r"(slightly|clearly) \w+ · would act \(\d+%\)"),
        ("你好，今天我很开心\n", r"Mira: .*[一-鿿].+", r"(有些|明显)\w+ · 愿意行动 \(\d+%\)"),
    ],
    ids=["en", "zh"],
)
def test_a_turn_through_a_pipe_shows_the_reply_and_the_state_of_mind(said: str, reply: str, mind: str) -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    talk = soulgraph("chat", said=said)
    assert (talk.exit_code, talk.stderr) == (0, "")
    assert re.search(rf"^{reply}\n  {mind}\n", talk.stdout, re.MULTILINE)


def test_without_a_soul_one_is_made_and_talked_to() -> None:
    talk = soulgraph("chat", said="Lin\nENFP\nhello\n/quit\nnever said\n")
    assert "There is no soul yet" in talk.stdout
    assert talk.stdout.count("Lin: ") == 1
    assert re.search(r"Lin +ENFP +default +1 ", soulgraph("soul", "list").stdout)


def test_with_several_souls_it_asks_for_one() -> None:
    for name in ("Mira", "Lin"):
        soulgraph("soul", "create", name, "--mbti", "INFJ")
    assert "Lin: " in soulgraph("chat", said="Lin\nhello\n").stdout
    assert "Mira: " in soulgraph("chat", "Mira", said="hello\n").stdout
    assert refused(soulgraph("chat", said="Nobody\nhello\n"), 1, "no soul 'Nobody'")


def test_commands_in_a_chat_show_the_mood_and_keep_the_mode_for_the_next_call() -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    talk = soulgraph("chat", said="/mode idol\nhello\n/mood\n/mode strict\n/mode loud\n/dance\n\n")
    assert re.search(r"pleasure +[+-]0\.\d{3}", talk.stdout)
    assert "strict mode for the next 20 turns" in talk.stdout
    assert "say them, then choose a mode" in talk.stderr
    assert "'rational', 'idol', 'hybrid' or 'strict'" in talk.stderr
    assert "/dance is no command" in talk.stderr

    with hosted(Settings.load()) as url:
        session = httpx.get(f"{url}/v1/sessions").json()[0]["session_id"]
        assert httpx.get(f"{url}/v1/sessions/{session}/persona-state").json()["mode"] == "strict"


@pytest.mark.parametrize(
    ("said", "shown", "pointed"),
    [
        ("hello there\n/help\n/dance\n", "how the soul feels now", "/dance is no command here: /help lists them"),
        ("你好呀\n/help\n/跳舞\n", "灵魂此刻的心情", "没有 /跳舞 这个命令：/help 会列出所有命令"),
    ],
    ids=["en", "zh"],
)
def test_help_lists_every_command_in_the_language_of_the_conversation(said: str, shown: str, pointed: str) -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    talk = soulgraph("chat", said=said)
    assert (talk.exit_code, talk.stdout.count("Mira: ")) == (0, 1)
    assert all(command in talk.stdout for command in ("/help", "/mood", "/mode NAME", "/quit", shown))
    assert pointed in talk.stderr


def test_a_conversation_with_a_character_begins_with_its_greeting_and_does_so_once() -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ", "--character", "xiaoman")
    greeting = "Mira: 你回来啦。今天过得怎么样？\n"
    for said in ("/quit\n", "hello\n"):
        assert greeting in soulgraph("chat", said=said).stdout, "until something is said, it is how the chat begins"
    again = soulgraph("chat", said="hello\n")
    assert (again.exit_code, again.stderr, greeting in again.stdout) == (0, "", False)
    soulgraph("soul", "create", "Lin", "--mbti", "INFJ")
    assert "Lin: " not in soulgraph("chat", "Lin", said="/quit\n").stdout


def test_what_a_soul_costs_is_a_table(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    assert "0 tokens today, without a limit." in soulgraph("soul", "usage", "Mira").stdout
    soulgraph("chat", said="hello\n")
    monkeypatch.setenv("SOULGRAPH_DAILY_TOKENS", "15")
    shown = soulgraph("soul", "usage", "Mira", "--days", "7").stdout
    assert re.search(r"\d{4}-\d\d-\d\d turn 1 10 5 total turn 1 10 5 ", words(shown))
    assert re.search(r"15 of 15 tokens today; background work is stopped until \S+Z\.", shown)


def test_a_soul_is_saved_as_a_character() -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    saved = soulgraph("soul", "save-as-character", "Mira", "--id", "mira_grown")
    assert saved.stdout == "Mira is in the library: mira_grown\n"


def test_tools_are_shown_and_a_problem_does_not_end_the_chat(model: str) -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    remember = {"tool_calls": [{"name": "remember", "arguments": {"fact": "likes tea"}}]}
    httpx.post(model, json=[{"status": 401, "text": "bad key"}, remember]).raise_for_status()
    talk = soulgraph("chat", said="hello\nhello again\n")
    assert "check SOULGRAPH_LLM_API_KEY" in talk.stderr
    assert len(talk.stderr.splitlines()) == 1
    assert "  remember: likes tea\nMira: I hear you.\n" in talk.stdout


def test_a_model_cannot_write_control_characters_to_the_terminal(model: str) -> None:
    soulgraph("soul", "create", "[red]Mira", "--mbti", "INFJ")
    text = "<narrative>a\x1b[2Jb [bold]c</narrative><state_update_json>{}</state_update_json>"
    httpx.post(model, json=[{"text": text}]).raise_for_status()
    assert "[red]Mira: a[2Jb [bold]c\n" in soulgraph("chat", said="hello\n").stdout


def test_bytes_that_are_no_text_are_replaced() -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    talk = CliRunner().invoke(app, ["chat"], input=b"hello \xff\xfe\n")
    assert (talk.exit_code, talk.stdout.count("Mira: "), talk.stderr) == (0, 1, "")


def test_events_survive_any_cut_and_unusual_separators() -> None:
    wire = 'event: token\ndata: {"text": "a\u2028b\u0085c"}\n\n: ping\n\nevent: done\ndata: {}\n\n'
    expected = [Event("token", {"text": "a\u2028b\u0085c"}), Event("done", {})]
    assert list(events(wire)) == list(events([wire])) == expected


def test_a_healthy_installation_passes_the_doctor() -> None:
    checked = soulgraph("doctor")
    report = words(checked.stdout)
    assert checked.exit_code == 0
    assert "SOULGRAPH_LLM_MODEL default" in report
    assert "SOULGRAPH_PORT 0 set" in report
    assert "ok database sqlite, schema up to date" in report
    assert "warning voice offline: prepared lines, no language model" in report
    assert "ok API keys none" in report


def test_the_doctor_names_a_database_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_DATABASE_URL", "postgresql://ann:hush@127.0.0.1:1/none")
    checked = soulgraph("doctor")
    assert checked.exit_code == 1
    assert "problem database SOULGRAPH_DATABASE_URL: cannot use" in words(checked.stdout)
    assert "hush" not in checked.output


def test_the_doctor_names_what_is_no_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_CORS_ORIGINS", "app.example.com")
    checked = soulgraph("doctor")
    assert (checked.exit_code, "'app.example.com' is no origin" in words(checked.stdout)) == (1, True)
    assert refused(soulgraph("serve"), 2, "SOULGRAPH_CORS_ORIGINS")


def test_the_doctor_asks_the_model_server(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_LLM_API_KEY", "sk-hush")
    healthy = soulgraph("doctor")
    assert (healthy.exit_code, "sk-hush" in healthy.output) == (0, False)
    assert "ok voice stub-model is offered" in words(healthy.stdout)

    monkeypatch.setenv("SOULGRAPH_LLM_MODEL", "another")
    missing = soulgraph("doctor")
    assert missing.exit_code == 1
    assert "has no model 'another'; SOULGRAPH_LLM_MODEL could be: stub-model" in words(missing.stdout)

    monkeypatch.setenv("SOULGRAPH_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    away = soulgraph("doctor")
    assert (away.exit_code, "check SOULGRAPH_LLM_BASE_URL" in words(away.stdout)) == (1, True)


def test_the_doctor_says_how_much_the_model_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with running("llama_cpp") as server:
        monkeypatch.setenv("SOULGRAPH_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("SOULGRAPH_LLM_MODEL", "qwen-1.5b")
        told = words(soulgraph("doctor").stdout)
        monkeypatch.setenv("SOULGRAPH_LLM_API_KEY", "sk-wrong")
        server._key = "sk-right"
        refusal = words(soulgraph("doctor").stdout)
        server._key, server.wire["answers"] = "", {}
        unlisted = words(soulgraph("doctor").stdout)
    assert "with a context of 8,192 tokens" in told
    assert "answered 401: the key is refused; check SOULGRAPH_LLM_API_KEY" in refusal
    assert "whether qwen-1.5b can be used will be seen in the first turn" in unlisted


def test_the_doctor_asks_every_service_that_is_named(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_EMBEDDINGS_MODEL", "stub-embedder")
    monkeypatch.setenv("SOULGRAPH_EMBEDDINGS_BASE_URL", os.environ["SOULGRAPH_LLM_BASE_URL"])
    healthy = words(soulgraph("doctor").stdout)
    assert "ok embeddings stub-embedder answers at" in healthy

    nowhere = "http://127.0.0.1:1"
    monkeypatch.setenv("SOULGRAPH_EMBEDDINGS_BASE_URL", f"{nowhere}/v1")
    monkeypatch.setenv("SOULGRAPH_EMOTION", "http")
    for setting in ("EMOTION_URL", "CHROMA_URL", "OTLP_ENDPOINT"):
        monkeypatch.setenv(f"SOULGRAPH_{setting}", nowhere)
    monkeypatch.setenv("SOULGRAPH_MCP", '{"clock": {"transport": "stdio", "command": "no-such-program", "args": []}}')
    monkeypatch.setenv("SOULGRAPH_MQTT_URL", "mqtt://127.0.0.1:1")
    checked = soulgraph("doctor")
    assert checked.exit_code == 1
    for trouble in (
        "problem embeddings SOULGRAPH_EMBEDDINGS_BASE_URL",
        "problem emotion the emotion service cannot be reached",
        "problem events SOULGRAPH_CHROMA_URL",
        "problem tools SOULGRAPH_MCP: the MCP server 'clock'",
        "problem traces http://127.0.0.1:1",
        "problem broker SOULGRAPH_MQTT_URL",
    ):
        assert trouble in words(checked.stdout)


def test_the_doctor_finds_every_other_trouble_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SOULGRAPH_DATA_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("SOULGRAPH_DATABASE_URL", "sqlite:///fine.db")
    monkeypatch.setenv("SOULGRAPH_PERSONA_CONFIG", "missing.yaml")
    monkeypatch.setenv("SOULGRAPH_HOST", "0.0.0.0")
    monkeypatch.setenv("SOULGRAPH_LLM_MODEL", "m")
    monkeypatch.setenv("SOULGRAPH_LLM_MODLE", "m")
    report = words(soulgraph("doctor").stdout)
    for trouble in (
        "warning settings SOULGRAPH_LLM_MODLE",
        "set SOULGRAPH_DATA_DIR",
        "problem persona SOULGRAPH_PERSONA_CONFIG",
        "problem API keys none, so SOULGRAPH_HOST=0.0.0.0",
        "problem voice SOULGRAPH_LLM_API_KEY",
    ):
        assert trouble in report


def test_a_public_address_without_a_key_is_not_served() -> None:
    assert refused(soulgraph("serve", "--host", "0.0.0.0"), 2, "SOULGRAPH_HOST: 0.0.0.0 can be reached from outside")


def test_half_a_model_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    assert refused(soulgraph("serve"), 2, "SOULGRAPH_LLM_MODEL")
    assert refused(soulgraph("chat"), 2, "SOULGRAPH_LLM_MODEL")


def test_an_address_that_cannot_be_listened_on_names_its_setting(busy_port: int) -> None:
    assert refused(soulgraph("serve", "--port", str(busy_port)), 2, "SOULGRAPH_PORT: cannot listen on 127.0.0.1:")
    assert refused(soulgraph("serve", "--host", "203.0.113.1"), 2, "SOULGRAPH_HOST: cannot listen on 203.0.113.1:0")
    assert refused(soulgraph("serve", "--port", "70000"), 2, "SOULGRAPH_PORT")


def test_another_program_on_the_port_is_not_mistaken_for_a_server(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_PORT", str(httpx.URL(model).port))
    assert refused(soulgraph("soul", "list"), 2, "SOULGRAPH_PORT: another program answers")


def test_a_key_opens_the_server_until_it_is_revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    owner = soulgraph("key", "create", "mine", "--scope", "owner")
    phone_key = soulgraph("key", "create", "phone", "--scope", "chat")
    chatter = secret_of(phone_key)
    assert "asks everybody for a key" in owner.stderr.replace("\n", " ").replace("  ", " ")
    assert "asks everybody" not in phone_key.stderr

    with hosted(Settings.load()) as url:
        chat = ("chat", "Mira", "--server", url)
        assert refused(soulgraph(*chat, said="hello\n"), 1, "SOULGRAPH_API_KEY")
        monkeypatch.setenv("SOULGRAPH_API_KEY", chatter)
        assert "Mira: " in soulgraph(*chat, said="hello\n").stdout
        assert refused(soulgraph("soul", "create", "Lin", "--mbti", "INFJ", "--server", url), 1, "scope `chat`")

        listed = soulgraph("key", "list").stdout
        phone = re.search(r"(\w{8}) +phone +chat", listed)
        assert phone and chatter not in listed
        assert soulgraph("key", "revoke", phone[1]).stderr == ""
        assert refused(soulgraph(*chat, said="hello\n"), 1, "unknown or revoked")
        assert refused(soulgraph("key", "revoke", phone[1]), 1, f"no key '{phone[1]}'")
        monkeypatch.setenv("SOULGRAPH_API_KEY", secret_of(owner))
        assert soulgraph("soul", "create", "Lin", "--mbti", "INFJ", "--server", url).exit_code == 0


def test_revoking_the_last_key_is_said_to_refuse_everybody() -> None:
    soulgraph("key", "create", "mine", "--scope", "owner")
    key_id = re.findall(r"(\w{8}) +mine", soulgraph("key", "list").stdout)[0]
    told = " ".join(soulgraph("key", "revoke", key_id).stderr.split())
    assert "No key is left: the server refuses everybody now." in told
    assert "`soulgraph key create NAME --scope owner` makes one" in told
    assert "problem API keys all are revoked" in " ".join(soulgraph("doctor").stdout.split())


def test_a_key_of_a_person_and_a_soul_chats_as_that_person(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Mira", "Nova"):
        soulgraph("soul", "create", name, "--mbti", "INFJ")
    owner = secret_of(soulgraph("key", "create", "mine", "--scope", "owner"))
    ann = secret_of(soulgraph("key", "create", "phone", "--scope", "chat", "--user", "ann", "--soul", "Mira"))
    soulgraph("key", "create", "site", "--scope", "chat", "--user", "*")
    listed = soulgraph("key", "list").stdout
    assert re.search(r"phone +chat +ann +Mira", listed)
    assert re.search(r"site +chat +anybody", listed)
    with hosted(Settings.load()) as url:
        monkeypatch.setenv("SOULGRAPH_API_KEY", ann)
        assert "Mira: " in soulgraph("chat", "Mira", "--server", url, said="hello\n").stdout
        assert refused(soulgraph("chat", "Nova", "--server", url), 1, "no soul 'Nova'")
        monkeypatch.setenv("SOULGRAPH_API_KEY", owner)
        assert "Mira: " in soulgraph("chat", "Mira", "--server", url, said="hello\n").stdout
        sessions = httpx.get(f"{url}/v1/sessions", headers={"Authorization": f"Bearer {owner}"}).json()
        assert sorted(one["user_id"] for one in sessions) == ["ann", "default"]


def test_a_key_that_would_make_no_sense_is_refused() -> None:
    create = ("key", "create", "x", "--scope")
    assert refused(soulgraph(*create, "owner", "--user", "ann"), 1, "acts for anybody: leave --user out")
    assert refused(soulgraph(*create, "chat", "--user", "has spaces"), 1, "'has spaces' is no id")
    assert refused(soulgraph(*create, "chat", "--soul", "Nobody"), 1, "no soul 'Nobody'")
    for user in ("ann", "bob"):
        soulgraph("soul", "create", "Mira", "--mbti", "INFJ", "--user", user)
    assert refused(soulgraph(*create, "chat", "--soul", "Mira"), 1, "2 souls are called 'Mira': use an id")


def test_serve_tells_its_address_serves_it_and_stops_quietly() -> None:
    quiet = {**os.environ, "SOULGRAPH_LOG_LEVEL": "warning"}
    with subprocess.Popen(
        [*COMMAND, "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=quiet
    ) as server:
        assert server.stdout and server.stderr
        url = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
        assert url
        assert httpx.get(f"{url[0]}/docs").status_code == 200
        talk = soulgraph("chat", "--server", url[0], said="Lin\nENFP\nhello\n")
        assert "Lin: " in talk.stdout
        server.send_signal(signal.SIGINT)
        assert (server.wait(10), server.stderr.read()) == (0, "")


def test_people_are_prompted_and_leave_with_ctrl_d() -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    terminal, screen = pty.openpty()
    with hosted(Settings.load()) as url:
        chat = subprocess.Popen([*COMMAND, "chat", "--server", url], stdin=screen, stdout=screen, stderr=screen)
        os.close(screen)
        _read_until(terminal, "› ")
        os.write(terminal, b"hello\n")
        assert "would act" in _read_until(terminal, "› ")
        os.write(terminal, b"\x04")
        _read_until(terminal, "Goodbye.")
        assert chat.wait(10) == 0
    os.close(terminal)


def _read_until(terminal: int, mark: str) -> str:
    seen = b""
    while mark.encode() not in seen:
        seen += os.read(terminal, 4096)
    return seen.decode()
