"""Finding phrases, under the name that the parser knows it by."""

from crmrag_query.questions.words import Phrases

__all__ = ["Phrases"]
