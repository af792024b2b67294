// Members of a set in time: how many by period, a stretch to choose, and each as a bar from its first to its last year.
import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { binsOf, bulkOf, extentOf, overlaps, periodsOf, ticksOf } from "./bins.js";
import { opener, useSize } from "./draw.js";
import { EntityLink } from "./link.js";
import { style } from "./style.js";
import { rangeText, yearOf, yearText } from "./years.js";

await Promise.all([style("draw"), style("timeline")]);

const FEW = 8; // items up to which there is nothing to count
const LISTED = 30; // bars at once
const TALL = 120; // pixels of the counted periods
const FOOT = 24; // of the axis
const SIDE = 12; // left and right of the periods
const LEAST = 100; // of a timeline that can be drawn; it has less while the page around it is laid out
const NARROW = 11; // of a period at least

/**
 * A timeline. items: [{iri, label, begin, end, text}], years as ISO 8601 writes them or as numbers (astronomical), null: open.
 * missing: how many have no date; onRange({begin, end} | null): told of the years chosen; onEntity(iri, event): in place of the link.
 */
export function Timeline({ items, missing = 0, dataset, onEntity, onRange }) {
  const box = useRef(null);
  const { width } = useSize(box);
  const dated = useMemo(() => items
    .map((one) => ({ ...one, begin: yearOf(one.begin), end: yearOf(one.end) }))
    .filter(({ begin, end }) => (begin !== null || end !== null) && (begin ?? -Infinity) <= (end ?? Infinity))
    .sort((a, b) => (a.begin ?? a.end) - (b.begin ?? b.end) || (a.end ?? Infinity) - (b.end ?? Infinity)), [items]);
  const bulk = useMemo(() => bulkOf(dated), [dated]);
  const [all, setAll] = useState(false); // also those far from where nearly all are
  const near = useMemo(() => (bulk && !all ? dated.filter(({ begin, end }) => within(bulk, begin ?? end, end ?? begin)) : dated), [dated, bulk, all]);
  const bins = useMemo(() => binsOf(near, Math.max(4, Math.min(60, Math.floor((width - 2 * SIDE) / NARROW)))), [near, width]);
  const [years, setYears] = useState(null); // first and last chosen year
  useEffect(() => setYears(null), [near]);
  const range = years && periodsOf(bins, years); // the places of the periods that they lie in
  const choose = (next) => {
    const chosen = next && [bins[next[0]].begin, bins[next[1]].end];
    setYears(chosen);
    onRange?.(chosen && { begin: chosen[0], end: chosen[1] });
  };
  const shown = years ? near.filter((one) => overlaps(one, ...years)) : near;
  if (!dated.length) return html`<p class="muted">${t("timeline.none")}</p>`;
  return html`<figure class="drawing timeline" ref=${box}>
    ${width > LEAST && dated.length > FEW && bins.length > 1 && html`<${Periods} ...${{ bins, width, range, choose }} />`}
    <p class="timeline-told" role="status">${years
      ? t("timeline.within", { n: shown.length, years: rangeText(...years) })
      : t("timeline.all", { n: near.length, years: spanText(near) })}
      ${years && html` <button type="button" class="button plain" onClick=${() => choose(null)}>${t("timeline.clear")}</button>`}
    </p>
    ${bulk && html`<p class="small muted">${all ? "" : t("timeline.far", { n: dated.length - near.length, years: spanText(dated) })}
      <button type="button" class="more" onClick=${() => setAll(!all)}>${t(all ? "timeline.near" : "timeline.whole", { years: rangeText(bulk.first, bulk.last) })}</button></p>`}
    ${width > LEAST && html`<${Bars} ...${{ items: shown, years, width, dataset, onEntity }} />`}
    ${missing > 0 && html`<figcaption>${t("timeline.missing", { n: missing })}</figcaption>`}
  </figure>`;
}

const within = ({ first, last }, begin, end) => begin >= first && end <= last;

function spanText(items) {
  const { first, last } = extentOf(items);
  return rangeText(first, last);
}

