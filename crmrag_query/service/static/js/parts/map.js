// Members of a set on a map. The outline of the land is shipped with the page; no other host is asked for anything.
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { feature, geoPath } from "../../vendor/geo.js";
import { number, t } from "../i18n.js";
import { Hint, SvgLabel, Tools, folded, opener, placeLabels, useFullScreen, usePanZoom, useSize } from "./draw.js";
import { clustersOf, netOf, projectionAt, projectionOf, radiusOf, scaleBar, sitesOf, viewOf } from "./geometry.js";
import { EntityLink, Label } from "./link.js";
import { style } from "./style.js";

await Promise.all([style("draw"), style("map")]);

const FINE = 4; // k from which the finer outline is drawn
const EXTENT = [1, 40000];
const LISTED = 20; // members listed at once
const LABEL = 12; // pixels

const lands = new Map();

/** The outline of the land as GeoJSON; "110m" is coarse, "50m" fine (Natural Earth's scales). */
function land(scale) {
  if (!lands.has(scale)) {
    const address = new URL(`../../vendor/land-${scale}.json`, import.meta.url);
    const loaded = fetch(address).then((response) => response.json()).then((world) => feature(world, world.objects.land));
    loaded.catch(() => lands.delete(scale));
    lands.set(scale, loaded);
  }
  return lands.get(scale);
}

function useLand(fine) {
  const [outline, setOutline] = useState(null);
  useEffect(() => {
    let gone = false;
    land("110m").then((coarse) => !gone && setOutline((old) => old ?? coarse), () => {});
    if (fine) land("50m").then((whole) => !gone && setOutline(whole), () => {});
    return () => {
      gone = true;
    };
  }, [fine]);
  return outline;
}

/**
 * A map. features: GeoJSON features with points; properties: {iri, label, date, image, place: {iri, label}, doubt}.
 * missing: how many members have no place; onEntity(iri, event): in place of the link to the entity's page.
 */
export function SetMap({ features, missing = 0, dataset, onEntity, small = false }) {
  const box = useRef(null);
  const canvas = useRef(null);
  const size = useSize(canvas);
  const screen = useFullScreen(box);
  const sites = useMemo(() => sitesOf(features), [features]);
  const [chosen, setChosen] = useState([]);
  useEffect(() => setChosen([]), [sites]);
  const picked = sites.filter(({ key }) => chosen.includes(key));
  if (!sites.length) return html`<p class="muted">${t("map.none")}</p>`;
  return html`<figure class=${`drawing set-map ${small ? "small" : ""}`} ref=${box}>
    <div class="drawing-frame" ref=${canvas}>
      ${size.width > 0 && html`<${Chart} ...${{ sites, size, screen, chosen, setChosen, small }} />`}
    </div>
    ${!small && html`<${Listed} ...${{ sites: picked, all: sites, dataset, onEntity }} />`}
    <figcaption>
      ${missing > 0 && html`<span>${t("map.missing", { n: missing })}</span>`}
      ${doubtsOf(sites).map(([doubt, n]) => html`<span key=${doubt}>${t(`map.doubt.${doubt}`, { n })}</span>`)}
      <span>${t("map.source")}</span>
    </figcaption>
  </figure>`;
}

/** What the data leaves open of where members are, and of how many: [[doubt, n]]. */
function doubtsOf(sites) {
  const found = new Map();
  for (const { doubt } of sites.flatMap(({ items }) => items)) if (doubt) found.set(doubt, (found.get(doubt) ?? 0) + 1);
  return [...found];
}

function Chart({ sites, size, screen, chosen, setChosen, small }) {
  const frame = useRef(null);
  const map = useMemo(() => projectionOf(sites, size), [sites, size]);
  const whole = useCallback(() => viewOf(map, sites, size), [map, sites, size]);
  const moves = usePanZoom(frame, { extent: EXTENT, whole, free: screen.on });
  const { view } = moves;
  const rest = useRef(null); // the view that is drawn; while it moves, the drawing is shifted and scaled
  useEffect(() => moves.to(whole(), { at: "once" }), [whole]);
  if (!view.moving || !rest.current || rest.current.map !== map) rest.current = { ...view, map };
  const drawn = rest.current;
  const outline = useLand(drawn.k >= FINE);
  const base = useMemo(() => {
    const projection = projectionAt(map, drawn, size, Math.max(size.width, size.height) / 2);
    const path = geoPath(projection).digits(1);
    return {
      projection,
      land: outline ? path(outline) : "",
      net: path(netOf((drawn.k * size.width) / 360)),
      clusters: clustersOf(sites, projection, size),
    };
  }, [map, drawn.k, drawn.x, drawn.y, outline, size]);
  const labels = useMemo(() => labelsOf(base.clusters, size), [base]);
  const ratio = view.k / drawn.k;
  const shift = { x: view.x - drawn.x * ratio, y: view.y - drawn.y * ratio };
  const marks = base.clusters.map((one) => ({ ...one, x: one.x * ratio + shift.x, y: one.y * ratio + shift.y, r: radiusOf(one.count) }));

  const choose = (cluster) => {
    setChosen(cluster.sites.map(({ key }) => key));
    if (cluster.sites.length > 1) moves.to(viewOf(map, cluster.sites, size));
  };
  return html`<svg ref=${frame} class="drawing-svg" width=${size.width} height=${size.height} role="group" tabindex="0"
      aria-label=${t("map.label", { n: sites.length })} onKeyDown=${moves.onKeyDown}>
      <g transform=${`translate(${shift.x} ${shift.y}) scale(${ratio})`} aria-hidden="true">
        <path class="map-net" d=${base.net} /><path class="map-land" d=${base.land} />
      </g>
      <${Marks} ...${{ marks, chosen, choose, size }} />
      <g transform=${`translate(${shift.x} ${shift.y})`} visibility=${ratio === 1 ? "visible" : "hidden"}>${labels.map(({ key, lines, at }) =>
        html`<${SvgLabel} key=${key} lines=${lines} at=${at} size=${LABEL} />`)}</g>
    </svg>
    <${ScaleBar} projection=${base.projection} size=${size} />
    <${Hint} shown=${moves.hint} />
    ${!small && html`<${Tools} moves=${moves} whole=${whole} screen=${screen} label=${t("map.tools")} />`}`;
}

