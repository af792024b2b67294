// A whole set: how many, by which plan, its members, what they have in common, what was left out, and files of it.
import { html, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, number, t } from "../i18n.js";
import { Chips } from "../parts/chips.js";
import { Facets, LeftOut } from "../parts/setfacets.js";
import { ExportMenu, Sparql } from "../parts/setexport.js";
import { ColumnMenu, Figure, Members, Pager, Rows } from "../parts/settable.js";
import { Unsure } from "../parts/setsummary.js";
import { GraphTab, MapTab, TimeTab } from "../parts/setviews.js";
import { Copy, Empty, Problem, Skeleton, Tabs, useLoaded, useTitle } from "../parts/ui.js";
import { address } from "../router.js";
import { readState, setAddress } from "../setaddress.js";

const LIMIT = 25;
const TELLING = ["telling"]; // the columns that tell members apart

export default function View({ params, hash }) {
  const [state, setState] = useState(() => readState(hash));
  if (!state) return html`<h1>${t("set")}</h1><${Empty} title=${t("set.missing")}><a href=${address("/", { dataset: params.dataset })}>${t("thread.new")}</a><//>`;
  const go = (change, keep = false) => {
    const next = { ...state, ...change };
    const where = setAddress(params.dataset, next);
    window.history[keep ? "replaceState" : "pushState"](null, "", where);
    setState(next);
  };
  return html`<${WholeSet} state=${state} dataset=${params.dataset} go=${go} />`;
}

function WholeSet({ state, dataset, go }) {
  const { plan, sort = "", descending = false, offset = 0, question = "", columns } = state;
  const body = { plan, dataset, offset, limit: LIMIT, sort, descending, language: language.get(), sparql: false, columns: columns ?? TELLING };
  const { value: set, error, loading, again } = useLoaded((how) => api.set(body, how), [JSON.stringify(body)]);
  useTitle(set?.title ?? t("set"));
  const edit = async (what) => {
    const edited = await api.editPlan({ plan, dataset, language: language.get(), ...what });
    go({ plan: edited.plan, offset: 0, question: "" });
    return edited;
  };
  if (error) return html`<h1>${t("set")}</h1><${Problem} error=${error} onRetry=${again} />`;
  if (!set) return html`${question && html`<p class="asked" dir="auto">${question}</p>`}<${Skeleton} lines=${8} />`;
  const by = { by: sort, descending };
  return html`<div class="set" aria-busy=${loading}>
    ${question && html`<p class="asked" dir="auto">${question}</p>`}
    <div class="set-head"><${Figure} set=${set} /><h1 dir="auto">${set.title}</h1></div>
    <p class="hidden-visually" role="status">${loading ? "" : t("set.size", { n: set.size })}</p>
    <${Chips} chips=${set.chips} plan=${set.plan} dataset=${dataset} onEdit=${edit} busy=${loading} />
    <${Unsure} set=${set} dataset=${dataset} />
    <div class="actions set-actions"><${ExportMenu} plan=${set.plan} size=${set.size} dataset=${dataset} question=${question} sort=${by} columns=${columns ?? TELLING} />
      <${Copy} text=${() => window.location.href} kind="quiet">${t("answer.link")}<//></div>
    <div class="set-body">
      <div class="set-main"><${Looks} set=${set} state=${state} dataset=${dataset} go=${go} edit=${edit} />
        <${LeftOut} set=${set} dataset=${dataset} /><${Small} set=${set} /><${Sparql} plan=${set.plan} dataset=${dataset} /></div>
      <aside class="set-facets" aria-label=${t("facets")}><h2 class="eyebrow">${t("facets")}</h2>
        <${Facets} plan=${plan} dataset=${dataset} onNarrow=${(narrower) => go({ plan: narrower, offset: 0, question: "" })} /></aside>
    </div>
  </div>`;
}

