"""Why members are in: the ways that the plan's conditions take from them, node by node, each step a triple."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.answers.named import SourceTriple
from crmrag_query.artifacts.release import Release
from crmrag_query.context.text import plain
from crmrag_query.plans.proof import Proof, explain_all
from crmrag_query.plans.records import Constraint, Either, Member, Plan
from crmrag_query.relationships.explain import Hop
from crmrag_query.sets.cells import Reader
from crmrag_query.sets.records import Reason


def reasons_of(
    release: Release, plan: Plan, members: Sequence[int], reader: Reader
) -> list[tuple[Reason, ...]]:
    """The reasons of each member."""
    found = explain_all(release.world, plan, members) if members else []
    return [
        tuple(_reason(release, reader, plan, member, proof) for proof in proofs)
        for member, proofs in zip(members, found, strict=True)
    ]


def _reason(release: Release, reader: Reader, plan: Plan, member: int, proof: Proof) -> Reason:
    nodes = [member]
    for hop in proof.hops:
        nodes.append(hop.object if hop.forward else hop.subject)
    triples = tuple(_triple(release, reader, hop) for hop in proof.hops)
    ends_in = plain(proof.literal.text) if proof.literal is not None else ""
    return Reason(_place(plan, proof), reader.all_named(nodes), triples, ends_in)


def _place(plan: Plan, proof: Proof) -> str:
    """Where the constraint stands in the plan, such as ``where.0.of.1``."""
    path, one = f"where.{proof.constraint}", plan.where[proof.constraint]
    for at in proof.within:
        inner: tuple[Constraint, ...] = ()
        if isinstance(one, Either):
            path, inner = f"{path}.of.{at}", one.of
        elif isinstance(one, Member):
            path, inner = f"{path}.plan.where.{at}", one.plan.where
        one = inner[at]
    return path


def _triple(release: Release, reader: Reader, hop: Hop) -> SourceTriple:
    graph = release.graph
    subject, object_ = reader.named(hop.subject), reader.named(hop.object)
    number = graph.adjacency.forward.position(hop.property, hop.subject, hop.object)
    return SourceTriple(
        subject.iri,
        graph.property_iri(hop.property),
        object_.iri,
        subject.label,
        graph.property_label(hop.property, lang=reader.language),
        object_.label,
        graph.graph_sets[int(graph.triple_graph[number])],
    )


def graphs_of(reasons: Sequence[Reason]) -> tuple[str, ...]:
    """Named graphs that the triples of a member's reasons stand in, sorted."""
    return tuple(
        sorted({graph for reason in reasons for triple in reason.triples for graph in triple.graphs})
    )
