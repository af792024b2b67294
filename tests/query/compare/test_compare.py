"""What is other in a release: as told by going over everything one by one, and readable."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from crmrag_query.artifacts.manifest import find_named
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.cli.main import group
from crmrag_query.compare import compare
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import ReleaseNotFound
from tests.support.builds import build_all, make_project, turtle

OLD = turtle(7)
NEW = turtle(8).replace('"Church 2"@en', '"Chapel 2"@en').replace('"Mural 4"', '"Fresco 4"')


@dataclass(frozen=True)
class Two:
    data: Path
    old: str
    new: str

    def releases(self) -> tuple[Release, Release]:
        old, new = (open_release(find_named(name, self.data)) for name in (self.old, self.new))
        return old, new


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Two:
    """Two releases: a church more, a museum less, two names and the encoder's size changed."""
    museum = '\nex:museum a crm:E53_Place ; rdfs:label "Museum" ; crm:P89_falls_within ex:district .'
    project = make_project(
        tmp_path_factory.mktemp("compared"), OLD + museum, write_markdown=False, title="Old"
    )
    build_all(project.context())
    old = open_release("churches", project.data).id
    (project.root / "churches.ttl").write_text(NEW, encoding="utf-8")
    config = project.config / "datasets.yaml"
    config.write_text(
        config.read_text(encoding="utf-8").replace("title: Old", "title: New"), encoding="utf-8"
    )
    build_all(project.context())
    return Two(project.data, old, open_release("churches", project.data).id)


def texts(release: Release) -> dict[str, str]:
    documents = release[Documents]
    return {documents.graph.iri(documents.entity(i)): documents.text(i) for i in range(documents.count)}


def test_documents_are_those_that_going_over_all_finds(two: Two) -> None:
    old, new = two.releases()
    before, after = texts(old), texts(new)
    found = compare(old, new, shown=1000).documents
    assert [one.iri for one in found.first_came] == sorted(after.keys() - before.keys()) != []
    assert [one.iri for one in found.first_went] == sorted(before.keys() - after.keys()) != []
    both = before.keys() & after.keys()
    other = sorted(iri for iri in both if before[iri] != after[iri])
    assert [one.iri for one in found.first_rewritten] == other != []
    assert (found.came, found.went) == (len(found.first_came), len(found.first_went))
    assert (found.rewritten, found.same) == (len(other), len(both) - len(other))


def test_turned_round_what_came_went(two: Two) -> None:
    there, back = compare(*two.releases()), compare(*reversed(two.releases()))
    assert there.documents.first_came == back.documents.first_went
    assert there.documents.came == back.documents.went and there.documents.same == back.documents.same
    assert [(c.name, c.before, c.after) for c in there.counts] == [
        (c.name, c.after, c.before) for c in back.counts
    ]


def test_counts_are_those_that_changed(two: Two) -> None:
    old, new = two.releases()
    found = compare(old, new)
    counts = {count.name: (count.before, count.after) for count in found.counts}
    assert counts["entities"] == (old.manifest.counts["entities"], new.manifest.counts["entities"])
    assert "chunks" not in counts
    classes = {count.name.split()[0]: count.after - count.before for count in found.classes}
    assert classes["E12"] == 1 and classes["E53"] == -1 and "E21" not in classes
    assert {count.name for count in found.categories} >= {"Thing", "Event", "Place"}


def test_the_configuration_that_changed_is_named_with_its_values(two: Two) -> None:
    found = compare(*two.releases())
    assert [(one.name, one.before, one.after) for one in found.settings] == [("title", '"Old"', '"New"')]
    assert found.encoder == ()


def test_files_are_counted_by_artifact(two: Two) -> None:
    files = {one.artifact: one for one in compare(*two.releases()).files}
    assert (files["encoder"].same, files["encoder"].changed) == (1, 0)
    assert files["documents"].changed and files["ontology"].changed == 0


