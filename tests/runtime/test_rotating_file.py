import logging

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.runtime.rotating_file import RotatingFile, require_writable


@pytest.fixture
def logged_to():
    """Lets a file hear a logger, as the root logger of a server does; its own complaints reach it too."""
    logger, handlers = logging.getLogger("soulgraph"), []

    def add(handler):
        handlers.append(handler)
        logger.addHandler(handler)
        return logger

    yield add
    for handler in handlers:
        logger.removeHandler(handler)
        handler.close()


def test_a_log_that_cannot_be_written_says_so_once_and_again_when_it_can(tmp_path, logged_to, caplog):
    """Its own warning is offered to itself too, and must not go round in circles."""
    folder = tmp_path / "away"
    log = logged_to(RotatingFile(folder / "server.log", "the log file", 1, 1))
    for n in range(3):
        log.error("lost %d", n)
    folder.mkdir()
    log.error("kept")
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [message.partition(":")[0] for message in told] == [
        "the log file is not written",
        "the log file is written again",
    ]
    assert (folder / "server.log").read_text().splitlines() == ["kept", "the log file is written again"]


@pytest.mark.parametrize(("max_mb", "files"), [(0, 1), (100 / 2**20, 1)])
def test_at_zero_megabytes_one_file_grows_for_ever(tmp_path, max_mb, files):
    handler = RotatingFile(tmp_path / "log", "the log file", max_mb, files)
    for _ in range(50):
        handler.emit(logging.makeLogRecord({"msg": "x" * 10}))
    handler.close()
    assert len([*tmp_path.iterdir()]) == (2 if max_mb else 1)


def test_a_file_that_is_there_keeps_what_is_in_it(tmp_path):
    (tmp_path / "log").write_text("before\n")
    require_writable(tmp_path / "log", "SOULGRAPH_LOG_FILE")
    assert (tmp_path / "log").read_text() == "before\n"


def test_what_cannot_be_written_is_refused_by_the_name_of_its_setting(tmp_path):
    with pytest.raises(ConfigurationError) as refused:
        require_writable(tmp_path, "SOULGRAPH_LOG_FILE")
    assert refused.value.problem()["setting"] == "SOULGRAPH_LOG_FILE"
