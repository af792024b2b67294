// Nodes and edges of a graph as SVG. Nodes keep their size whatever the zoom, so that zooming in makes room for labels.
import { html, useMemo, useRef, useState } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { SvgLabel, folded, placeLabels } from "./draw.js";
import { Outline, kindClass, kindName } from "./kinds.js";

const RADIUS = 8;
const FOCUS = 11; // of the node that is looked at
const LABEL = 12; // pixels
const ARROW = 7;
const NAMED = 10; // edges of the chosen node up to which all have their names

/** Draws within an svg. places: {iri: {x, y}}; view: {k, x, y}; picked: IRI; pick(iri), expand(iri, back). */
export function Canvas({ network, facts, places, view, size, picked, pick, grown, expand }) {
  const [hovered, setHovered] = useState("");
  const spots = useMemo(() => Object.fromEntries(network.nodes.filter(({ iri }) => places[iri]).map(({ iri }) => {
    const { x, y } = places[iri];
    return [iri, { x: x * view.k + view.x, y: y * view.k + view.y, r: iri === picked ? FOCUS : RADIUS }];
  })), [network, places, view, picked]);
  const labels = useMemo(() => labelsOf(network, spots, picked, hovered, size), [spots, hovered, size]);
  const near = useMemo(() => nearOf(network, hovered || picked), [network, hovered, picked]);
  const edges = network.edges.filter(({ from, to }) => spots[from] && spots[to]);
  const own = edges.filter(({ from, to }) => from === picked || to === picked);
  const named = (edge) => edge.key === hovered || (own.length <= NAMED && own.includes(edge)) || edge.from === hovered || edge.to === hovered;
  const nodes = network.nodes.filter(({ iri }) => spots[iri]);
  return html`
    <g class=${near ? "edges fade" : "edges"}>${edges.map((edge) => html`<${Edge} key=${edge.key} edge=${edge} from=${spots[edge.from]} to=${spots[edge.to]}
      near=${!near || edge.key === hovered || [edge.from, edge.to].includes(hovered || picked)} hover=${setHovered} />`)}</g>
    <g aria-hidden="true">${edges.filter(named).map((edge) => html`<${EdgeName} key=${edge.key} edge=${edge} from=${spots[edge.from]} to=${spots[edge.to]} />`)}</g>
    <g>${nodes.map((node) => html`<${Node} key=${node.iri} ...${{
      node, at: spots[node.iri], category: facts.get(node.iri)?.category ?? "", picked: node.iri === picked,
      faded: Boolean(near) && !near.has(node.iri), open: node.iri in grown, full: grown[node.iri]?.next === null, pick, expand, hover: setHovered,
    }} />`)}</g>
    <g aria-hidden="true">${nodes.filter(({ iri }) => labels[iri]).map(({ iri }) => html`<${SvgLabel} key=${iri} ...${labels[iri]} size=${LABEL}
      class=${iri === picked ? "picked-name" : near && !near.has(iri) ? "faded" : ""} />`)}</g>`;
}

/** The chosen node and those joined with it; null where none is chosen, and nothing is to stand back. */
function nearOf({ edges, nodes }, iri) {
  if (!nodes.some((one) => one.iri === iri)) return null;
  const joined = edges.filter(({ from, to }) => from === iri || to === iri).flatMap(({ from, to }) => [from, to]);
  return new Set([iri, ...joined]);
}

/** Labels that have room: the chosen node's always, then those of the most joined. */
function labelsOf(network, spots, picked, hovered, size) {
  const centre = spots[picked] ?? { x: size.width / 2, y: size.height / 2 };
  const first = (iri) => (iri === picked || iri === hovered ? 1 : 0);
  const nodes = network.nodes.filter(({ iri }) => spots[iri]).sort((a, b) => first(b.iri) - first(a.iri) || b.degree - a.degree);
  const marks = nodes.map(({ iri, label }) => {
    const spot = spots[iri];
    const outwards = spot.x >= centre.x ? "right" : "left";
    return { key: iri, ...spot, lines: folded(label), sides: ["below", outwards, "above", outwards === "right" ? "left" : "right"], always: first(iri) > 0 };
  });
  const placed = placeLabels(marks, LABEL, size);
  return Object.fromEntries(marks.filter(({ key }) => placed[key]).map(({ key, lines }) => [key, { lines, at: placed[key] }]));
}

function Node({ node, at, category, picked, faded, open, full, pick, expand, hover }) {
  const before = useRef(false); // whether it was chosen before the click, which chooses it by giving it the focus
  const act = () => (before.current ? expand(node.iri, open && full) : pick(node.iri));
  const keys = (event) => {
    if (event.key === "Enter") {
      pick(node.iri);
      expand(node.iri, open && full);
    } else if (event.key === " ") pick(node.iri);
    else if (event.key === "Escape") expand(node.iri, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const told = t("graph.node", { label: node.label, kind: kindName(category), n: node.degree });
  return html`<g class=${`node ${kindClass(category)} ${picked ? "picked" : ""} ${faded ? "faded" : ""} ${open ? "open" : ""}`} role="button" tabindex="0"
    aria-label=${told} aria-expanded=${open} aria-pressed=${picked} onPointerDown=${() => (before.current = picked)} onClick=${act} onKeyDown=${keys} onFocus=${() => pick(node.iri)}
    onPointerEnter=${() => hover(node.iri)} onPointerLeave=${() => hover("")}>
    <title>${node.label}</title>
    <circle class="reach" cx=${at.x} cy=${at.y} r="18" />
    <circle class="halo" cx=${at.x} cy=${at.y} r=${at.r + 5} />
    <g transform=${`translate(${at.x} ${at.y})`}><${Outline} category=${category} r=${at.r} /></g>
  </g>`;
}

/** Ends of an edge at the rims of its nodes, with room for the arrow. */
function ends(from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const far = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / far, dy / far];
  return { x1: from.x + ux * (from.r + 3), y1: from.y + uy * (from.r + 3), x2: to.x - ux * (to.r + 4), y2: to.y - uy * (to.r + 4), ux, uy, far };
}

function Edge({ edge, from, to, near, hover }) {
  const { x1, y1, x2, y2, ux, uy, far } = ends(from, to);
  if (far < from.r + to.r + 8) return null;
  const [bx, by] = [x2 - ux * ARROW, y2 - uy * ARROW];
  const half = ARROW * 0.42;
  return html`<g class=${`edge-of ${near ? "near" : ""}`} onPointerEnter=${() => hover(edge.key)} onPointerLeave=${() => hover("")}>
    <title>${edge.names.join(" · ")}</title>
    <path class="edge-hit" d=${`M${x1} ${y1}L${x2} ${y2}`} />
    <path class="edge-line" d=${`M${x1} ${y1}L${bx} ${by}`} />
    <path class="edge-tip" d=${`M${x2} ${y2}L${bx - uy * half} ${by + ux * half}L${bx + uy * half} ${by - ux * half}z`} />
  </g>`;
}

function EdgeName({ edge, from, to }) {
  if (Math.hypot(to.x - from.x, to.y - from.y) < 40) return null;
  const [line] = folded(edge.names.join(" · "), 34, 1);
  return html`<text class="label edge-name" x=${(from.x + to.x) / 2} y=${(from.y + to.y) / 2 + 4} text-anchor="middle">${line}</text>`;
}
