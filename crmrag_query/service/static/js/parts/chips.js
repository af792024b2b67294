// A plan in words, part by part; a part can be taken away.
import { html } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { Label } from "./link.js";
import { Icon } from "./ui.js";

/** `onRemove(path)`: a part is taken away; without it the parts only show. */
export function Chips({ chips, onRemove, busy = false }) {
  if (!chips?.length) return null;
  return html`<ul class="chips" aria-label=${t("set.plan")}>${chips.map((chip) => html`<li key=${chip.path} class=${`chip ${chip.negated ? "negated" : ""} chip-${chip.kind}`}>
    <${Label} text=${chip.label} class="chip-label" />
    ${onRemove && chip.removable && html`<button type="button" class="chip-remove" disabled=${busy} aria-label=${t("set.remove", { part: chip.label })} title=${t("set.remove", { part: chip.label })}
      onClick=${() => onRemove(chip.path)}><${Icon} name="close" /></button>`}</li>`)}</ul>`;
}
