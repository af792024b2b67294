// A graph of entities from triples, and where its nodes go. No drawing here.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../../vendor/geo.js";
import { readable } from "../readable.js";

const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const MOST = 150; // nodes drawn; the table has all triples
const STEPS = 300; // of the simulation, after which it rests

/** Whether an object is an entity, not a literal's text. */
export const isEntity = (text) => /^(?:https?:\/\/\S+|urn:\S+|_:\S+)$/.test(text);

/**
 * Nodes and edges of triples: {nodes: [{iri, label, degree}], edges: [{key, from, to, names}], left}. Classes and literals are no
 * nodes; several properties that join two nodes in one direction are one edge. The nodes nearest to `focus` (IRIs) come first; those
 * beyond the limit are left out, `left` of them.
 */
export function networkOf(triples, focus) {
  const nodes = new Map();
  const edges = new Map();
  const node = (iri, label) => nodes.get(iri) ?? nodes.set(iri, { iri, label: readable(label) || iri, near: new Set() }).get(iri);
  for (const { s, p, o, s_label: sLabel, p_label: pLabel, o_label: oLabel } of triples) {
    if (p === TYPE || !isEntity(s) || !isEntity(o)) continue;
    const [from, to] = [node(s, sLabel), node(o, oLabel)];
    if (s === o) continue;
    from.near.add(o);
    to.near.add(s);
    const key = `${s} ${o}`;
    if (!edges.has(key)) edges.set(key, { key, from: s, to: o, names: [] });
    const { names } = edges.get(key);
    if (!names.includes(pLabel)) names.push(pLabel);
  }
  const order = nearestFirst(nodes, focus);
  const kept = new Set(order.slice(0, MOST));
  return {
    nodes: order.slice(0, MOST).map((iri) => ({ iri, label: nodes.get(iri).label, degree: nodes.get(iri).near.size })),
    edges: [...edges.values()].filter(({ from, to }) => kept.has(from) && kept.has(to)),
    left: order.length - kept.size,
  };
}

/** IRIs of nodes by their distance to the focus, the most joined first of equals; without focus from the most joined. */
function nearestFirst(nodes, focus) {
  const byDegree = (a, b) => nodes.get(b).near.size - nodes.get(a).near.size;
  const order = [];
  const seen = new Set();
  const add = (iri) => {
    if (!nodes.has(iri) || seen.has(iri)) return;
    seen.add(iri);
    order.push(iri);
  };
  focus.forEach(add);
  let walked = 0;
  for (const start of [null, ...[...nodes.keys()].sort(byDegree)]) {
    if (start !== null) add(start);
    for (; walked < order.length; walked += 1) [...nodes.get(order[walked]).near].sort(byDegree).forEach(add);
  }
  return order;
}

/**
 * Places of the nodes, {iri: {x, y}}, around (0, 0). `before`: places that nodes have already, which change little; new nodes begin
 * beside one that they are joined with. `aspect`: width through height of the drawing.
 */
export function placesOf({ nodes, edges }, before, aspect) {
  const begin = beginnings(nodes, edges, before);
  const bodies = nodes.map(({ iri, degree }) => ({ iri, degree, ...begin[iri] }));
  const links = edges.map(({ from, to }) => ({ source: from, target: to }));
  const degree = Object.fromEntries(nodes.map((one) => [one.iri, one.degree]));
  const moved = nodes.some(({ iri }) => iri in before);
  forceSimulation(bodies)
    .force("links", forceLink(links).id(({ iri }) => iri).distance(({ source, target }) => 74 + 5 * Math.min(12, Math.min(degree[source.iri], degree[target.iri]))))
    .force("apart", forceManyBody().strength((one) => -200 - 20 * Math.min(20, one.degree)).distanceMax(340))
    .force("room", forceCollide(32).strength(0.8))
    .force("x", forceX(0).strength(0.085))
    .force("y", forceY(0).strength(0.085 * Math.max(1, Math.min(2.5, aspect))))
    .alpha(moved ? 0.5 : 1)
    .stop()
    .tick(STEPS);
  return Object.fromEntries(bodies.map(({ iri, x, y }) => [iri, { x, y }]));
}

const TURN = Math.PI * (3 - Math.sqrt(5)); // of a sunflower's seeds: no two in one direction

function beginnings(nodes, edges, before) {
  const begin = {};
  const beside = new Map();
  for (const { from, to } of edges) {
    if (from in before && !(to in before)) beside.set(to, before[from]);
    if (to in before && !(from in before)) beside.set(from, before[to]);
  }
  nodes.forEach(({ iri }, at) => {
    const host = beside.get(iri) ?? { x: 0, y: 0 };
    const far = beside.has(iri) ? 40 : 24 * Math.sqrt(at);
    begin[iri] = before[iri] ?? { x: host.x + far * Math.cos(at * TURN), y: host.y + far * Math.sin(at * TURN) };
  });
  return begin;
}

/** The view {k, x, y} that shows all places within a frame. */
export function viewOfAll(places, { width, height }, margin = 56) {
  const points = Object.values(places);
  if (!points.length || !width) return { k: 1, x: width / 2, y: height / 2 };
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const beside = Math.min(1.8 * margin, width / 5); // labels need more room beside than above and below
  const k = Math.max(0.12, Math.min(1.6, (width - 2 * beside) / Math.max(1, right - left), (height - 2 * margin) / Math.max(1, bottom - top)));
  return { k, x: width / 2 - (k * (left + right)) / 2, y: height / 2 - (k * (top + bottom)) / 2 };
}
