"""The modes in which an open release can be asked: those that are configured where it is opened, not where it was built."""

from __future__ import annotations

from pathlib import Path

from crmrag_query.artifacts.release import Release
from crmrag_query.config.modes import FILE, Mode, load_modes
from crmrag_query.config.reading import part_file
from crmrag_query.errors import ConfigError, QuestionError
from crmrag_query.retrieval.channels import Channel, channel_names, channel_of


def known_modes(folder: Path | None = None) -> dict[str, Mode]:
    """All modes that are configured, by name, the default first; ConfigError for one with a channel that there is not."""
    found = load_modes(folder)
    known = channel_names()
    for name, mode in found.items():
        for channel in mode.channels:
            if channel not in known:
                raise ConfigError.single(
                    part_file(FILE, folder), f"modes.{name}.channels", "no such channel",
                    value=repr(channel), remedy=f"There are: {', '.join(known)}.",
                )  # fmt: skip
    return found


def modes_of(release: Release) -> dict[str, Mode]:
    """All modes by name, as whoever opened the release has them; not each has all that it needs there, see ``lacking``."""
    return known_modes(release.opener.config)


def default_mode(release: Release) -> Mode:
    return next(iter(modes_of(release).values()))


def find_mode(release: Release, name: str = "") -> Mode:
    """The mode of that name, "" for the default. QuestionError where there is none, or the release cannot be asked in it."""
    found = modes_of(release)
    mode = found.get(name or next(iter(found)))
    if mode is None:
        raise QuestionError(f"There is no mode {name[:80]!r}.", f"There are: {', '.join(found)}.")
    if lacks := lacking(release, mode):
        others = ", ".join(one.name for one in found.values() if not lacking(release, one))
        raise QuestionError(
            f"Release {release.id} cannot be asked in the mode {mode.name!r}: it has no {', '.join(lacks)}.",
            f"{release.remedy(lacks)}. {f'It can be asked in: {others}.' if others else ''}".strip(),
        )
    return mode


def has_channel(release: Release, name: str) -> bool:
    """Whether a release has the artifacts that a channel needs."""
    return all(map(release.manifest.has, channel_of(name).needs))


def lacking(release: Release, mode: Mode) -> tuple[str, ...]:
    """The artifacts that a mode needs and a release has not; what a channel waits for is needed where all channels do."""
    channels = [channel_of(name) for name in mode.channels]
    alone = all(isinstance(one, Channel) and one.awaited for one in channels)
    needed = [*mode.needs]
    for one in channels:
        later = one.awaited if isinstance(one, Channel) and not alone else ()
        needed += [artifact for artifact in one.needs if artifact not in later]
    return tuple(one for one in dict.fromkeys(needed) if not release.manifest.has(one))
