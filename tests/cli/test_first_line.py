"""A server says that it starts before it imports what takes seconds. No clock: imports are what is waited for."""

import os
import subprocess
import sys

from soulgraph import __version__

# The first line that is written ends the process, which tells what it has imported by then.
PROGRAM = """
import os, sys

class FirstLine:
    def write(self, text):
        os.write(1, " ".join([text.strip(), "| imported:", *sorted(HEAVY & sys.modules.keys())]).encode())
        os._exit(0)

    def flush(self):
        pass

HEAVY = {"fastapi", "langgraph", "langchain_core", "sqlalchemy", "chromadb", "uvicorn", "httpx", "numpy", "matplotlib"}
sys.stdout = sys.stderr = FirstLine()
sys.argv = ["soulgraph", "serve"]
from soulgraph.cli.main import main
main()
"""


def first_line(**settings):
    env = os.environ | {f"SOULGRAPH_{name.upper()}": value for name, value in settings.items()}
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_first_line_comes_before_anything_large_is_imported(tmp_path):
    line = first_line(data_dir="souls")
    assert f"soulgraph {__version__}: starting…" in line
    assert f"data directory {tmp_path / 'souls'}, database sqlite:///souls/soulgraph.db" in line
    assert line.endswith("| imported:")


def test_the_first_line_keeps_the_password_of_the_database_to_itself():
    line = first_line(database_url="postgresql://soul:swordfish@db.example/souls")
    assert "database postgresql://***@db.example/souls" in line
    assert "swordfish" not in line


def test_a_setting_that_cannot_be_used_is_all_that_is_said():
    assert "SOULGRAPH_PORT" in first_line(port="http")
