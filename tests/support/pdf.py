"""PDF files with a text layer in any letters, written without a library: one font, and a map from its codes to letters."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

LINE, LEFT, TOP, SIZE = 15, 60, 780, 11
NAMES = {
    "ě": "ecaron", "š": "scaron", "č": "ccaron", "ř": "rcaron", "ž": "zcaron", "ý": "yacute", "á": "aacute", "í": "iacute",
    "é": "eacute", "ú": "uacute", "ů": "uring", "ď": "dcaron", "ť": "tcaron", "ň": "ncaron", "ó": "oacute",
    "Š": "Scaron", "Č": "Ccaron", "Ř": "Rcaron", "Ž": "Zcaron", "Ú": "Uacute", "§": "section", "–": "endash",
}  # fmt: skip
"""Glyphs of letters that are not ASCII."""


def pdf(*pages: str, size: tuple[float, float] = (595, 842)) -> bytes:
    """A page for each text, a line for each of its lines."""
    letters = sorted({char for text in pages for char in text if ord(char) > 126})
    codes = {char: 128 + number for number, char in enumerate(letters)}
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        _pages(len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding 4 0 R /ToUnicode 5 0 R >>",
        f"<< /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [128 {_differences(letters)}] >>".encode(),
        stream(_to_unicode(codes)),
    ]
    for number, text in enumerate(pages):
        content = len(objects) + 2
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {content} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(stream(_shown(text, codes)))
        assert len(objects) == 5 + 2 * (number + 1)
    return written(objects)


def written(objects: Sequence[bytes]) -> bytes:
    """A file of these objects, numbered from 1; the first is its catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def _pages(count: int) -> bytes:
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(count))
    return f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()


def _differences(letters: Sequence[str]) -> str:
    return " ".join(f"/{NAMES.get(char, f'uni{ord(char):04X}')}" for char in letters)


def _to_unicode(codes: dict[str, int]) -> bytes:
    pairs = [(code, chr(code)) for code in range(32, 127)] + [(code, char) for char, code in codes.items()]
    blocks = [pairs[at : at + 100] for at in range(0, len(pairs), 100)]
    body = "\n".join(
        f"{len(block)} beginbfchar\n"
        + "\n".join(f"<{code:02X}> <{ord(char):04X}>" for code, char in block)
        + "\nendbfchar"
        for block in blocks
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Own def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <FF> endcodespacerange\n{body}\nendcmap end end"
    ).encode()


def _shown(text: str, codes: dict[str, int]) -> bytes:
    lines = []
    for line in text.split("\n"):
        data = bytes(codes.get(char, ord(char) if ord(char) < 127 else 63) for char in line)
        lines.append(
            b"(" + data.replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)") + b") Tj T*"
        )
    return f"BT /F1 {SIZE} Tf {LINE} TL {LEFT} {TOP} Td\n".encode() + b"\n".join(lines) + b"\nET"


def stream(content: bytes, filters: bytes = b"") -> bytes:
    """A stream, packed as ``filters`` say."""
    packed = b" /Filter " + filters if filters else b""
    return f"<< /Length {len(content)}".encode() + packed + b" >>\nstream\n" + content + b"\nendstream"


def flate(content: bytes, times: int) -> bytes:
    """The content, so many times after itself, packed."""
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(content) for _ in range(times)) + packer.flush()
