// Where the Fundamental Relationships of an entity lead, by the category of what they lead to.
import { html } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { setAddress } from "../setaddress.js";
import { CATEGORIES, Sign, kindName } from "./kinds.js";
import { EntityLink, Label } from "./link.js";

const SHOWN = 8; // targets of a relationship
const LONG = 60; // letters of a label from which each has a line of its own

/** The plan of the set that a relationship of an entity leads to. */
export const targetPlan = (iri, key) => ({ where: [{ kind: "related", way: { relationships: [key], inverse: true }, to: { iris: [iri] } }] });

/**
 * Relationships without those that say nothing more: a general one ("from") all of whose targets its special ones ("created in")
 * have, so far as all are known here. An id begins with that of the relationship that it is a special one of.
 */
export function telling(relationships) {
  const within = (one, other) => other.key.startsWith(`${one.key}_`) && other.category === one.category;
  return relationships.filter((one) => {
    const special = relationships.filter((other) => within(one, other)).flatMap(({ targets }) => targets.map(({ iri }) => iri));
    return one.total > one.targets.length || one.targets.some(({ iri }) => !special.includes(iri));
  });
}

/** Relationships that lead to the same targets as one: {key, labels, category, total, targets}. */
export function together(relationships) {
  const groups = new Map();
  for (const { key, label, category, total, targets } of relationships) {
    const same = JSON.stringify([category, total, targets.map(({ iri }) => iri)]);
    const group = groups.get(same) ?? { key, labels: [], category, total, targets };
    if (!group.labels.includes(label)) group.labels.push(label);
    groups.set(same, group);
  }
  return [...groups.values()];
}

export function Relationships({ entity, dataset }) {
  const told = together(telling(entity.relationships));
  if (!told.length) return html`<p class="muted">${t("entity.relations.none")}</p>`;
  const kinds = [...CATEGORIES, ...new Set(told.map(({ category }) => category).filter((one) => !CATEGORIES.includes(one)))];
  return html`<div class="relations">${kinds.map((kind) => {
    const group = told.filter(({ category }) => category === kind);
    return group.length > 0 && html`<section key=${kind} class="relation-kind" aria-label=${kindName(kind)}>
      <h3><${Sign} category=${kind} /> ${kindName(kind)}</h3>
      <dl>${group.map((one) => html`<${Relation} key=${one.key} one=${one} iri=${entity.iri} dataset=${dataset} />`)}</dl>
    </section>`;
  })}</div>`;
}

function Relation({ one, iri, dataset }) {
  const shown = one.targets.slice(0, SHOWN);
  return html`<div class="relation">
    <dt>${one.labels.map((label) => html`<span class="bit" key=${label}><${Label} text=${label} /></span>`)}</dt>
    <dd><ul class=${shown.some(({ label }) => label.length > LONG) ? "long" : ""}>${shown.map((target) => html`<li key=${target.iri}><${EntityLink} iri=${target.iri} label=${target.label} dataset=${dataset} /></li>`)}</ul>
      ${one.total > 1 && html`<a class="relation-all" href=${setAddress(dataset, { plan: targetPlan(iri, one.key) })}
        aria-label=${t("entity.relations.all.label", { n: one.total, label: one.labels.join(", ") })}>${t("entity.relations.all", { n: one.total })}</a>`}
    </dd></div>`;
}
