"""Character cards: characters as others keep them, in JSON, PNG and charx files."""
