"""How a server is reached, as its settings say."""

import pytest

from soulgraph.nodes.tools.mcp_client.failures import ServerFailure
from soulgraph.nodes.tools.mcp_client.wire import Ending, reach


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ({"transport": "pigeon"}, "no transport 'pigeon'"),
        ({"transport": "http"}, "name its `url`"),
        ({"transport": "http", "url": "room.example/mcp"}, "name its `url`"),
        ({"transport": "http", "url": "http://room", "headers": ["x"]}, "`headers` must map"),
        ({"transport": "http", "url": "http://room", "timeout": "soon"}, "must be seconds"),
        ({"transport": "stdio"}, "name the `command`"),
        ({"transport": "stdio", "command": "x", "args": "y"}, "`args` must be a list"),
    ],
)
async def test_settings_that_lead_nowhere_say_what_is_missing(server, why):
    with pytest.raises(ServerFailure, match=why):
        async with reach(server):
            pass


def test_the_first_reason_of_an_ending_counts():
    ending = Ending()
    ending.tell("it fell")
    ending.tell("it was closed")
    assert (ending.come.is_set(), ending.reason) == (True, "it fell")
