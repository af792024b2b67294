// Addresses of images: a small size where the server gives one.
import { webAddress } from "./parts/link.js";

// Source: IIIF Image API 3.0, 2.1: {base}/{region}/{size}/{rotation}/{quality}.{format}
const IIIF = /^(.*)\/(full|square|[\d.]+,[\d.]+,[\d.]+,[\d.]+|pct:[\d.,]+)\/(\^?(?:max|full|!?\d*,\d*|pct:[\d.]+))\/(!?[\d.]+)\/(default|native|color|gray|bitonal)\.(\w+)$/;
const COMMONS = /^https?:\/\/commons\.wikimedia\.org\/wiki\/Special:FilePath\//i;

/** The address of an image about `width` pixels wide; "" for what is no web address. */
export function imageAddress(text, width) {
  const address = webAddress(text);
  if (address.endsWith("/info.json")) return `${address.slice(0, -"/info.json".length)}/full/${width},/0/default.jpg`;
  const found = IIIF.exec(address);
  if (found) return `${found[1]}/${found[2]}/${width},/${found[4]}/${found[5]}.${found[6]}`;
  if (COMMONS.test(address)) return `${address.split("?")[0]}?width=${width}`;
  return address;
}
