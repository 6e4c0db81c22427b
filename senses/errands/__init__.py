"""Whether a request to a language model is what a person says, or what a program wants for itself."""