/** The ways of looking at the members. */
function Looks({ set, state, dataset, go, edit }) {
  const tabs = [
    { id: "table", label: t("tab.table") },
    ...(set.size > 0 ? [{ id: "map", label: t("tab.map") }, { id: "time", label: t("tab.time") }] : []),
    ...(set.members.some((one) => one.path.length) ? [{ id: "graph", label: t("tab.graph") }] : []),
  ];
  const tab = tabs.some((one) => one.id === state.tab) ? state.tab : "table";
  const inner = {
    table: () => html`<${TableTab} set=${set} state=${state} dataset=${dataset} go=${go} edit=${edit} />`,
    map: () => html`<${MapTab} set=${set} dataset=${dataset} />`,
    time: () => html`<${TimeTab} set=${set} dataset=${dataset} />`,
    graph: () => html`<${GraphTab} set=${set} dataset=${dataset} />`,
  };
  return html`<${Tabs} tabs=${tabs} current=${tab} label=${t("tabs")} onChange=${(id) => go({ tab: id === "table" ? "" : id }, true)}>${inner[tab]()}<//>`;
}

function TableTab({ set, state, dataset, go, edit }) {
  const [words, setWords] = useState("");
  const [error, setError] = useState(null);
  const rows = Array.isArray(set.value) ? set.value : null;
  const fits = (text) => text.toLowerCase().includes(words.trim().toLowerCase());
  const members = set.members.filter((one) => fits([one.label, one.date, one.shown, ...one.types.map((kind) => kind.label)].join(" ")));
  const shown = rows ? rows.length : set.members.length;
  const sort = { by: state.sort ?? "", descending: state.descending ?? false };
  const onSort = (by) => go({ sort: by, descending: sort.by === by && !sort.descending, offset: 0 }, true);
  const everywhere = words.trim() && set.total > shown && !rows;
  const search = (event) => {
    event.preventDefault();
    if (!everywhere) return;
    setError(null);
    edit({ change: { path: "where", texts: [words.trim()] } }).then(() => setWords(""), setError);
  };
  if (!shown) return html`<${Empty} title=${t("set.empty")}><p>${t("set.empty.remedy")}</p><//>`;
  return html`<form class="table-tools" role="search" onSubmit=${search}><input class="field" type="search" aria-label=${t("set.filter")} placeholder=${t("set.filter")} value=${words} onInput=${(event) => setWords(event.target.value)} />
      ${words && !rows && html`<span class="muted small" role="status">${t("set.filtered", { n: members.length, of: shown })}</span>`}
      ${everywhere && html`<button class="more">${t("set.filter.all", { n: set.total })}</button>`}</form>
    ${error && html`<${Problem} error=${error} />`}
    ${!rows && html`<${ColumnMenu} set=${set} dataset=${dataset} chosen=${state.columns} onChoose=${(columns) => go({ columns }, true)} />`}
    ${rows ? html`<${Rows} set=${set} dataset=${dataset} filter=${fits} />` : html`<${Members} members=${members} columns=${set.chosen} dataset=${dataset} sort=${sort} onSort=${onSort} />`}
    <${Pager} offset=${set.offset} shown=${shown} total=${set.total} limit=${LIMIT} next=${set.next} onPage=${(offset) => go({ offset })} />`;
}

/** What else is to be known of the set: what counts as one, and who states it. */
function Small({ set }) {
  const { identity, stated_in: stated } = set;
  const graphs = stated.filter((one) => one.graph);
  return html`<div class="small muted set-small">
    ${identity.distinct !== null && identity.distinct !== identity.entities && html`<p>${t("set.identity", { entities: identity.entities, distinct: identity.distinct })}</p>`}
    ${graphs.length > 0 && html`<p>${t("set.stated")} ${graphs.map((one) => html`<span key=${one.graph} class="bit"><bdi>${one.label || one.graph}</bdi> (${number(one.count)})</span>`)}</p>`}
    <p>${t("answer.release")} <code>${set.release}</code></p></div>`;
}
