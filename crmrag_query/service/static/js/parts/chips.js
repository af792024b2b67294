// A plan in words, part by part; a part can be taken away, and set to something else in a small dialog; others can be added.
import { html, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { ChipForm, NewPart } from "./chipedit.js";
import { Label } from "./link.js";
import { Popover } from "./popover.js";
import { Icon, Problem } from "./ui.js";

const NEW = "where"; // the path of a condition that is added

const editable = (chip) => Object.values(chip.edits ?? {}).some((value) => value !== null);

/**
 * `onEdit({change} | {remove})`: changes the plan, and gives what the service says of it; without it the parts only show.
 */
export function Chips({ chips, plan, dataset, onEdit, busy = false }) {
  const [open, setOpen] = useState("");
  const [failed, setFailed] = useState(null);
  const next = useRef(null); // the path that gets the focus, or is opened, when the changed plan shows
  const box = useRef(null);
  const id = useId();
  const button = (path) => box.current.querySelector(`[data-path="${CSS.escape(path)}"]`);
  useEffect(() => {
    const wanted = next.current;
    next.current = null;
    if (!wanted) return;
    if (wanted.open && button(wanted.path)) setOpen(wanted.path);
    (button(wanted.path) ?? button(NEW))?.focus();
  }, [chips]);
  if (!chips?.length) return null;
  const close = (path) => (back) => {
    setOpen("");
    if (back) button(path)?.focus();
  };
  const edit = async (body) => {
    const edited = await onEdit(body);
    const fresh = body.change?.path === NEW && Boolean(body.change.relation);
    next.current = { path: edited.changed || body.remove, open: fresh };
    setOpen("");
    setFailed(null);
  };
  const remove = (path) => edit({ remove: path }).catch(setFailed);
  const chosen = chips.find((chip) => chip.path === open);
  const opener = (path) => ({ "data-path": path, "aria-haspopup": "dialog", "aria-expanded": open === path, disabled: busy, onClick: () => setOpen(open === path ? "" : path) });
  return html`<div class="chips-box" ref=${box}>
    <ul class="chips" aria-label=${t("set.plan")} id=${id}>${chips.map((chip) => html`<li key=${chip.path} class=${`chip ${chip.negated ? "negated" : ""} chip-${chip.kind} ${open === chip.path ? "open" : ""}`}>
      ${onEdit && editable(chip)
        ? html`<button type="button" class="chip-label" aria-label=${t("chip.change", { part: chip.label })} ...${opener(chip.path)}><${Label} text=${chip.label} /></button>`
        : html`<${Label} text=${chip.label} class="chip-label" />`}
      ${onEdit && chip.removable && html`<button type="button" class="chip-remove" disabled=${busy} aria-label=${t("set.remove", { part: chip.label })} title=${t("set.remove", { part: chip.label })}
        onClick=${() => remove(chip.path)}><${Icon} name="close" /></button>`}</li>`)}
      ${onEdit && html`<li class="chip-new"><button type="button" class="chip-label" ...${opener(NEW)}><${Icon} name="plus" />${t("chip.add")}</button></li>`}</ul>
    ${chosen && html`<${Popover} key=${open} title=${chosen.label} anchor=${button(open)} onClose=${close(open)}><${ChipForm} chip=${chosen} ...${{ plan, dataset }} onEdit=${edit} onClose=${close(open)} /><//>`}
    ${open === NEW && html`<${Popover} key=${NEW} title=${t("chip.add")} anchor=${button(NEW)} onClose=${close(NEW)}><${NewPart} ...${{ plan, dataset }} onEdit=${edit} /><//>`}
    ${failed && html`<${Problem} error=${failed} />`}
  </div>`;
}
