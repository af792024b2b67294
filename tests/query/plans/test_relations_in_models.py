"""What relations lead to, however a museum models them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crmrag_query.config import load_method
from crmrag_query.plans.records import Way
from crmrag_query.plans.world import World, pairs
from tests.support.planworlds import sample_of

RELATIONS = load_method().relations
AAT = "http://vocab.getty.edu/aat/"
NAMES = """
@prefix x: <http://example.org/> .
@prefix c: <http://www.cidoc-crm.org/cidoc-crm/> .
@prefix v: <http://w3id.org/vir#> .
@prefix f: <http://xmlns.com/foaf/0.1/> .
"""
# One small museum, in the ways of the American Art Collaborative, of Linked Art and of CRMvir.
MUSEUM = (
    NAMES
    + f"""
x:vase a c:E22_Man-Made_Object ; c:P108i_was_produced_by x:making ; c:P41i_was_classified_by x:sorting ;
  c:P46_is_composed_of x:body ; c:P67i_is_referred_to_by x:credit, x:words ; c:P52_has_current_owner x:museum ;
  c:P1_is_identified_by x:number ; c:P102_has_title x:title ; f:homepage x:page ; c:P45_consists_of x:clay .
x:making a c:E12_Production ; c:P14_carried_out_by x:anna ; c:P4_has_time-span x:then ; c:P7_took_place_at x:athens .
x:sorting a c:E17_Type_Assignment ; c:P42_assigned x:vases .
x:body a c:E18_Physical_Thing ; c:P43_has_dimension x:tall, x:wide .
x:tall a c:E54_Dimension ; c:P2_has_type x:height .  x:height a c:E55_Type .
x:wide a c:E54_Dimension ; c:P2_has_type <{AAT}300055647> .  <{AAT}300055647> a c:E55_Type .
x:credit a c:E33_Linguistic_Object ; c:P2_has_type <{AAT}300026687> .  <{AAT}300026687> a c:E55_Type .
x:words a c:E33_Linguistic_Object .
x:number a c:E42_Identifier .  x:title a c:E35_Title .  x:clay a c:E57_Material .  x:vases a c:E55_Type .
x:museum a c:E40_Legal_Body .  x:page a f:Document .
x:anna a c:E39_Actor ; c:P92i_was_brought_into_existence_by x:annas_birth ; c:P107i_is_current_or_former_member_of x:greeks .
x:annas_birth a c:E63_Beginning_of_Existence ; c:P7_took_place_at x:athens ; c:P4_has_time-span x:earlier .
x:greeks a c:E74_Group ; c:P2_has_type <{AAT}300379842> .  <{AAT}300379842> a c:E55_Type .
x:berta a c:E21_Person ; c:P98i_was_born x:bertas_birth ; c:P2_has_type x:french .
x:bertas_birth a c:E67_Birth ; c:P7_took_place_at x:paris .
x:french a c:E55_Type ; c:P2_has_type <{AAT}300379842> .
x:athens a c:E53_Place ; c:P89_falls_within x:greece .  x:greece a c:E53_Place .  x:paris a c:E53_Place .
x:then a c:E52_Time-Span ; c:P82a_begin_of_the_begin "0480-01-01" .  x:earlier a c:E52_Time-Span .
x:church a c:E22_Man-Made_Object ; c:P31i_was_modified_by x:repair ; c:P108i_was_produced_by x:building .
x:repair a c:E11_Modification ; c:P14_carried_out_by x:berta .
x:building a c:E12_Production ; c:P14_carried_out_by x:anna .
x:wall a c:E25_Human-Made_Feature ; c:P46i_forms_part_of x:church ; v:K1_denotes x:saint_george ; c:P128_carries x:prayer .
x:prayer a c:E34_Inscription .
x:saint_george a c:E36_Visual_Item ; v:K24_portray x:george ; v:K17_has_attribute x:lance .
x:george a c:E21_Person .  x:lance a c:E36_Visual_Item .
"""
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    sample = sample_of(MUSEUM, tmp_path_factory.mktemp("museum"))
    return replace(sample.world, relations=RELATIONS)


def leads(world: World, id: str, name: str, direct: bool = False) -> set[str]:
    node = world.graph.node(f"http://example.org/{name}")
    assert node is not None
    found = pairs(world, Way(relations=(id,), direct=direct), np.array([node], np.int32), literals=False)
    return {world.graph.iri(end).rsplit("/", 1)[-1] for end in found.cell.tolist()}


@pytest.mark.parametrize(
    ("id", "name", "ends"),
    [
        ("created_by", "vase", {"anna"}),
        ("created_in", "vase", {"athens", "greece"}),
        ("created_on", "vase", {"then"}),
        ("born_in", "anna", {"athens", "greece"}),
        ("born_in", "berta", {"paris"}),
        ("born_in", "vase", set()),
        ("born_on", "anna", {"earlier"}),
        ("born_on", "vase", set()),
        ("nationality", "anna", {"greeks"}),
        ("nationality", "berta", {"french"}),
        ("gender", "berta", set()),
        ("type", "vase", {"vases"}),
        ("name", "vase", {"title"}),
        ("identifier", "vase", {"number"}),
        ("height", "vase", {"tall"}),
        ("width", "vase", {"wide"}),
        ("dimension", "vase", {"tall", "wide"}),
        ("dimension", "body", {"tall", "wide"}),
        ("credit_line", "vase", {"credit"}),
        ("reference", "vase", {"credit", "words"}),
        ("owned_by", "vase", {"museum"}),
        ("made_of", "vase", {"clay"}),
        ("homepage", "vase", {"page"}),
        ("modified_by", "church", {"berta"}),
        ("created_by", "church", {"anna"}),
        ("depicts", "church", {"george"}),
        ("depicts", "wall", {"george"}),
        ("depicts", "saint_george", {"george"}),
        ("attribute", "saint_george", {"lance"}),
        ("part_of", "saint_george", {"wall", "church"}),
        ("has_part", "church", {"wall"}),
        ("inscription", "wall", {"prayer"}),
        ("inscription", "church", {"prayer"}),
        ("inscription", "saint_george", {"prayer"}),
        ("falls_within", "athens", {"greece"}),
    ],
)
def test_a_relation_leads_there_in_each_model(world: World, id: str, name: str, ends: set[str]) -> None:
    assert leads(world, id, name) == ends


def test_what_is_stated_itself_is_the_place_alone(world: World) -> None:
    assert leads(world, "created_in", "vase", direct=True) == {"athens"}
    assert leads(world, "part_of", "saint_george", direct=True) == {"wall"}
