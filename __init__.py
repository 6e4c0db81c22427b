"""soulgraph gives a machine a soul: every chat turn is a LangGraph state machine."""

__version__ = "0.1.0"
