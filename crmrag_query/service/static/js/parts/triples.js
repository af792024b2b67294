// Triples as a table: what a graph draws, in words.
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { opener } from "./draw.js";
import { EntityLink, Label } from "./link.js";
import { isEntity } from "./network.js";

const LISTED = 100;

/** onEntity(iri, event): in place of the link to the entity's page. */
export function TripleTable({ triples, dataset, caption, onEntity }) {
  const [most, setMost] = useState(LISTED);
  useEffect(() => setMost(LISTED), [caption]);
  const cell = (iri, label) => (isEntity(iri)
    ? html`<${EntityLink} iri=${iri} label=${label} dataset=${dataset} onClick=${opener(onEntity, iri)} />`
    : html`<${Label} text=${label || iri} />`);
  return html`<div class="table-scroll" tabindex="0" role="group" aria-label=${caption}><table class="triple-table">
    <caption class="hidden-visually">${caption}</caption>
    <thead><tr><th scope="col">${t("triples.subject")}</th><th scope="col">${t("triples.property")}</th><th scope="col">${t("triples.object")}</th></tr></thead>
    <tbody>${triples.slice(0, most).map((one) => html`<tr key=${`${one.s} ${one.p} ${one.o}`}>
      <td>${cell(one.s, one.s_label)}</td><td class="property" title=${one.p}><${Label} text=${one.p_label || one.p} /></td><td>${cell(one.o, one.o_label)}</td></tr>`)}</tbody>
  </table></div>
  ${triples.length > most && html`<button type="button" class="button plain" onClick=${() => setMost(most + 3 * LISTED)}>${t("draw.more", { n: triples.length - most })}</button>`}`;
}
