// A gallery label: who made a thing, of what, whose it is and what is written of it, as a museum says it beside the thing.
import { html } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { Image } from "./image.js";
import { EntityLink, Label } from "./link.js";
import { Folded, useLoaded } from "./ui.js";

/** Relations (relations.yaml) in the order in which a label has them. */
const LINES = [
  "created_by", "medium_note", "made_of", "technique", "height", "width", "dimension_note", "located_in", "kept_by", "owned_by", "credit_line",
  "accession_number", "description",
];

/** What the label of an entity says: {member, lines: [[name, text]]}; null until it is there, and where it cannot be had. */
export function useCaption(iri, dataset) {
  const tag = language.get();
  const load = async (how) => {
    const body = { plan: { where: [{ kind: "among", iris: [iri] }] }, dataset, language: tag };
    const { columns } = await api.columns(body, how);
    const there = LINES.filter((key) => columns.some((one) => one.key === key));
    const { members: [member], chosen = [] } = await api.set({ ...body, columns: there, limit: 1, sparql: false }, how);
    return member ? { member, lines: chosen.map((name, at) => [name, member.columns[at]]).filter(([, text]) => text) } : null;
  };
  return useLoaded(load, [iri, dataset, tag]).value ?? null;
}

/** The label above an answer about one thing. */
export function Caption({ iri, dataset }) {
  const told = useCaption(iri, dataset);
  if (!told || !(told.lines.length || told.member.image)) return null;
  const { member, lines } = told;
  return html`<aside class="caption" aria-label=${t("entity.facts")}>
    ${member.image && html`<${Image} src=${member.image} width=${320} class="caption-image" />`}
    <div><p class="caption-name"><${EntityLink} iri=${member.iri} label=${member.label} dataset=${dataset} />${member.date && html`, <${Label} text=${member.date} />`}</p>
      <dl>${lines.map(([name, text]) => html`<div key=${name}><dt>${name}</dt><dd><${Folded} text=${text} /></dd></div>`)}</dl></div>
  </aside>`;
}
