"""Which MBTI type the text of a character suggests."""
