"""Comparing two releases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crmrag_query.artifacts.manifest import Manifest
from crmrag_query.artifacts.release import CONFIG, Release
from crmrag_query.compare.documents import compare_documents
from crmrag_query.compare.records import Count, Difference, Files, Setting, Side
from crmrag_query.retrieval.encoder import EncoderSettings

ABOUT = ("title", "licence", "attribution", "languages", "examples", "wikidata")  # of a manifest


def compare(before: Release, after: Release, shown: int = 10, texts: bool = False) -> Difference:
    """What is other in ``after``; ``shown`` documents of each kind by name, those that read otherwise with their diff.

    Raises ReleaseError for a release that cannot be opened.
    """
    old, new = before.aggregation, after.aggregation
    return Difference(
        before=_side(before),
        after=_side(after),
        counts=_changed(before.manifest.counts, after.manifest.counts),
        classes=_changed(
            *(
                {_class_name(one.code, one.label, one.iri): one.entities for one in side.classes}
                for side in (old, new)
            )
        ),
        categories=_changed(*({one.category: one.primary for one in side.categories} for side in (old, new))),
        settings=tuple(_settings(before, after)),
        encoder=tuple(_encoder(before, after)),
        documents=compare_documents(before, after, shown, texts),
        files=tuple(_files(before.manifest, after.manifest)),
    )


def _side(release: Release) -> Side:
    built = (release.provenance or {}).get("built", "")
    return Side(release.manifest.dataset, release.id, str(built))


def _class_name(code: str, label: str, iri: str) -> str:
    return f"{code} {label}" if code else iri


def _changed(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Count, ...]:
    """Numbers that differ, in the order of the newer one, then those that are gone."""
    names = dict.fromkeys([*after, *before])
    counts = (Count(name, int(before.get(name, 0)), int(after.get(name, 0))) for name in names)
    return tuple(count for count in counts if count.before != count.after)


def _settings(before: Release, after: Release) -> Iterator[Setting]:
    """What changed of what is said about the data set, then of the method that it was built with."""
    yield from _differing(
        *({name: getattr(side.manifest, name) for name in ABOUT} for side in (before, after))
    )
    old, new = (json.loads((side.folder / CONFIG).read_bytes()) for side in (before, after))
    yield from _differing(dict(_flat(old)), dict(_flat(new)))
    old, new = (side.manifest.config.get("ontology", "") for side in (before, after))
    yield from _differing({"ontology": old}, {"ontology": new})
    old, new = (
        {f"version of {name}": n for name, n in side.manifest.versions.items()} for side in (before, after)
    )
    yield from _differing(old, new)


def _encoder(before: Release, after: Release) -> Iterable[Setting]:
    old, new = (EncoderSettings.read(side.folder / "encoder").as_dict() for side in (before, after))
    return _differing(old, new)


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Setting]:
    for name in dict.fromkeys([*after, *before]):
        old, new = (_json(side[name]) if name in side else "" for side in (before, after))
        if old != new:
            yield Setting(name, old, new)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of nested records by its dotted name; a list is one value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _files(before: Manifest, after: Manifest) -> Iterator[Files]:
    """For each artifact of either, how many of its files are the same, in the order of their folders."""
    old, new = (_by_artifact(side) for side in (before, after))
    for artifact in sorted(old.keys() | new.keys()):
        was, now = old.get(artifact, {}), new.get(artifact, {})
        both = was.keys() & now.keys()
        same = sum(was[path] == now[path] for path in both)
        yield Files(artifact, same, len(both) - same, len(now) - len(both), len(was) - len(both))


def _by_artifact(manifest: Manifest) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for entry in manifest.files:
        found.setdefault(entry.path.split("/")[0], {})[entry.path] = entry.sha256
    return found
