// Pages of documents that an answer's source is on, and the image of each on demand.
import { html, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { t } from "../i18n.js";
import { Label } from "./link.js";
import { Problem, Skeleton, useLoaded } from "./ui.js";

/** `pages`: [{iri, label}]. */
export function Pages({ pages, dataset }) {
  const [open, setOpen] = useState("");
  const toggle = (iri) => setOpen(open === iri ? "" : iri);
  return html`<p class="source-links">${pages.map((one) => html`<button type="button" class="more" key=${one.iri} aria-expanded=${open === one.iri} onClick=${() => toggle(one.iri)}>${t("page.show")} <${Label} text=${one.label} /></button>`)}</p>
    ${open && html`<${PageImage} key=${open} iri=${open} label=${pages.find((one) => one.iri === open).label} dataset=${dataset} />`}`;
}

function PageImage({ iri, label, dataset }) {
  const { value, error, again } = useLoaded((how) => api.pageImage({ iri, dataset }, how), [iri, dataset]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${4} />`;
  return html`<img class="page-image" src=${value} alt=${t("page.image", { label })} />`;
}