/** Names beside the marks of single sites, where there is room. */
function labelsOf(clusters, size) {
  const marks = clusters.map((one) => ({
    ...one, r: radiusOf(one.count), sides: ["right", "left", "above", "below"],
    lines: one.sites.length === 1 ? folded(nameOf(one.sites[0]), 22, 1) : null,
  }));
  const placed = placeLabels(marks, LABEL, size);
  return marks.filter(({ key }) => placed[key]).map(({ key, lines }) => ({ key, lines, at: placed[key] }));
}

function Marks({ marks, chosen, choose, size }) {
  const keys = (cluster) => (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(cluster);
  };
  const visible = marks.filter(({ x, y, r }) => x > -r && y > -r && x < size.width + r && y < size.height + r);
  return html`<g>
    ${visible.map((one) => {
      const on = one.sites.some(({ key }) => chosen.includes(key));
      return html`<g key=${one.key} class=${`map-mark ${on ? "on" : ""}`} role="button" tabindex="0" aria-pressed=${on} aria-label=${told(one)}
        transform=${`translate(${tenth(one.x)} ${tenth(one.y)})`} onClick=${() => choose(one)} onKeyDown=${keys(one)}>
        <title>${told(one)}</title>
        <circle class="reach" r=${Math.max(one.r, 12)} /><circle class="dot" r=${one.r} />
        ${one.count > 1 && html`<text class="map-count" dy=".35em" text-anchor="middle" aria-hidden="true">${number(one.count)}</text>`}
      </g>`;
    })}
  </g>`;
}

const tenth = (pixels) => Math.round(pixels * 10) / 10;

/** The name of a site: its place's, else that of what is there. */
function nameOf({ items }) {
  const place = items.find((one) => one.place)?.place;
  return place?.label || items[0].label || items[0].iri;
}

function told({ sites, count }) {
  const names = sites.slice(0, 3).map(nameOf).join(", ");
  return count === 1 && sites[0].items[0].place ? `${sites[0].items[0].label} – ${names}` : t("map.mark", { n: count, names: sites.length > 3 ? `${names} …` : names });
}

function ScaleBar({ projection, size }) {
  const bar = scaleBar(projection, size);
  if (!bar) return null;
  const [value, unit] = bar.metres >= 1000 ? [bar.metres / 1000, "kilometer"] : [bar.metres, "meter"];
  return html`<svg class="scale-bar" width=${bar.pixels + 2} height="22" aria-hidden="true">
    <text x="1" y="11">${number(value, { style: "unit", unit })}</text><path d=${`M1 14v6h${bar.pixels}v-6`} /></svg>`;
}

/** Whether the name of its place says more than its own. */
const elsewhere = ({ label, place }) => Boolean(place) && place.label !== label;

function Listed({ sites, all, dataset, onEntity }) {
  const [most, setMost] = useState(LISTED);
  const key = sites.map((one) => one.key).join();
  useEffect(() => setMost(LISTED), [key]);
  const whole = sites.length === 0;
  const items = (whole ? all : sites).flatMap((site) => site.items.map((one) => ({ ...one, site })));
  const title = whole ? t("map.all", { n: items.length }) : t("map.here", { n: items.length });
  return html`<div class="map-list">
    <p class="map-list-title" role="status">${title}${sites.length === 1 && html` · <${Label} text=${nameOf(sites[0])} />`}</p>
    <ol>${items.slice(0, most).map((one) => html`<li key=${one.iri}>
      <${EntityLink} iri=${one.iri} label=${one.label} dataset=${dataset} onClick=${opener(onEntity, one.iri)} />
      <span class="muted small">${one.date}${one.date && elsewhere(one) ? " · " : ""}${elsewhere(one) && html`<${Label} text=${one.place.label} />`}</span>
    </li>`)}</ol>
    ${items.length > most && html`<button type="button" class="button plain" onClick=${() => setMost(most + 5 * LISTED)}>${t("draw.more", { n: items.length - most })}</button>`}
  </div>`;
}
