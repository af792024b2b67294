// What the members of a set have in common: exact counts that narrow the set, and what was left out of it.
import { html, useState } from "../../vendor/preact.js";
import { hints } from "../alike.js";
import * as api from "../api.js";
import { language, number, t } from "../i18n.js";
import { readable } from "../readable.js";
import { EntityLink, Hint, Label } from "./link.js";
import { Pager } from "./settable.js";
import { Problem, Skeleton, useLoaded } from "./ui.js";

const FIRST = 5;

/** `onNarrow(plan)`: a value is chosen. */
export function Facets({ plan, dataset, onNarrow }) {
  const key = JSON.stringify(plan);
  const { value, error, again } = useLoaded((how) => api.facets({ plan, dataset, language: language.get() }, how), [key, dataset, language.get()]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${6} />`;
  if (!value.complete) return html`<p class="muted small">${t("facets.toomany")}</p>`;
  const useful = value.facets.filter((facet) => parts(facet, value.size));
  if (!useful.length) return html`<p class="muted small">${t("facets.none")}</p>`;
  return html`${useful.map((facet) => html`<${Facet} key=${facet.key} facet=${facet} size=${value.size} onNarrow=${onNarrow} />`)}`;
}

/** Whether a facet says something: it parts the set, and not into single members. */
const parts = (facet, size) =>
  facet.values.some((one) => one.count < size) && (facet.values[0].count > 1 || facet.total <= FIRST);

function Facet({ facet, size, onNarrow }) {
  const [all, setAll] = useState(false);
  const shown = all ? facet.values : facet.values.slice(0, FIRST);
  const rest = facet.values.length - shown.length;
  const told = hints(facet.values);
  return html`<section class="facet"><h3 dir="auto">${facet.label}</h3>
    <ul>${shown.map((one) => html`<li key=${one.iri || one.label}>${
      one.count < size
        ? html`<button type="button" class="facet-value" onClick=${() => onNarrow(one.plan)}><${FacetText} one=${one} size=${size} hint=${told.get(one.iri)} /></button>`
        : html`<span class="facet-value all"><${FacetText} one=${one} size=${size} hint=${told.get(one.iri)} /></span>`}</li>`)}</ul>
    ${rest > 0 && html`<button type="button" class="more" onClick=${() => setAll(true)}>${t("more", { n: rest })}</button>`}
    ${all && facet.total > facet.values.length && html`<p class="muted small">${t("facets.rest", { n: facet.total - facet.values.length })}</p>`}
  </section>`;
}

function FacetText({ one, size, hint }) {
  return html`<span class="facet-label"><${Label} text=${readable(one.label)} /><${Hint} text=${hint} /></span><span class="count">${number(one.count)}</span>
    <meter class="facet-bar" aria-hidden="true" min="0" max=${size} value=${one.count}></meter>`;
}

/** What only a lack of data keeps out of a set, reason by reason. */
export function LeftOut({ set, dataset }) {
  if (!set.excluded.length) return null;
  return html`<section class="left-out" aria-labelledby="left-out"><h2 id="left-out">${t("excluded")}</h2>
    <p class="muted">${t("excluded.what")}</p>
    ${set.excluded.map((one) => html`<${Reason} key=${one.reason} one=${one} plan=${set.plan} dataset=${dataset} />`)}</section>`;
}

function Reason({ one, plan, dataset }) {
  const [open, setOpen] = useState(false);
  return html`<div class="left-out-one"><p dir="auto">${one.text}</p>
    <button type="button" class="more" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t("excluded.show", { n: one.count })}</button>
    ${open && html`<${ReasonList} reason=${one.reason} plan=${plan} dataset=${dataset} />`}</div>`;
}

const LIMIT = 20;

function ReasonList({ reason, plan, dataset }) {
  const [offset, setOffset] = useState(0);
  const body = { plan, dataset, reason, offset, limit: LIMIT, language: language.get(), sparql: false };
  const { value, error, again } = useLoaded((how) => api.set(body, how), [reason, offset, JSON.stringify(plan), language.get()]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${3} />`;
  return html`<ul class="plain-list">${value.members.map((member) => html`<li key=${member.iri}><${EntityLink} iri=${member.iri} label=${member.label} dataset=${dataset} /></li>`)}</ul>
    <${Pager} offset=${offset} shown=${value.members.length} total=${value.total} limit=${LIMIT} next=${value.next} onPage=${setOffset} />`;
}
