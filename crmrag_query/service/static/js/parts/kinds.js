// Fundamental Categories as the page draws them: a colour and a shape each, so that neither has to be told from the other alone.
import { html, useEffect, useMemo, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { useStore } from "../store.js";
import { style } from "./style.js";

await style("draw");

export const CATEGORIES = ["Thing", "Actor", "Place", "Event", "Concept", "Time"];

// Outlines around (0, 0) that look equally large beside a circle of radius 1.
const OUTLINES = {
  Thing: "M-.66-.86H.66a.2.2 0 0 1 .2.2V.66a.2.2 0 0 1-.2.2H-.66a.2.2 0 0 1-.2-.2V-.66a.2.2 0 0 1 .2-.2z",
  Actor: "M-1 0a1 1 0 1 1 2 0 1 1 0 1 1-2 0z",
  Place: "M0-1.2 1.2 0 0 1.2-1.2 0z",
  Event: "M0-1.12 1.16.86H-1.16z",
  Concept: "M-1.05 0-.52-.91H.52L1.05 0 .52.91H-.52z",
  Time: "M-.8-.52H.8a.52.52 0 0 1 0 1.04H-.8a.52.52 0 0 1 0-1.04z",
};
const UNKNOWN = "M-.6 0a.6.6 0 1 1 1.2 0 .6.6 0 1 1-1.2 0z";

/** The class that gives a category its colours. */
export const kindClass = (category) => `kind-${category in OUTLINES ? category.toLowerCase() : "unknown"}`;

/** The outline of a category within an SVG, around (0, 0); `r`: its size in the units there. */
export function Outline({ category, r = 8 }) {
  return html`<path class="outline" d=${OUTLINES[category] ?? UNKNOWN} transform=${`scale(${r})`} />`;
}

/** The sign of a category beside its name. */
export function Sign({ category }) {
  return html`<svg class=${`sign ${kindClass(category)}`} viewBox="-10 -10 20 20" aria-hidden="true" focusable="false">
    <${Outline} category=${category} r=${7} /></svg>`;
}

/** A category by its name in the language of the page; one that is not ours as the data names it. */
export const kindName = (category) => (category in OUTLINES ? t(`kind.${category}`) : category || t("kind.unknown"));

/** A category in words, with its sign. */
export function Kind({ category }) {
  return html`<span class="kind"><${Sign} category=${category} /> ${kindName(category)}</span>`;
}

/** What the signs of a drawing mean; `categories`: those that it shows. */
export function Legend({ categories }) {
  const shown = CATEGORIES.filter((one) => categories.has(one));
  if (categories.has("")) shown.push("");
  return html`<ul class="legend" aria-label=${t("draw.legend")}>
    ${shown.map((one) => html`<li key=${one}><${Kind} category=${one} /></li>`)}
  </ul>`;
}

const ORDER = ["Actor", "Event", "Place", "Concept", "Time", "Thing"]; // which one an entity of several counts as; see config/categories.yaml
const MOST = 500; // entities of one request
const known = new Map(); // "data set, language, IRI" -> what `factsOf` tells

const keyOf = (dataset, tag, iri) => `${dataset}\n${tag}\n${iri}`;

/** Category, classes in words, types, date and first image of entities, by IRI: {category, classes, types, date, image}. */
export async function factsOf(iris, dataset, tag, how) {
  const wanted = [...new Set(iris)].filter((iri) => !known.has(keyOf(dataset, tag, iri)));
  for (let at = 0; at < wanted.length; at += MOST) await askFacts(wanted.slice(at, at + MOST), dataset, tag, how);
  return new Map(iris.map((iri) => [iri, known.get(keyOf(dataset, tag, iri))]).filter(([, facts]) => facts));
}

async function askFacts(iris, dataset, tag, how) {
  const found = await Promise.all(ORDER.map((category) => {
    const plan = { target: { categories: [category] }, where: [{ kind: "among", iris }] };
    return api.set({ plan, dataset, language: tag, limit: MOST, sparql: false }, how);
  }));
  for (const [at, { members }] of [...found.entries()].reverse()) {
    for (const { iri, classes, types, date, image } of members) {
      known.set(keyOf(dataset, tag, iri), { category: ORDER[at], classes, types: types.map((one) => one.label), date, image });
    }
  }
}

/** `factsOf` for a part that shows them: a map that fills when they are there. Without them a drawing is grey, not broken. */
export function useFacts(iris, dataset) {
  const tag = useStore(language);
  const [facts, setFacts] = useState(() => new Map());
  const wanted = useMemo(() => iris.join("\n"), [iris]);
  useEffect(() => {
    const stop = new AbortController();
    if (iris.length) factsOf(iris, dataset, tag, { signal: stop.signal }).then((found) => !stop.signal.aborted && setFacts(found), () => {});
    return () => stop.abort();
  }, [wanted, dataset, tag]);
  return facts;
}
