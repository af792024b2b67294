"""The one tree of exceptions; each message names the thing and the remedy.

CrmRagError
 ├── ConfigError        a mistake in a file of config/
 ├── SourceError        RDF that cannot be read, or holds no CIDOC-CRM
 │    └── SourceUnreachable  a source that does not answer at the moment
 ├── OntologyError      an ontology file or table that cannot be used
 ├── BuildError         a build that cannot start or go on
 │    ├── BuildHeldUp   one that something outside held up: the same may succeed later
 │    │    └── DatabaseUnreachable   Dagster's database did not answer
 │    └── BuildFault    one that failed in a way that nobody foresaw
 ├── ReleaseError       a release that is missing, incomplete or altered
 │    └── ReleaseNotFound
 ├── QuestionError      a question or request that cannot be answered as put
 │    ├── UnknownEntity
 │    ├── TookTooLong   one that takes longer than it may
 │    ├── NotKept       an answer or a conversation that the service does not keep
 │    └── NotAllowed    something that another caller may do, or nobody
 ├── ServiceError       a service that does not answer, or not as expected
 │    ├── Busy          a service that has too much to do at the moment
 │    └── StoreUnreachable   a database that searches are to read, or an object store, that does not answer
 ├── ModelError         an encoder or language model that failed
 │    └── ModelUnreachable   one that does not answer at the moment
 └── MissingExtraError  a dependency of an extra that is not installed
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class CrmRagError(Exception):
    """Base of every error a person is meant to read; `what` happened and the `remedy`."""

    def __init__(self, what: str, remedy: str = "") -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(f"{what} {remedy}".strip())


def in_a_line(error: BaseException, most: int = 300, keeping: Callable[[str], str] = str) -> str:
    """What the error of a library says, in one line without end stop, cut at ``most`` characters.

    ``keeping``: what of it may be told.
    """
    said = " ".join(keeping(str(error)).split()).rstrip(". ") or type(error).__name__
    return said if len(said) <= most else f"{said[:most]} …"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a configuration file: where it is, what stands there, what to do."""

    key: str
    value: str
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        shown = f" (found {self.value})" if self.value else ""
        return f"{self.key or '(whole file)'}: {self.reason}{shown}. {self.remedy}".rstrip()


class ConfigError(CrmRagError):
    """A mistake in configuration: the file and every mistake found in it."""

    def __init__(self, file: Path | str, mistakes: tuple[Mistake, ...]) -> None:
        self.file = str(file)
        self.mistakes = mistakes
        lines = "\n".join(f"  {mistake}" for mistake in mistakes)
        super().__init__(f"Mistake in configuration file {self.file}:\n{lines}")

    @classmethod
    def single(
        cls, file: Path | str, key: str, reason: str, *, value: str = "", remedy: str = ""
    ) -> ConfigError:
        """An error with one mistake."""
        return cls(file, (Mistake(key, value, reason, remedy),))


class SourceError(CrmRagError):
    """RDF that cannot be read, or that holds no CIDOC-CRM."""


class SourceUnreachable(SourceError):
    """A source that does not answer, or no more; the same may succeed later."""


class OntologyError(CrmRagError):
    """An ontology file or an ontology table that cannot be used."""


class BuildError(CrmRagError):
    """A build that cannot start or cannot go on."""


class BuildHeldUp(BuildError):
    """A build that a source or a model held up by not answering; the same build may succeed later."""


class BuildFault(BuildError):
    """A build that failed in a way that nobody foresaw; ``trace`` is the traceback, for a report."""

    def __init__(self, what: str, remedy: str = "", *, trace: str = "") -> None:
        self.trace = trace
        super().__init__(what, remedy)


class DatabaseUnreachable(BuildHeldUp):
    """A build that Dagster's database held up; once it answers, the same build goes on."""


class ReleaseError(CrmRagError):
    """A release that is incomplete, altered or of another version."""


class ReleaseNotFound(ReleaseError):
    """No release where one was looked for."""


class QuestionError(CrmRagError):
    """A question or request that cannot be answered as put."""


class TookTooLong(QuestionError):
    """A question or request that takes longer than it may: the same would again, less would not."""


class UnknownEntity(QuestionError):
    """An IRI that the data set does not hold; ``suggestions`` are IRIs that may be meant, the likeliest first."""

    def __init__(self, what: str, remedy: str = "", suggestions: tuple[str, ...] = ()) -> None:
        self.suggestions = suggestions
        super().__init__(what, remedy)


class NotKept(QuestionError):
    """An answer or a conversation that the service does not keep, or keeps no more."""


class NotAllowed(QuestionError):
    """Something that the caller may not do."""


class ServiceError(CrmRagError):
    """A service over HTTP that cannot be reached, fails, or answers otherwise than this program does."""


class Busy(ServiceError):
    """A service that has too much to do at the moment; the same request may succeed later."""


class StoreUnreachable(ServiceError):
    """The database of a search store, or an object store, which does not answer; the same may succeed later."""


class ModelError(CrmRagError):
    """An encoder or a language model that failed."""


class ModelUnreachable(ModelError):
    """A model over the network that does not answer, or has too much to do; the same may succeed after ``wait`` seconds, 0
    where it does not say."""

    def __init__(self, what: str, remedy: str = "", wait: float = 0.0) -> None:
        super().__init__(what, remedy)
        self.wait = wait


class MissingExtraError(CrmRagError):
    """A dependency of an extra is not installed; the message says how to install it."""

    def __init__(self, what: str, extra: str, package: str = "") -> None:
        self.extra = extra
        missing = f" (package {package} is missing)" if package else ""
        super().__init__(
            f"{what} needs the extra '{extra}'{missing}.", f"Install it: pip install 'crmrag[{extra}]'"
        )
