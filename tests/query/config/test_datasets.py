"""Data sets are declared in YAML, and every mistake is told with its place and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import DatasetConfig, load_datasets
from crmrag_query.config.datasets import add_dataset, entry_text, remove_dataset, rename_dataset
from crmrag_query.config.reading import key_path, parse_part
from crmrag_query.errors import ConfigError, CrmRagError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    (tmp_path / "data" / "deep" / "er").mkdir(parents=True)
    for name in ("data/a.ttl", "data/b.nt.gz", "data/deep/er/c.ttl"):
        (tmp_path / name).write_text("")
    return tmp_path


def declare(project: Path, text: str) -> Path:
    path = project / "config" / "datasets.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def one(project: Path, text: str) -> DatasetConfig:
    return load_datasets(declare(project, f"datasets:\n  museum:\n{text}"))["museum"]


@pytest.mark.parametrize(
    ("embedding", "prefixes"),
    [
        ("{model: intfloat/multilingual-e5-small}", ("query: ", "passage: ")),
        ("{model: models/e5-base-v2}", ("query: ", "passage: ")),
        ("{model: intfloat/multilingual-e5-large, query_prefix: 'ask: '}", ("ask: ", "passage: ")),
        ("{model: intfloat/multilingual-e5-large-instruct}", ("", "")),
        ("{model: all-MiniLM-L6-v2}", ("", "")),
    ],
)
def test_a_model_of_the_family_e5_has_its_prefixes_by_its_name(
    project: Path, embedding: str, prefixes: tuple[str, str]
) -> None:
    found = one(project, f"    rdf: data/a.ttl\n    embedding: {embedding}\n").embedding
    assert (found.query_prefix, found.document_prefix) == prefixes


def test_files_are_all_that_is_required(project: Path) -> None:
    museum = one(project, "    rdf: data/a.ttl\n")
    assert (museum.name, museum.title, museum.rdf) == ("museum", "museum", ("data/a.ttl",))
    assert museum.languages == ("en",)
    assert museum.embedding.model == "all-MiniLM-L6-v2"
    assert (museum.wikidata, museum.write_markdown, museum.write_triples_pickle) == (False, None, False)


def test_files_and_globs_are_taken_from_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    museum = one(project, "    rdf: [data/**/*.ttl, data/b.nt.gz, data/a.ttl]\n")
    assert [str(path.relative_to(project)) for path in museum.files()] == [
        "data/a.ttl",
        "data/b.nt.gz",
        "data/deep/er/c.ttl",
    ]


def test_absolute_paths_are_taken_as_they_are(project: Path) -> None:
    museum = one(project, f"    rdf: ['{project}/data/*.ttl']\n")
    assert museum.files() == (project / "data" / "a.ttl",)


def test_a_file_that_is_missing_is_named(project: Path) -> None:
    with pytest.raises(
        ConfigError,
        match=r"datasets\.museum\.rdf\[1\]: no file matches 'data/x\*\.ttl'\. Is the export there",
    ):
        one(project, "    rdf: [data/a.ttl, data/x*.ttl]\n").files()


def test_where_a_project_stands_is_no_part_of_its_values(project: Path) -> None:
    assert str(project) not in one(project, "    rdf: data/a.ttl\n").model_dump_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("    rdf: []\n", "museum.rdf: tuple should have at least 1 item"),
        ("    title: x\n", "museum.endpoint: a data set has `rdf`, files, `endpoint`, a SPARQL endpoint, or a list"),
        ("    langauges: [en]\n", "museum.langauges: unknown key (found ['en']). Did you mean languages?"),
        ("    languages: [en, no]\n", "languages[1]: input should be a valid string (found False). YAML reads yes"),
        ("    title: 12\n", "museum.title: input should be a valid string (found 12). Put it in quotes."),
        ("    languages: en\n", "museum.languages: input should be a valid tuple (found 'en'). Write a list"),
        ("    embedding: {modle: x}\n", "embedding.modle: unknown key (found 'x'). Did you mean model?"),
        ("    embedding: {provider: openai}\n", "embedding.provider: input should be 'local' or 'litellm'"),
        ("    suspects: {empty: x}\n", "suspects.empty: unknown key (found 'x'). Did you mean empty_id?"),
        ("    image_pattern: '('\n", "museum.image_pattern: no regular expression"),
        ('    title: "\\e[31mred"\n', "museum.title: it holds a control character"),
        ("    rdf: " + "[" * 3000 + "]" * 3000, "museum.rdf[0]: input should be a valid string (found …)"),
        ("    rdf: a\n  museum-sample:\n    rdf: a\n", "names that end in -sample are those of samples"),
        ("    name: x\n", "museum.name: unknown key. The key above it is the name."),
        ("    rdf: a\n    rdf: b\n", "line 3: not valid YAML: the key 'rdf' stands twice, the second time in line 4"),
        ("    title: bell \x07\n", "not text in UTF-8, or with control characters in it. Save it in UTF-8"),
        ("    !!python/object/apply:os.system [ls]\n", "not valid YAML: could not determine a constructor"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_key_value_and_remedy(project: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        one(project, text)
    told = str(caught.value)
    assert str(project / "config" / "datasets.yaml") in told and message in told
    assert "datasets.museum" in told or "museum" not in message


@pytest.mark.parametrize("name", ["My Museum", "../up", "-x", "ä"])
def test_a_name_must_do_as_a_folder(project: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="not a name for a data set"):
        load_datasets(declare(project, yaml.safe_dump({"datasets": {name: {"rdf": "a"}}})))


@pytest.mark.parametrize("text", ["", "[]", "data: {}", "datasets: [a]", "datasets:\n  a: 1", "\x00"])
def test_a_file_of_another_form_is_refused(project: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        load_datasets(declare(project, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the file does not exist"):
        load_datasets(tmp_path / "none.yaml")


@given(st.binary(max_size=80))
def test_any_bytes_give_data_sets_or_an_error_meant_for_people(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(b"datasets:\n  a:\n    rdf: x\n    title: " + data)
    try:
        load_datasets(path)
    except CrmRagError as error:
        assert str(path) in str(error)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*DatasetConfig.model_fields, "embeding", "rfd"])


@given(st.dictionaries(KEYS, PLAIN, max_size=5))
def test_every_mistake_is_about_a_key_that_is_there_or_missing(values: dict[str, object]) -> None:
    try:
        parse_part(DatasetConfig, values, "any.yaml")
    except ConfigError as error:
        assert error.mistakes
        for mistake in error.mistakes:
            assert mistake.key.partition(".")[0].partition("[")[0] in {*values, *DatasetConfig.model_fields}


def test_key_paths_read_as_they_are_written() -> None:
    assert key_path(("a", "b", 0, "c"), "top") == "top.a.b[0].c"


def test_adding_keeps_what_stands_there(project: Path) -> None:
    old = "# our museums\ndatasets:\n  # the first\n  first:\n    rdf: data/a.ttl   # one file\n"
    path = declare(project, old)
    added = add_dataset(
        path, "second", {"rdf": ["data/b.nt.gz"], "languages": ["no", "el"], "title": "Yes: a #1"}
    )
    assert path.read_text(encoding="utf-8").startswith(old)
    assert list(load_datasets(path)) == ["first", "second"]
    assert (added.languages, added.title) == (("no", "el"), "Yes: a #1")


@pytest.mark.parametrize("old", [None, "datasets: {}\n", "datasets:\n", "# nothing yet\ndatasets: null"])
def test_the_first_data_set_needs_no_file(project: Path, old: str | None) -> None:
    path = project / "config" / "datasets.yaml"
    if old is not None:
        path.write_text(old)
    assert add_dataset(path, "first", {"rdf": ["data/a.ttl"]}).rdf == ("data/a.ttl",)
    assert list(load_datasets(path)) == ["first"]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("first", {"rdf": ["data/a.ttl"]}, "a data set of this name exists"),
        ("new", {"rdf": ["data/none.ttl"]}, "no such file"),
        ("new", {"rdf": ["data/a.ttl"], "titel": "x"}, "Did you mean title?"),
        ("New", {"rdf": ["data/a.ttl"]}, "not a name for a data set"),
    ],
)
def test_a_mistake_leaves_the_file_as_it_was(
    project: Path, name: str, values: dict[str, object], message: str
) -> None:
    old = "datasets:\n  first: {rdf: data/a.ttl}\n"
    path = declare(project, old)
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        add_dataset(path, name, values)  # type: ignore[arg-type]
    assert path.read_text(encoding="utf-8") == old
    assert [file.name for file in path.parent.iterdir()] == ["datasets.yaml"]


def test_a_file_that_cannot_be_appended_to_is_left_alone(project: Path) -> None:
    old = "datasets: {first: {rdf: data/a.ttl}}\n"
    path = declare(project, old)
    with pytest.raises(ConfigError):
        add_dataset(path, "second", {"rdf": ["data/a.ttl"]})
    assert path.read_text(encoding="utf-8") == old


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12),
    st.lists(
        st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["Cc"]), max_size=6),
        max_size=3,
    ),
)
def test_an_entry_reads_back_as_it_was_given(title: str, examples: list[str]) -> None:
    read = yaml.safe_load(entry_text("museum", {"title": title, "examples": examples, "wikidata": True}))
    assert read == {"museum": {"title": title, "examples": examples, "wikidata": True}}


SEVERAL = """\
# our museums
datasets:
  first:     # the first
    rdf: data/a.ttl
    examples:

      - Who made it?

  # the one with a comment of its own
  second: {rdf: data/a.ttl}

  third:
    title: |
      third: and last
    rdf: data/a.ttl
