"""The reference pages of the documentation, written from the code: configuration, commands, HTTP API."""
