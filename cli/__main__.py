"""`python -m soulgraph.cli`."""

from soulgraph.cli.main import main

main()