# the end
"""


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_removing_takes_an_entry_and_nothing_else(project: Path, name: str) -> None:
    path = declare(project, SEVERAL)
    before = load_datasets(path)
    remove_dataset(path, name)
    assert load_datasets(path) == {key: one for key, one in before.items() if key != name}
    text = path.read_text(encoding="utf-8")
    assert [line for line in SEVERAL.splitlines() if line.lstrip().startswith("#")] == [
        line for line in text.splitlines() if line.lstrip().startswith("#")
    ]


def test_all_can_be_removed_and_the_file_be_added_to_again(project: Path) -> None:
    path = declare(project, SEVERAL)
    for name in ("second", "third", "first"):
        remove_dataset(path, name)
    assert load_datasets(path) == {}
    assert add_dataset(path, "fourth", {"rdf": ["data/a.ttl"]}).name == "fourth"


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_renaming_changes_a_name_and_nothing_else(project: Path, name: str) -> None:
    path = declare(project, SEVERAL)
    order = [("other" if key == name else key) for key in load_datasets(path)]
    assert rename_dataset(path, name, "other").name == "other"
    assert list(load_datasets(path)) == order
    assert path.read_text(encoding="utf-8") == SEVERAL.replace(f"  {name}:", "  other:", 1)


@pytest.mark.parametrize(
    ("name", "to", "message"),
    [
        ("none", "other", "There are: first, second, third"),
        ("first", "third", "exists"),
        ("first", "Ä", "not a name"),
    ],
)
def test_what_cannot_be_renamed_leaves_the_file_as_it_was(
    project: Path, name: str, to: str, message: str
) -> None:
    path = declare(project, SEVERAL)
    with pytest.raises(ConfigError, match=message):
        rename_dataset(path, name, to)
    assert path.read_text(encoding="utf-8") == SEVERAL


def test_an_entry_in_one_line_with_others_is_left_to_a_person(project: Path) -> None:
    old = "datasets: {first: {rdf: data/a.ttl}, second: {rdf: data/a.ttl}}\n"
    path = declare(project, old)
    with pytest.raises(ConfigError, match="by hand"):
        remove_dataset(path, "first")
    assert path.read_text(encoding="utf-8") == old
