"""Reads chats as other programs export them: ChatGPT, Claude, SillyTavern, OpenClaw. One file per program."""
