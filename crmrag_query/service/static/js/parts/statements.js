// The triples of an entity: those around it as a graph, and all of them page by page.
import { html, useEffect, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language as pageLanguage, t } from "../i18n.js";
import { AnswerGraph } from "./graph.js";
import { Pager } from "./settable.js";
import { TripleTable } from "./triples.js";
import { Empty, Problem, Skeleton, Tabs, useLoaded } from "./ui.js";

const DRAWN = { wide: 60, narrow: 24 }; // triples of the graph to begin with, by the width of the window
const PAGE = 25; // triples of a page of the table

export function Statements({ entity, dataset, language }) {
  const [tab, setTab] = useState("graph");
  const tabs = [{ id: "graph", label: t("entity.neighbours.graph") }, { id: "table", label: t("entity.neighbours.table"), count: entity.degree }];
  if (!entity.degree) return html`<p class="muted">${t("entity.neighbours.none")}</p>`;
  return html`<${Tabs} tabs=${tabs} current=${tab} label=${t("entity.neighbours")} onChange=${setTab}>
    ${tab === "graph"
      ? html`<${Near} ...${{ entity, dataset, language }} />`
      : html`<${Pages} ...${{ entity, dataset, language }} />`}<//>`;
}

function useNeighbours({ iri }, dataset, language, limit, offset) {
  const tag = language || pageLanguage.get();
  return useLoaded((how) => api.neighbours({ iri, dataset, language: tag, limit, offset }, how), [iri, dataset, tag, limit, offset]);
}

function Near({ entity, dataset, language }) {
  const [limit] = useState(() => (window.matchMedia("(max-width: 40rem)").matches ? DRAWN.narrow : DRAWN.wide));
  const { value, error, again } = useNeighbours(entity, dataset, language, limit, 0);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${8} />`;
  return html`<${AnswerGraph} triples=${value.triples} focus=${entity.iri} whole=${value.next === null ? [entity.iri] : []} toggle=${false} dataset=${dataset} language=${language} />
    ${value.next !== null && html`<p class="small muted">${t("entity.neighbours.first", { n: value.triples.length, of: value.total })}</p>`}`;
}

function Pages({ entity, dataset, language }) {
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(0), [entity.iri]);
  const { value, error, again } = useNeighbours(entity, dataset, language, PAGE, offset);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${8} />`;
  if (!value.triples.length) return html`<${Empty} title=${t("entity.neighbours.none")} />`;
  return html`<${TripleTable} triples=${value.triples} dataset=${dataset} caption=${t("entity.neighbours")} />
    <${Pager} offset=${value.offset} shown=${value.triples.length} total=${value.total} limit=${PAGE} next=${value.next} onPage=${setOffset} />`;
}
