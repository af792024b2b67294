// A page of a set as a table: members, or the rows of what is computed.
import { Fragment, html, useId, useState } from "../../vendor/preact.js";
import { hints } from "../alike.js";
import * as api from "../api.js";
import { language, number, t } from "../i18n.js";
import { Image } from "./image.js";
import { EntityLink, Hint, Label } from "./link.js";
import { Triple } from "./source.js";
import { Button, Icon, Menu, Problem, Skeleton, useLoaded } from "./ui.js";

/** How many, in large; of a question of yes or no, that. */
export function Figure({ set }) {
  const text = set.kind === "ask" ? t(set.value ? "yes" : "no") : number(typeof set.value === "number" ? set.value : set.size);
  return html`<span class="figure">${text}</span>`;
}

/** columns: labels of those that the members have; sort: {by, descending}; `onSort(by)`: a column's head is clicked. */
export function Members({ members, columns = [], dataset, sort, onSort }) {
  const told = hints(members);
  const valued = members.some((one) => one.shown || one.value !== null);
  return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("set.table")}><table class="table members">
    <thead><tr>
      <${Head} by="label" sort=${sort} onSort=${onSort}>${t("set.name")}<//>
      <${Head} by="date" sort=${sort} onSort=${onSort}>${t("set.date")}<//>
      ${valued && html`<${Head} by="value" sort=${sort} onSort=${onSort}>${t("set.value")}<//>`}
      ${columns.map((label) => html`<th scope="col" key=${label} class="column" dir="auto">${label}</th>`)}
      <th scope="col"><span class="hidden-visually">${t("set.why")}</span></th>
    </tr></thead>
    <tbody>${members.map((one) => html`<${MemberRow} key=${one.iri} one=${one} dataset=${dataset} valued=${valued} hint=${told.get(one.iri)} />`)}</tbody>
  </table></div>`;
}

function Head({ by, sort, onSort, children }) {
  const on = sort.by === by;
  const order = !on ? undefined : sort.descending ? "descending" : "ascending";
  if (!onSort) return html`<th scope="col">${children}</th>`;
  return html`<th scope="col" aria-sort=${order}><button type="button" class="sort" onClick=${() => onSort(by)}>${children}
    <span class="arrow" aria-hidden="true">${on ? (sort.descending ? "↓" : "↑") : ""}</span></button></th>`;
}

function MemberRow({ one, dataset, valued, hint }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const kinds = [...one.types.map((kind) => kind.label), ...one.classes].slice(0, 3);
  return html`<${Fragment}><tr>
    <td><div class="member"><span class="thumb">${one.image && html`<${Image} src=${one.image} width=${96} />`}</span>
      <div><${EntityLink} iri=${one.iri} label=${one.label} dataset=${dataset} /><${Hint} text=${hint} />
        <p class="muted small">${kinds.map((kind) => html`<span key=${kind} class="bit"><${Label} text=${kind} /></span>`)}</p></div></div></td>
    <td><${Label} text=${one.date} /></td>
    ${valued && html`<td class="number"><${Label} text=${one.shown || (one.value === null ? "" : number(one.value))} /></td>`}
    ${(one.columns ?? []).map((text, at) => html`<td key=${at}><${Label} text=${text} /></td>`)}
    <td class="why">${one.path.length > 0 && html`<button type="button" class="more" aria-expanded=${open} aria-controls=${id} onClick=${() => setOpen(!open)}>${t("set.why")}
      <span class="hidden-visually"> ${one.label}</span></button>`}</td>
  </tr>${open && html`<tr id=${id} class="reasons"><td colspan=${(valued ? 4 : 3) + (one.columns ?? []).length}>${one.path.map((reason) => html`<${Reason} key=${reason.constraint} reason=${reason} dataset=${dataset} />`)}</td></tr>`}<//>`;
}

function Reason({ reason, dataset }) {
  return html`<div class="reason"><ol class="way">${reason.nodes.map((node, at) => html`<li key=${at}><${EntityLink} iri=${node.iri} label=${node.label} dataset=${dataset} /></li>`)}
    ${reason.text && html`<li dir="auto">“${reason.text}”</li>`}</ol>
    <ul class="triples">${reason.triples.map((triple, at) => html`<${Triple} key=${at} triple=${triple} source="" dataset=${dataset} />`)}</ul></div>`;
}

/** Which columns the members have; chosen: their keys, none for those that tell members apart. */
export function ColumnMenu({ set, dataset, chosen, onChoose }) {
  return html`<${Menu} label=${t("set.columns")}><${ColumnList} set=${set} dataset=${dataset} chosen=${chosen} onChoose=${onChoose} /><//>`;
}

function ColumnList({ set, dataset, chosen, onChoose }) {
  const body = { plan: set.plan, dataset, language: language.get() };
  const { value, error, again } = useLoaded((how) => api.columns(body, how), [JSON.stringify(body)]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${4} />`;
  const on = chosen ?? value.columns.filter((one) => one.telling).map((one) => one.key);
  const turn = (key) => onChoose(on.includes(key) ? on.filter((one) => one !== key) : [...on, key]);
  return html`<ul>${value.columns.map((one) => html`<li key=${one.key}><label class="menu-item"><input type="checkbox" checked=${on.includes(one.key)}
    onChange=${() => turn(one.key)} /> <span dir="auto">${one.label}</span> <span class="muted small">${number(one.members)}</span></label></li>`)}</ul>`;
}

/** The rows of a ranking, groups, a table, pairs or a comparison. */
export function Rows({ set, dataset, filter = () => true }) {
  const most = Math.max(...set.value.flat().map((cell) => cell.number ?? 0), 0);
  const counted = set.kind === "group" || set.kind === "rank" || set.kind === "compare";
  return html`<div class="table-box" tabindex="0" role="group" aria-label=${t("set.table")}><table class="table">
    <thead><tr>${set.columns.map((column, at) => html`<th scope="col" key=${at} class="column" dir="auto">${column}</th>`)}</tr></thead>
    <tbody>${set.value.filter((row) => filter(row.map((cell) => cell.label).join(" "))).map((row, at) => html`<tr key=${at}>${row.map((cell, place) =>
      html`<td key=${place} class=${cell.number === null ? "" : "number"} lang=${cell.lang || undefined}>
        ${counted && cell.number !== null && most > 0 && html`<meter class="bar" aria-hidden="true" min="0" max=${most} value=${cell.number}></meter>`}
        <${EntityLink} iri=${cell.iri} label=${cell.label} dataset=${dataset} /></td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** Which part of a set shows, and the ways to the parts before and after. */
export function Pager({ offset, shown, total, limit, next, onPage }) {
  if (total <= shown && !offset) return null;
  return html`<nav class="pager" aria-label=${t("pages")}>
    <${Button} icon="previous" disabled=${offset <= 0} onClick=${() => onPage(Math.max(0, offset - limit))}>${t("pages.previous")}<//>
    <span aria-live="polite">${t("pages.now", { first: offset + 1, last: offset + shown, total })}</span>
    <button type="button" class="button quiet" disabled=${next === null} onClick=${() => onPage(next)}>${t("pages.next")}<${Icon} name="next" /></button>
  </nav>`;
}
