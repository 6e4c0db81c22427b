"""Import and export of character cards in JSON, PNG and charx files."""
