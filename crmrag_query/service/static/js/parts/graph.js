// The graph of an answer or an entity: nodes, what joins them, and the same as a table.
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language as pageLanguage, t } from "../i18n.js";
import { useStore } from "../store.js";
import { Hint, Tools, useFullScreen, usePanZoom, useSize } from "./draw.js";
import { Canvas } from "./graph-canvas.js";
import { Picked } from "./graph-picked.js";
import { Legend, useFacts } from "./kinds.js";
import { networkOf, placesOf, viewOfAll } from "./network.js";
import { style } from "./style.js";
import { TripleTable } from "./triples.js";
import { Problem } from "./ui.js";

await Promise.all([style("draw"), style("graph")]);

const MORE = 24; // triples that a node is expanded by at once
const EXTENT = [0.1, 6];
const EMPTY = [];

const keyOf = ({ s, p, o }) => `${s} ${p} ${o}`;

/**
 * A graph. triples: as in answers (SourceTriple); focus: IRI or IRIs that it is about; language: of labels, by default the page's;
 * toggle: whether there is a button for the table; whole: IRIs of which all triples are among these; onEntity(iri, event): in place of the link to the entity's page.
 */
export function AnswerGraph({ triples, focus = EMPTY, dataset, language, whole = EMPTY, toggle = true, onEntity }) {
  const page = useStore(pageLanguage);
  const box = useRef(null);
  const screen = useFullScreen(box);
  const [table, setTable] = useState(false);
  const [grown, expand, error] = useExpansion(dataset, language ?? page, triples);
  const all = useMemo(() => {
    const every = [...triples, ...Object.values(grown).flatMap((one) => one.triples)];
    return [...new Map(every.map((one) => [keyOf(one), one])).values()];
  }, [triples, grown]);
  const about = useMemo(() => [focus].flat(), [String(focus)]);
  const network = useMemo(() => networkOf(all, about), [all, about]);
  const iris = useMemo(() => network.nodes.map(({ iri }) => iri), [network]);
  const facts = useFacts(iris, dataset);
  const kinds = useMemo(() => new Set(iris.map((iri) => facts.get(iri)?.category ?? "")), [iris, facts]);
  if (!triples.length) return html`<p class="muted">${t("graph.none")}</p>`;
  return html`<figure class="drawing graph" ref=${box}>
    <div class="graph-bar">
      <${Legend} categories=${kinds} />
      ${toggle && html`<button type="button" class="button quiet" aria-pressed=${table} onClick=${() => setTable(!table)}>${t("graph.table")}</button>`}
    </div>
    ${error && html`<${Problem} error=${error} />`}
    ${table
      ? html`<${TripleTable} triples=${all} dataset=${dataset} caption=${t("graph.caption")} onEntity=${onEntity} />`
      : html`<${Drawn} ...${{ network, facts, about, grown, expand, complete: whole, dataset, onEntity, screen }} />`}
    ${network.left > 0 && html`<figcaption>${t("graph.left", { n: network.left })}</figcaption>`}
  </figure>`;
}

/** What nodes were expanded by, {iri: {triples, total, next}}, and expanding: a second time more of it, `null` takes it back. */
function useExpansion(dataset, language, triples) {
  const [grown, setGrown] = useState({});
  const [error, setError] = useState(null);
  const latest = useRef(grown);
  latest.current = grown;
  useEffect(() => {
    setGrown({});
    setError(null);
  }, [dataset, triples]);
  const expand = useCallback(async (iri, back = false) => {
    const { [iri]: before, ...others } = latest.current;
    if (back) return setGrown(others);
    if (before && before.next === null) return null;
    setError(null);
    try {
      const page = await api.neighbours({ iri, dataset, language, limit: MORE, offset: before?.next ?? 0 });
      return setGrown((old) => ({ ...old, [iri]: { ...page, triples: [...(before?.triples ?? []), ...page.triples] } }));
    } catch (failed) {
      return setError(failed);
    }
  }, [dataset, language]);
  return [grown, expand, error];
}

function Drawn({ network, facts, about, grown, expand, complete, dataset, onEntity, screen }) {
  const frame = useRef(null);
  const svg = useRef(null);
  const size = useSize(frame);
  const [picked, setPicked] = useState(about[0] ?? "");
  const places = usePlaces(network, size);
  const whole = useCallback(() => viewOfAll(places.target, size), [places.target, size]);
  const moves = usePanZoom(svg, { extent: EXTENT, whole, free: screen.on });
  const shown = useRef(false);
  useEffect(() => {
    if (size.width) moves.to(whole(), { at: shown.current ? "slowly" : "once" });
    shown.current ||= size.width > 0;
  }, [whole]);
  const node = network.nodes.find(({ iri }) => iri === picked) ?? null;
  return html`<div class="graph-body">
    <div class="drawing-frame" ref=${frame}>
      <svg ref=${svg} class="drawing-svg" width="100%" height="100%" role="group" aria-label=${t("graph.label", { n: network.nodes.length })} onKeyDown=${moves.onKeyDown}>
        ${size.width > 0 && html`<${Canvas} ...${{ network, facts, places: places.now, view: moves.view, size, picked, pick: setPicked, grown, expand }} />`}
      </svg>
      <${Hint} shown=${moves.hint} />
      <${Tools} moves=${moves} whole=${whole} screen=${screen} label=${t("graph.tools")} />
    </div>
    <${Picked} ...${{ node, network, facts: facts.get(picked), grown: grown[picked], expand: complete.includes(picked) ? null : expand, pick: setPicked, dataset, onEntity }} />
  </div>`;
}

const MOVE = 350; // milliseconds in which nodes move to new places

/** Where nodes are now, and where they will rest; they move there unless the person asks for little movement. */
function usePlaces(network, size) {
  const last = useRef({});
  const aspect = size.height ? Math.round((size.width / size.height) * 4) / 4 : 1.5;
  const target = useMemo(() => placesOf(network, last.current, aspect), [network, aspect]);
  const [now, setNow] = useState(target);
  useEffect(() => {
    const from = last.current;
    last.current = target;
    const quiet = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (quiet || !Object.keys(from).length) return setNow(target);
    const begin = performance.now();
    let frame = 0;
    const step = (time) => {
      const share = Math.min(1, Math.max(0, (time - begin) / MOVE));
      const eased = 1 - (1 - share) ** 3;
      setNow(Object.fromEntries(Object.entries(target).map(([iri, { x, y }]) => {
        const old = from[iri] ?? { x, y };
        return [iri, { x: old.x + (x - old.x) * eased, y: old.y + (y - old.y) * eased }];
      })));
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [target]);
  return { target, now: Object.keys(now).length ? now : target };
}
