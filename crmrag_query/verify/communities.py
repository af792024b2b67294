"""Communities: each document once on a level, every community whole in one of the level above, ids that are the members'."""

from __future__ import annotations

import hashlib

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.communities.communities import FOLDER, NONE, Communities
from crmrag_query.documents.documents import Documents
from crmrag_query.verify.arrays import counted, pointers, within, wrong
from crmrag_query.verify.check import Check, Faults


def communities_nest(release: Release) -> Faults:
    """Members are documents, each once on a level; a parent is of the level above and has just what its parts have.

    A data set may do without, and older releases have none.
    """
    if not release.manifest.has(FOLDER):
        return 0
    found, documents = release[Communities], release[Documents]
    count, level = len(found), np.asarray(found.level)
    if (yield from pointers(f"{FOLDER}/member_ptr.npy", found.member_ptr, count, len(found.member))):
        return 0
    if (yield from within(f"{FOLDER}/member.npy", found.member, 0, documents.count)):
        return 0
    if (yield from within(f"{FOLDER}/parent.npy", found.parent, NONE, count)):
        return 0
    parent = np.asarray(found.parent)
    above = parent != NONE
    yield from wrong(
        f"{FOLDER}/parent.npy: not of the level above",
        count,
        lambda block: above[block] & (level[parent[block]] != level[block] + 1),
    )
    yield from counted(
        f"{FOLDER}/communities.json: levels", len(found.levels), int(level.max(initial=-1)) + 1
    )
    for number in range(len(found.levels)):
        members = [found.members(one) for one in found.of_level(number).tolist()]
        held = np.concatenate([np.empty(0, np.int32), *members])
        if len(np.unique(held)) != len(held):
            yield f"{FOLDER}/member.npy: documents in two communities of level {number}"
    for one in np.flatnonzero(level > 0).tolist():
        parts = [found.members(part) for part in found.parts(one).tolist()]
        if not np.array_equal(
            np.sort(found.members(one)), np.sort(np.concatenate([np.empty(0, np.int32), *parts]))
        ):
            yield f"{FOLDER}/member.npy: community {found.name(one)} is not what its parts are"
    iris = documents.graph.iris
    for one in range(count):
        own = iris.take(documents.entities[np.sort(found.members(one))]).to_pylist()
        text = "\n".join([str(level[one]), *own])
        if hashlib.sha256(text.encode()).hexdigest()[:16] != found.name(one):
            yield f"{FOLDER}/id.npy: community {found.name(one)} has other members than its id says"
    return count


CHECKS = (Check("communities", "communities", communities_nest, reads=("graph", "documents", FOLDER)),)