def test_a_release_does_not_differ_from_itself(two: Two) -> None:
    release, _ = two.releases()
    found = compare(release, release)
    assert found.documents.same == release[Documents].count and not found.documents.rewritten
    assert found.counts == found.classes == found.settings == found.encoder == ()
    assert not any(one.changed or one.came or one.went for one in found.files)


def test_the_diff_of_a_text_rebuilds_the_new_one_from_the_old(two: Two) -> None:
    old, new = two.releases()
    before, after = texts(old), texts(new)
    for one in compare(old, new, shown=1000, texts=True).documents.first_rewritten:
        removed = [line[1:] for line in one.diff if line.startswith("-")]
        added = [line[1:] for line in one.diff if line.startswith("+")]
        assert removed or added
        left = Counter(before[one.iri].split("\n"))
        left.subtract(removed)
        assert min(left.values()) >= 0 and left + Counter(added) == Counter(after[one.iri].split("\n"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, list(arguments), catch_exceptions=False)


def test_the_name_alone_compares_the_previous_release_with_the_current_one(two: Two) -> None:
    data = ("--data", str(two.data))
    alone = run("diff", "churches", *data).output
    ways = (
        (two.old, two.new),
        ("churches@previous", "churches"),
        (f"churches@{two.old}", "churches@current"),
        tuple(str(two.data / "releases" / "churches" / one) for one in (two.old, two.new)),
    )
    assert [run("diff", *way, *data).output for way in ways] == [alone] * 4
    assert f"From churches {two.old}, built " in alone and f"to   churches {two.new}, built " in alone
    assert "  ~ Painter 1  <http://example.org/painter1>" in alone and "  - Church 0  <" in alone
    assert '  title: "Old" → "New"' in alone and "Encoder: as before" in alone


def test_the_first_are_shown_and_the_others_counted(two: Two) -> None:
    few = run("diff", "churches", "--limit", "1", "--data", str(two.data)).output
    assert few.count("  ~ ") == 2 and "more (--limit)" in few
    none = run("diff", "churches", "--limit", "0", "--data", str(two.data)).output
    assert "  ~ " not in none and "read otherwise" in none


def test_texts_and_json_say_the_same(two: Two) -> None:
    told = run("diff", "churches", "--texts", "--data", str(two.data)).output
    assert "      -Made: Mural 3; Mural 4" in told and "      +Made: Mural 3; Fresco 4" in told
    value: dict[str, Any] = json.loads(
        run("diff", "churches", "--texts", "--json", "--data", str(two.data)).output
    )
    documents = value["documents"]
    assert documents["came"] == len(documents["first_came"])
    assert any("Fresco 4" in line for one in documents["first_rewritten"] for line in one["diff"])


def test_what_is_not_there_is_told_with_what_is(two: Two) -> None:
    for name, told in (
        ("churches@" + "0" * 16, f"no release {'0' * 16}.*{two.new} .current."),
        ("0" * 16, "crmrag releases list"),
        ("palaces", "crmrag build palaces"),
        ("palaces@previous", "no previous release"),
    ):
        with pytest.raises(ReleaseNotFound, match=told):
            find_named(name, two.data)


def test_data_cannot_steer_the_terminal(two: Two, tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", turtle(1), write_markdown=False)
    build_all(project.context())
    text = turtle(1).replace('"Church 0"@en', '"Church \\u001b[31m0"@en')
    (project.root / "churches.ttl").write_text(text, encoding="utf-8")
    build_all(project.context())
    assert "\x1b" not in run("diff", "churches", "--texts", "--data", str(project.data)).output


def test_polars_is_not_needed(two: Two) -> None:
    """`pip install crmrag` is enough where a release was copied to."""
    code = (
        "import sys; sys.modules['polars'] = None; sys.modules['dagster'] = None\n"
        "from crmrag_query.cli.main import group\n"
        f"group(['diff', 'churches', '--data', {str(two.data)!r}], standalone_mode=False)\n"
        f"group(['verify', 'churches', '--data', {str(two.data)!r}], standalone_mode=False)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "is what was built" in done.stdout, done.stderr
