"""The service over HTTP: the API, the page, an interface like OpenAI's, and what its operators need."""
