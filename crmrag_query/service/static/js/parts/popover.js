// A small dialog beside the button that opens it. It takes the focus and gives it back; Escape, and leaving it, close it.
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { Label } from "./link.js";
import { Button } from "./ui.js";

const GAP = 6; // pixels below the button

/** `anchor`: the button; it and the popover stand in one positioned box. `onClose(back)`: `back`, the focus goes to the button. */
export function Popover({ title, anchor, onClose, children }) {
  const box = useRef(null);
  const [place, setPlace] = useState({ left: 0, top: 0 });
  const id = useId();
  useLayoutEffect(() => {
    const frame = box.current.offsetParent.getBoundingClientRect();
    const button = anchor.getBoundingClientRect();
    const left = Math.min(button.left - frame.left, Math.max(0, frame.width - box.current.offsetWidth));
    setPlace({ left: Math.max(0, left), top: button.bottom - frame.top + GAP });
  }, [anchor]);
  useEffect(() => {
    (box.current.querySelector("input, select, textarea") ?? box.current).focus();
    const outside = (event) => !box.current?.contains(event.target) && !anchor.contains(event.target) && onClose(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, []);
  const keys = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    onClose(true);
  };
  const left = ({ relatedTarget: to }) => to && !box.current.contains(to) && to !== anchor && onClose(false);
  return html`<div class="popover" ref=${box} role="dialog" aria-labelledby=${id} tabindex="-1" style=${{ left: `${place.left}px`, top: `${place.top}px` }}
    onKeyDown=${keys} onFocusOut=${left}>
    <div class="popover-head"><p class="popover-title" id=${id}><${Label} text=${title} /></p><${Button} kind="plain" icon="close" label=${t("chip.close")} onClick=${() => onClose(true)} /></div>
    ${children}</div>`;
}
