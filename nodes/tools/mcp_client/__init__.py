"""Sessions with MCP servers: how each is reached, kept, and found again. `mcp` is imported only if there is one."""
