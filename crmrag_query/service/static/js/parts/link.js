// Links, and texts of the data. Whatever the data says is a text node; an address is a link only where it is http(s).
import { html } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { readable } from "../readable.js";
import { entityAddress } from "../router.js";

/** The address where it is one of the web, else "". */
export function webAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : "";
  } catch {
    return "";
  }
}

/** A link to another site; only its text where the address is not one of the web. */
export function OutLink({ href, children, ...rest }) {
  const safe = webAddress(href);
  if (!safe) return html`<span ...${rest}>${children}</span>`;
  return html`<a href=${safe} rel="noopener noreferrer" target="_blank" ...${rest}>
    ${children}<span class="hidden-visually"> ${t("link.outside")}</span>
  </a>`;
}

/** A text of the data, of whatever direction. */
export function Label({ text, ...rest }) {
  return html`<bdi ...${rest}>${text}</bdi>`;
}

/** What tells an entity from others of its name (see alike.js). */
export function Hint({ text }) {
  return text ? html` <span class="hint"><${Label} text=${text} /></span>` : null;
}

/** An entity by its label, linked to its page. A node without IRI (a literal) is its text. */
export function EntityLink({ iri, label, dataset, ...rest }) {
  const text = readable(label) || iri;
  if (!iri) return html`<${Label} text=${text} />`;
  return html`<a href=${entityAddress(iri, dataset)} ...${rest}><${Label} text=${text} /></a>`;
}
