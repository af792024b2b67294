"""Writes the lock files anew from pyproject.toml, with uv: `make lock`. Pins that still fit stay, unless `--upgrade`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.environment import CPU_LOCK, CUDA_LOCK, EXTRAS, LOCK, ROOT

INDEX = "https://pypi.org/simple"  # whatever index this machine is set to
# One package of a lock: its pin and the lines of its hashes.
PACKAGE = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^ ;]+).*\n(?:    --hash=.*\n)+", re.MULTILINE)
CUDA = re.compile(r"(nvidia|cuda|triton)\b")  # names of what only PyPI's torch for Linux asks for
# PyTorch's CPU builds for Linux x86_64, as https://download.pytorch.org/whl/cpu/torch/ lists them: PyPI has none.
CPU_BUILDS = {
    "2.13.0": {
        "cp311": "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",
        "cp312": "4ca4a9394b0c771238a4f73590fdbbc4debad85ed0fa63d026ae1b085da7d6e2",
        "cp313": "3fbf9c9d1f3c10c2d59d04aca426dee9ccc6ceb32d255c61e93acc3b4f75fae6",
        "cp314": "d20fa53ee744502fa4c69818a720b05ca0d37abd055d4f6e66cae155114bc691",
    }
}
WITHOUT_WHEEL = ("docopt",)
"""Packages that would have to be built, and that nothing here needs: docopt is for commands of mwcli."""
HEAD = "Written by `make lock` from pyproject.toml. For CPython 3.11 to 3.14 on Linux x86_64, 3.11 to 3.13 on macOS arm64."


def main(upgrade: bool) -> None:
    packages = list(PACKAGE.finditer(resolved(upgrade)))
    (torch,) = (package["version"] for package in packages if package["name"] == "torch")
    if torch not in CPU_BUILDS:
        sys.exit(f"torch {torch}: add the hashes of its CPU builds to CPU_BUILDS in {__file__}.")
    hashes = " \\\n".join(f"    --hash=sha256:{digest}" for digest in CPU_BUILDS[torch].values())
    write(LOCK, "Every package that `make` installs.", *(p[0] for p in packages if not CUDA.match(p["name"])))
    write(
        CPU_LOCK,
        f"PyTorch's own CPU build, in place of that in {LOCK.name}.",
        f"torch=={torch}+cpu \\\n{hashes}\n",
    )
    write(
        CUDA_LOCK,
        f"What PyPI's build of torch needs beside {LOCK.name}.",
        *(p[0] for p in packages if CUDA.match(p["name"])),
    )


def write(path: Path, what: str, *packages: str) -> None:
    path.write_text("".join([f"# {what}\n# {HEAD}\n\n", *packages]), encoding="utf-8")


def resolved(upgrade: bool) -> str:
    """What uv finds for all Python versions and platforms at once."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / LOCK.name
        kept = "" if upgrade else "".join(path.read_text() for path in (LOCK, CUDA_LOCK) if path.exists())
        found.write_text("".join(f"{p['name']}=={p['version']}\n" for p in PACKAGE.finditer(kept)))
        extras = [f"--extra={name}" for name in EXTRAS]
        how = ["--universal", "--fork-strategy=fewest", "--generate-hashes", "--no-header", "--no-annotate"]
        how += [f"--no-emit-package={name}" for name in WITHOUT_WHEEL]
        where = ["--no-config", f"--default-index={INDEX}", f"--output-file={found}", "--quiet"]
        command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", *extras, *how, *where]
        subprocess.run(command, cwd=ROOT, check=True)
        return found.read_text()


if __name__ == "__main__":
    main("--upgrade" in sys.argv[1:])
