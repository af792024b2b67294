// A field that proposes what fits while one types, and takes one of it (ARIA's combobox with a list box).
import { html, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { hints } from "../alike.js";
import { number, t } from "../i18n.js";
import { Hint, Label } from "./link.js";

const PAUSE = 120; // milliseconds without a key before it is looked for

/** `load(text, {signal})`: what fits, as [{value, label, kind, count}]; `onPick(one)`: one is taken; `told(kind)`: a kind in words. */
export function PickBox({ label, placeholder = "", load, onPick, told = (kind) => kind }) {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState(0); // 0: the list is closed
  const [list, setList] = useState(null);
  const [at, setAt] = useState(-1);
  const id = useId();
  const box = useRef(null);
  const close = () => {
    setAsked(0);
    setList(null);
    setAt(-1);
  };
  useEffect(() => {
    if (!asked) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await load(text.trim(), { signal: stop.signal });
        setList(found);
        setAt(-1);
      } catch {
        if (!stop.signal.aborted) setList([]);
      }
    }, list ? PAUSE : 0);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked, text]);
  const open = asked > 0 && list !== null;
  const apart = hints((list ?? []).map((one) => ({ iri: one.value, label: one.label })));
  useEffect(() => {
    if (open && at >= 0) box.current.querySelector(`[id="${id}-${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at, open]);
  const take = (one) => {
    setText("");
    close();
    onPick(one);
  };
  const keys = (event) => {
    const size = list?.length ?? 0;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (!asked) setAsked(1);
      else if (size) setAt((now) => (now + step + size + (now < 0 && step < 0 ? 1 : 0)) % size);
    } else if (event.key === "Enter" && open && size) {
      event.preventDefault(); // the form is sent by its button, not while one chooses
      take(list[Math.max(0, at)]);
    } else if (event.key === "Escape" && asked) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  return html`<div class="pickbox" ref=${box} onFocusOut=${(event) => !event.currentTarget.contains(event.relatedTarget) && close()}>
    <label class="edit-label" for=${id}>${label}</label>
    <input id=${id} class="field" type="text" role="combobox" autocomplete="off" autocapitalize="none" spellcheck="false" dir="auto" maxlength="300" placeholder=${placeholder}
      value=${text} aria-autocomplete="list" aria-expanded=${open} aria-controls=${`${id}-list`} aria-activedescendant=${open && at >= 0 ? `${id}-${at}` : undefined}
      onInput=${(event) => { setText(event.target.value); setAsked((n) => n + 1); }} onClick=${() => setAsked((n) => n + 1)} onKeyDown=${keys} />
    <ul id=${`${id}-list`} class="names" role="listbox" aria-label=${label} hidden=${!open || !list.length}>
      ${(list ?? []).map((one, place) => html`<li key=${one.value} id=${`${id}-${place}`} role="option" aria-selected=${place === at} class="name"
        onMouseDown=${(event) => { event.preventDefault(); take(one); }}>
        <span class="name-label"><${Label} text=${one.label} /><${Hint} text=${apart.get(one.value)} /></span>
        <span class="muted small">${[one.kind && told(one.kind), typeof one.count === "number" && number(one.count)].filter(Boolean).join(" · ")}</span></li>`)}
    </ul>
    ${open && !list.length && html`<p class="pick-none muted small">${t("chip.none")}</p>`}
    <span class="hidden-visually" role="status">${open ? t("chip.found", { n: list.length }) : ""}</span>
  </div>`;
}