function Periods({ bins, width, range, choose }) {
  const svg = useRef(null);
  const [drag, setDrag] = useState(null);
  const inner = width - 2 * SIDE;
  const wide = inner / bins.length;
  const most = Math.max(...bins.map(({ sure, maybe }) => sure + maybe));
  const high = (count) => (count ? Math.max(2, (count / most) * (TALL - 16)) : 0);
  const binAt = (event) => {
    const x = event.clientX - svg.current.getBoundingClientRect().left - SIDE;
    return Math.max(0, Math.min(bins.length - 1, Math.floor(x / wide)));
  };
  const down = (event) => {
    if (event.button !== 0 || event.target.closest("[role=slider]")) return;
    svg.current.setPointerCapture(event.pointerId);
    setDrag(binAt(event));
    choose([binAt(event), binAt(event)]);
  };
  const move = (event) => {
    if (drag === null) return;
    const at = binAt(event);
    choose([Math.min(drag, at), Math.max(drag, at)]);
  };
  const [from, to] = range ?? [0, bins.length - 1];
  const axis = ticksOf(bins[0].begin, bins.at(-1).end, Math.max(2, Math.floor(inner / 90)));
  const place = (year) => SIDE + ((year - bins[0].begin) / (bins.at(-1).end + 1 - bins[0].begin)) * inner;
  return html`<div class="periods">
    <svg ref=${svg} width=${width} height=${TALL + FOOT} role="group" aria-label=${t("timeline.periods")}
      onPointerDown=${down} onPointerMove=${move} onPointerUp=${() => setDrag(null)} onPointerCancel=${() => setDrag(null)}>
      <g aria-hidden="true">
        ${bins.map((bin, at) => {
          const [x, sure, all] = [SIDE + at * wide, high(bin.sure), high(bin.sure + bin.maybe)];
          return html`<g key=${bin.begin} class=${at >= from && at <= to ? "" : "aside"}>
            <title>${t("timeline.period", { years: rangeText(bin.begin, bin.end), sure: bin.sure, maybe: bin.maybe })}</title>
            <rect class="hit" x=${x} y="0" width=${wide} height=${TALL} />
            <rect class="maybe" x=${x + 1} y=${TALL - all} width=${Math.max(1, wide - 2)} height=${all} />
            <rect class="sure" x=${x + 1} y=${TALL - sure} width=${Math.max(1, wide - 2)} height=${sure} />
          </g>`;
        })}
        <path class="axis" d=${`M${SIDE} ${TALL + 0.5}H${SIDE + inner}`} />
        ${axis.map((year) => html`<g key=${year} transform=${`translate(${place(year)} ${TALL})`}>
          <path class="axis" d="M0 0v4" /><text y="18" text-anchor="middle">${yearText(year)}</text></g>`)}
        ${range && html`<rect class="chosen" x=${SIDE + from * wide} y="0.5" width=${(to - from + 1) * wide} height=${TALL} />`}
      </g>
      <${Edge} which="from" ...${{ bins, at: from, least: 0, most: to, x: SIDE + from * wide, set: (at) => choose([at, to]), clear: () => choose(null) }} />
      <${Edge} which="to" ...${{ bins, at: to, least: from, most: bins.length - 1, x: SIDE + (to + 1) * wide, set: (at) => choose([from, at]), clear: () => choose(null) }} />
    </svg>
    <p class="periods-key small muted"><span><span class="key sure"></span>${t("timeline.sure")}</span><span><span class="key maybe"></span>${t("timeline.maybe")}</span></p>
  </div>`;
}

/** An end of the chosen years: a slider by keys, dragged by a pointer. */
function Edge({ which, bins, at, least, most, x, set, clear }) {
  const start = useRef(null);
  const year = which === "from" ? bins[at].begin : bins[at].end;
  const keys = (event) => {
    const next = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - 5, PageUp: at + 5, Home: least, End: most }[event.key];
    if (event.key === "Escape") clear();
    else if (next === undefined) return;
    else set(Math.max(least, Math.min(most, next)));
    event.preventDefault();
  };
  const drag = (event) => {
    if (event.type === "pointerdown") {
      event.currentTarget.setPointerCapture(event.pointerId);
      start.current = { x: event.clientX, at };
    } else if (start.current) {
      const box = event.currentTarget.ownerSVGElement.getBoundingClientRect();
      const moved = Math.round(((event.clientX - start.current.x) / (box.width - 2 * SIDE)) * bins.length);
      set(Math.max(least, Math.min(most, start.current.at + moved)));
    }
  };
  const done = () => {
    start.current = null;
  };
  return html`<g class="edge" role="slider" tabindex="0" aria-label=${t(`timeline.${which}`)} aria-valuemin=${bins[least].begin} aria-valuemax=${bins[most].end}
    aria-valuenow=${year} aria-valuetext=${yearText(year)} transform=${`translate(${x} 0)`} onKeyDown=${keys}
    onPointerDown=${drag} onPointerMove=${drag} onPointerUp=${done} onPointerCancel=${done}>
    <rect class="grip-hit" x="-12" y="0" width="24" height=${TALL} /><path class="edge-line" d=${`M0 0V${TALL}`} />
    <rect class="grip" x="-4" y=${TALL / 2 - 14} width="8" height="28" rx="4" /></g>`;
}

function Bars({ items, years, width, dataset, onEntity }) {
  const [most, setMost] = useState(LISTED);
  useEffect(() => setMost(LISTED), [items.length, years?.join()]);
  const shown = items.slice(0, most);
  const extent = years ? { first: years[0], last: years[1] } : extentOf(items);
  if (!extent) return null;
  const span = Math.max(1, extent.last - extent.first + 1);
  const share = (year) => Math.max(0, Math.min(100, ((year - extent.first) / span) * 100));
  return html`<ol class=${`time-bars ${width < 560 ? "narrow" : ""}`}>
    ${shown.map((one) => html`<${Bar} key=${one.iri} ...${{ one, share, extent, dataset, onEntity }} />`)}
  </ol>
  ${items.length > most && html`<button type="button" class="button plain" onClick=${() => setMost(most + 2 * LISTED)}>${t("draw.more", { n: items.length - most })}</button>`}`;
}

function Bar({ one, share, extent, dataset, onEntity }) {
  const [from, to] = [one.begin === null ? 0 : share(one.begin), one.end === null ? 100 : share(one.end + 1)];
  const open = `${one.begin === null || one.begin < extent.first ? "open-left" : ""} ${one.end === null || one.end > extent.last ? "open-right" : ""}`;
  return html`<li>
    <span class="bar-label"><${EntityLink} iri=${one.iri} label=${one.label} dataset=${dataset} onClick=${opener(onEntity, one.iri)} /></span>
    <svg class=${`time-bar ${open}`} height="14" width="100%" aria-hidden="true">
      <rect class="rail" x="0" y="6.5" width="100%" height="1" />
      <rect class="span" x=${`${from}%`} y="2" width=${`${Math.max(0.6, to - from)}%`} height="10" rx="3" />
    </svg>
    <span class="bar-text">${one.text || rangeText(one.begin, one.end)}</span>
  </li>`;
}
