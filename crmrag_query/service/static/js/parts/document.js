// The document of an entity, the text that is searched and answered from, as lines that can be read.
import { html, useState } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { readable } from "../readable.js";
import { kindName } from "./kinds.js";

const FIRST = 8;
const HEADER = /^\[([^\]]*)\]\s+(.*)$/; // "[Thing] Panagia Phorbiotissa (Asinou)": where what is told of an entity begins

/** Lines {name, text, head} of a document: "Class: Human-Made Object" has a name, a line of prose has none. Its own header is left out,
 * those of others that it tells of too (`head`) have their label as name. */
export function linesOf(document) {
  const lines = document.split("\n").filter((line) => line.trim()).map(lineOf);
  return lines.slice(lines[0]?.head ? 1 : 0);
}

function lineOf(line) {
  const header = HEADER.exec(line);
  if (header) return { name: header[2], text: kindName(header[1]), head: true };
  const colon = line.indexOf(": ");
  return colon > 0 && colon <= 60 ? { name: line.slice(0, colon), text: line.slice(colon + 2) } : { name: "", text: line };
}

export function Document({ text }) {
  const [all, setAll] = useState(false);
  const lines = linesOf(text);
  const shown = all ? lines : lines.slice(0, FIRST);
  return html`<dl class="document">${shown.map((line, at) => html`<div key=${at} class=${line.head ? "document-head" : undefined}>
      <dt dir="auto">${readable(line.name)}</dt><dd dir="auto">${readable(line.text)}</dd></div>`)}</dl>
    ${lines.length > FIRST && html`<button type="button" class="more" aria-expanded=${all} onClick=${() => setAll(!all)}>
      ${all ? t("entity.text.less") : t("entity.text.all", { n: lines.length - FIRST })}</button>`}`;
}
