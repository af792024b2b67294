// Images of an entity: the first one large, the others small, and all of them in a box over the page.
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { imageAddress } from "../images.js";
import { t } from "../i18n.js";
import { OutLink } from "./link.js";

const SMALL = [160, 640, 1600]; // pixels asked for: a thumbnail, the first image, in the box
const SHOWN = 8; // thumbnails

/** images: addresses as the data gives them; label: of what they show. Those that cannot be loaded are left out. */
export function Gallery({ images, label }) {
  const [broken, setBroken] = useState(() => new Set());
  const [open, setOpen] = useState(null);
  const left = images.filter((one) => imageAddress(one, SMALL[0]) && !broken.has(one));
  const lost = (one) => () => setBroken((old) => new Set([...old, one]));
  if (!images.length) return null;
  const [first, ...others] = left;
  return html`<div class="gallery">
    ${first && html`<${Picture} ...${{ src: first, width: SMALL[1], at: 1, n: left.length, label, lost: lost(first), open: () => setOpen(first) }} class="gallery-first" />`}
    ${others.length > 0 && html`<ul class="gallery-others" aria-label=${t("entity.images", { n: left.length })}>
      ${others.slice(0, SHOWN).map((one, at) => html`<li key=${one}><${Picture} ...${{ src: one, width: SMALL[0], at: at + 2, n: left.length, label, lost: lost(one), open: () => setOpen(one) }} /></li>`)}
    </ul>`}
    ${!left.length && html`<p class="small muted">${t("entity.images.away", { n: images.length })} ${images.slice(0, 3).map((one, at) =>
      html`<span class="bit" key=${one}><${OutLink} href=${one}>${t("entity.image.source")}${images.length > 1 ? ` ${at + 1}` : ""}<//></span>`)}</p>`}
    ${open && html`<${Lightbox} images=${left} shown=${open} show=${setOpen} label=${label} />`}
  </div>`;
}

function Picture({ src, width, at, n, label, lost, open, class: more = "" }) {
  return html`<button type="button" class=${`picture ${more}`} aria-label=${t("entity.image.open", { at, n })} onClick=${open}>
    <img src=${imageAddress(src, width)} alt=${t("entity.image", { at, n, label })} loading="lazy" decoding="async" referrerpolicy="no-referrer" onError=${lost} />
  </button>`;
}

/** The box: arrow keys go through the images, Escape closes it. */
function Lightbox({ images, shown, show, label }) {
  const box = useRef(null);
  const at = Math.max(0, images.indexOf(shown));
  useEffect(() => box.current.showModal(), []);
  const go = (step) => show(images[(at + step + images.length) % images.length]);
  const keys = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && images.length > 1) go(step);
  };
  const outside = (event) => event.target === box.current && box.current.close();
  return html`<dialog class="lightbox" ref=${box} aria-label=${label} onClose=${() => show(null)} onKeyDown=${keys} onClick=${outside}>
    <img key=${images[at]} src=${imageAddress(images[at], SMALL[2])} alt=${t("entity.image", { at: at + 1, n: images.length, label })} referrerpolicy="no-referrer" />
    <div class="lightbox-bar">
      <p aria-live="polite">${images.length > 1 ? `${at + 1} / ${images.length}` : ""}</p>
      ${images.length > 1 && html`<button type="button" class="button quiet" onClick=${() => go(-1)}>${t("entity.image.previous")}</button>
        <button type="button" class="button quiet" onClick=${() => go(1)}>${t("entity.image.next")}</button>`}
      <${OutLink} class="button quiet" href=${images[at]}>${t("entity.image.source")}<//>
      <button type="button" class="button primary" onClick=${() => box.current.close()}>${t("entity.image.close")}</button>
    </div>
  </dialog>`;
}
