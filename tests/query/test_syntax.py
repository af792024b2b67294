"""Bounds on RDF before it is parsed: what is within them passes unchanged, whatever its parts; what is not is named."""

from __future__ import annotations

from io import BytesIO

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query import syntax
from crmrag_query.syntax import Bounded, OutOfBounds, require_bounds

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"'
NAMESPACES = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
    <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
    <!ENTITY e "http://example.org/a?b=1&amp;c=2#" >
]>
"""
PIECES = {
    "XML": ["<a>", "</a>", "<b c='>' d=\"/>'\"/>", "text /> \" '", "<!-- <a> -- ' -->", "<![CDATA[</a><a>]]>", "<?p <a> ?>"],
    "JSON": ["{", "}", "[", "]", '"a \\" } ] \\\\"', ":", ", 1 \n"],
    "Turtle": ["<<( ", " )>>", "<http://e/#x>", '"a >> \\" <<"', '"""\n>> "" """', "'>>'", "# >> '\n", "e:a\\#b "],
}  # fmt: skip
DEEPER = {"XML": "<a>", "JSON": "[", "Turtle": "<<"}
SHALLOWER = {"XML": "</a>", "JSON": "]", "Turtle": ">>"}


def in_parts(text: str, kind: str, most: int = 1 << 20) -> bytes:
    """What is read of a text that comes in parts of at most so many bytes."""
    stream = BytesIO(text.encode())
    return Bounded(lambda size: stream.read(min(size, most)), kind).read()


@settings(deadline=None)
@given(st.data(), st.sampled_from(list(PIECES)), st.integers(1, 9))
def test_what_is_within_bounds_passes_unchanged(data: st.DataObject, kind: str, block: int) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(PIECES[kind]), max_size=60)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(syntax, "BLOCK", block)
        assert in_parts(text, kind) == text.encode()


@settings(deadline=None)
@given(st.data(), st.sampled_from(list(PIECES)), st.integers(1, 9))
def test_depth_is_told_whatever_stands_around(data: st.DataObject, kind: str, block: int) -> None:
    closed = [one for one in PIECES[kind] if one not in ("<a>", "</a>", "{", "}", "[", "]", "<<( ", " )>>")]
    filler = data.draw(st.lists(st.sampled_from(closed), max_size=3))
    deep = ("".join(filler) + DEEPER[kind]) * 30
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(syntax, "BLOCK", block)
        patch.setitem(syntax.DEEPEST, kind, 20)
        with pytest.raises(OutOfBounds, match="nests more than 20 deep"):
            in_parts(deep, kind)
        flat = ("".join(filler) + DEEPER[kind] + SHALLOWER[kind]) * 30
        assert in_parts(flat, kind) == flat.encode()


def test_entities_for_namespaces_pass() -> None:
    text = f'{NAMESPACES}<rdf:RDF {RDF}><e:C rdf:about="&owl;Thing"/>{"<e:C rdf:about=&quot;&e;x&quot;/>" * 9}</rdf:RDF>'
    require_bounds(text.encode(), "XML")
    small = f'{NAMESPACES}<rdf:RDF {RDF}><rdf:Description rdf:about="&owl;Thing"><e:p>&e;</e:p></rdf:Description></rdf:RDF>'
    (quad,) = ox.parse(Bounded(BytesIO(small.encode()).read, "XML"), format=ox.RdfFormat.RDF_XML)  # type: ignore[arg-type]
    assert quad.subject == ox.NamedNode("http://www.w3.org/2002/07/owl#Thing")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><x/>', "'b' is made of other entities"),
        ('<x><!doctype x [<!ENTITY % a "&b;">]></x>', "'a' is made of other entities"),
        ('<!DOCTYPE x [<a b="><!ENTITY c "&b;">]><x/>', "'c' is made of other entities"),
        (f'<!DOCTYPE x [<!ENTITY a "{"a" * 2000}">]><x>&a;</x>', "'a' has over 1,000 characters"),
        (f'<!DOCTYPE x [<!ENTITY a "{"a" * 900}">]><x>{"&a;" * 5000}</x>', "more than 20 times"),
        (f"<!DOCTYPE x [{'<!-- -->' * 200_000}", "DTD of over 1 MiB"),
    ],
    ids=["nested", "anywhere", "quoted", "long", "often", "large"],
)  # fmt: skip
def test_entities_that_multiply_are_refused(text: str, what: str) -> None:
    with pytest.raises(OutOfBounds, match=what) as caught:
        in_parts(text, "XML")
    assert "DTD" in caught.value.remedy


def test_a_tag_that_does_not_end_is_not_held_for_ever() -> None:
    with pytest.raises(OutOfBounds, match="over 16 MiB"):
        in_parts("<a b='" + "x" * (40 << 20), "XML")
