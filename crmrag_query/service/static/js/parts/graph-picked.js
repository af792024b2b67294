// The node of a graph that is looked at: what it is, what it is joined with, and what can be done with it.
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { opener } from "./draw.js";
import { Sign, kindName } from "./kinds.js";
import { EntityLink, Label } from "./link.js";
import { Button } from "./ui.js";

const LISTED = 8;

/** node: {iri, label, degree} or null; facts: of `factsOf`; grown: what it was expanded by; expand(iri, back): null where all is drawn; pick(iri): look at another. */
export function Picked({ node, network, facts, grown, expand, pick, dataset, onEntity }) {
  const [most, setMost] = useState(LISTED);
  useEffect(() => setMost(LISTED), [node?.iri]);
  if (!node) return html`<div class="picked"><p class="muted small">${t("graph.help")}</p></div>`;
  const labels = new Map(network.nodes.map(({ iri, label }) => [iri, label]));
  const joined = network.edges.filter(({ from, to }) => from === node.iri || to === node.iri).map(({ key, from, to, names }) => {
    const out = from === node.iri;
    return { key, out, names, iri: out ? to : from };
  });
  const rest = grown && grown.next !== null ? grown.total - grown.triples.length : 0;
  return html`<div class="picked" role="region" aria-label=${t("graph.picked")}>
    <p class="picked-kind"><${Sign} category=${facts?.category ?? ""} /> <span>${[facts && kindName(facts.category), ...(facts?.types ?? [])].filter(Boolean).slice(0, 3).join(" · ")}</span></p>
    <p class="picked-label"><${Label} text=${node.label} /></p>
    ${facts?.date && html`<p class="small muted">${facts.date}</p>`}
    <div class="picked-actions">
      <${EntityLink} class="button primary" iri=${node.iri} label=${t("graph.open")} dataset=${dataset} onClick=${opener(onEntity, node.iri)} />
      ${expand && (!grown || rest > 0) && html`<${Button} onClick=${() => expand(node.iri)}>${grown ? t("graph.more", { n: rest }) : t("graph.expand")}<//>`}
      ${expand && grown && html`<${Button} onClick=${() => expand(node.iri, true)}>${t("graph.collapse")}<//>`}
    </div>
    <ul class="picked-list">
      ${joined.slice(0, most).map((one) => html`<li key=${one.key}>
        <span class="picked-way"><span aria-hidden="true">${one.out ? "→" : "←"}</span> <span class="hidden-visually">${t(one.out ? "graph.to" : "graph.from")}</span>
          <${Label} text=${one.names.join(" · ")} /></span>
        <button type="button" class="picked-other" onClick=${() => pick(one.iri)}><${Label} text=${labels.get(one.iri)} /></button></li>`)}
    </ul>
    ${joined.length > most && html`<button type="button" class="button plain" onClick=${() => setMost(joined.length)}>${t("draw.more", { n: joined.length - most })}</button>`}
  </div>`;
}
