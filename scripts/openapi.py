"""Prints the OpenAPI document of the server, from which the studio's types are made: `make studio` runs it."""

import json
import sys

from soulgraph.server import create_app
from soulgraph.settings import Settings


def main() -> None:
    json.dump(create_app(Settings.load()).openapi(), sys.stdout, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
