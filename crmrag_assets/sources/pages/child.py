"""The process that reads one document: a file by itself, so that nothing but what it needs is in its memory.

``python child.py``, with what it is to do as JSON on its input: ``path``, its ``format``, ``folder``, limits, and whether the
``first`` page is enough. It writes ``page_001.png`` and so on into the folder, and a
line of JSON for each page: its number, width and height in pixels and text, or why it cannot be read; at last
``{"format", "pages"}``, or ``{"refused"}``. An alarm ends it where a page takes too long, the system where it wants too much
memory.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from PIL import Image

DPI = 150
LONGEST = 2480  # pixels of the longer side of an image that does not say how large its page is: A3 at 150 dpi
PIXELS = 40_000_000  # of a page: more than A0 at 150 dpi
CHARACTERS = 50_000  # of a page's text
ON_AVERAGE = 5_000  # of the text of as many pages as a document may have: a full page of small print
IMAGES = 2 << 30  # bytes of a document's images


class Refused(Exception):
    """Why a document is not read."""


def pdf_pages(path: Path, most: int) -> Iterator[tuple[Image.Image | None, str, str]]:
    """Image and text of each page, or None and why it cannot be read."""
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        locked = "assword" in str(error) or "ecurity" in str(error)
        raise Refused(
            "it needs a password" if locked else "it is no PDF that can be read, or is cut off"
        ) from error
    if len(document) > most:
        raise Refused(f"it has {len(document):,} pages, and {most:,} are allowed (most_pages)")
    for number in range(len(document)):
        try:
            page = document[number]
            width, height = (side * DPI / 72 for side in page.get_size())
            if not 1 <= width * height <= PIXELS:
                raise Refused(f"its page {number + 1} would be of {width:,.0f} x {height:,.0f} pixels")
            image = page.render(scale=DPI / 72).to_pil().convert("RGB")
            text = page.get_textpage().get_text_bounded()[:CHARACTERS]
            page.close()
        except pdfium.PdfiumError as error:
            yield None, "", str(error)
            continue
        yield image, text, ""


def image_pages(path: Path, most: int) -> Iterator[tuple[Image.Image | None, str, str]]:
    """The image, or those of a TIFF, as at 150 dpi."""
    Image.MAX_IMAGE_PIXELS = PIXELS
    try:
        with Image.open(path, formats=("PNG", "JPEG", "TIFF")) as image:
            for number in range(most + 1):
                try:
                    image.seek(number)
                except EOFError:
                    return
                if number == most:
                    raise Refused(f"it has more than {most:,} pages (most_pages)")
                if image.width * image.height > PIXELS:
                    raise Refused(f"its page {number + 1} is of {image.width:,} x {image.height:,} pixels")
                yield _fitting(image), "", ""
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise Refused(
            f"it is no image that can be read, or is cut off: {' '.join(str(error).split())[:200]}"
        ) from error


def _fitting(image: Image.Image) -> Image.Image:
    """The image as at 150 dpi, never larger than it is."""
    stated = image.info.get("dpi")
    dpi = float(stated[0]) if stated else 0.0
    scale = DPI / dpi if 72 <= dpi <= 2400 else LONGEST / max(image.size)
    plain = image.convert("RGB")
    if scale >= 1:
        return plain
    return plain.resize(
        (max(1, round(plain.width * scale)), max(1, round(plain.height * scale))), Image.Resampling.LANCZOS
    )


def main() -> None:
    setup = json.loads(sys.stdin.read())
    path, folder = Path(setup["path"]), Path(setup["folder"])
    seconds = max(1, round(setup["page_seconds"]))
    _confine(setup["memory_megabytes"] << 20)
    try:
        kind = setup["format"]
        written = count = characters = 0
        _alarm(seconds)
        for image, text, error in (pdf_pages if kind == "PDF" else image_pages)(path, setup["most_pages"]):
            count += 1
            told: dict[str, Any] = {"number": count, "text": text, "error": error}
            if image is not None:
                target = folder / f"page_{count:03}.png"
                image.save(target, "PNG")
                told |= {"width": image.width, "height": image.height}
                written += target.stat().st_size
            characters += len(text)
            if characters > setup["most_pages"] * ON_AVERAGE:
                raise Refused(f"its text is longer than {setup['most_pages'] * ON_AVERAGE:,} characters")
            if written > IMAGES:
                raise Refused(f"the images of its pages take more than {IMAGES >> 30} GiB")
            _say(told)
            if setup["first"]:
                break
            _alarm(seconds)
        if not count:
            raise Refused("it has no page")
        _say({"format": kind, "pages": count})
    except Refused as refusal:
        _say({"refused": str(refusal)})
    except MemoryError:
        _say({"refused": "it needs more memory than is allowed (memory_megabytes)"})


def _say(told: dict[str, Any]) -> None:
    print(json.dumps(told), flush=True)


def _alarm(seconds: int) -> None:
    """Ends the process after so many seconds, even where no Python runs."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _confine(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, IMAGES),
    ):
        _, hard = resource.getrlimit(what)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (limit, limit))


if __name__ == "__main__":
    main()
