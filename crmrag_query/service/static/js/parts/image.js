// An image of the data: small, loaded when it is near, and gone where it cannot be shown.
import { html, useState } from "../../vendor/preact.js";
import { imageAddress } from "../images.js";

/** `src`: as the data gives it; `width`: the size to ask for, in pixels; `alt`: what it shows, "" beside its own label. */
export function Image({ src, width = 160, alt = "", class: more = "" }) {
  const [broken, setBroken] = useState(false);
  const address = imageAddress(src, width);
  if (!address || broken) return null;
  return html`<img class=${`image ${more}`} src=${address} alt=${alt} loading="lazy" decoding="async" referrerpolicy="no-referrer"
    onError=${() => setBroken(true)} />`;
}
