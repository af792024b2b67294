// Markdown as nodes of the page: headings, lists, tables, code and emphasis. Anything else, links and markup too, is its text.
import { html } from "../../vendor/preact.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Blocks of a text: {kind: "heading", level, text}, {kind: "list", ordered, items}, {kind: "table", head, rows}, {kind: "code" | "text", text}. */
export function blocksOf(markdown) {
  const lines = markdown.replaceAll("\r\n", "\n").split("\n");
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines, at) {
  const line = lines[at];
  if (!line.trim() || RULE.test(line)) return [null, at + 1];
  if (FENCE.test(line)) return code(lines, at);
  const heading = HEADING.exec(line);
  if (heading) return [{ kind: "heading", level: heading[1].length, text: heading[2] }, at + 1];
  if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "")) return table(lines, at);
  if (ITEM.test(line)) return list(lines, at);
  return paragraph(lines, at);
}

function code(lines, at) {
  const fence = FENCE.exec(lines[at])[1];
  const end = lines.findIndex((line, n) => n > at && line.trim().startsWith(fence));
  const last = end < 0 ? lines.length : end;
  return [{ kind: "code", text: lines.slice(at + 1, last).join("\n") }, last + 1];
}

function table(lines, at) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  return [{ kind: "table", head: cells(lines[at]), rows: lines.slice(at + 2, end).map(cells) }, end];
}

/** Cells of a line, which `|` parts unless a backslash stands before it. */
const cells = (line) => line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/).map((cell) => cell.trim());

function list(lines, at) {
  const first = ITEM.exec(lines[at]);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const found = ITEM.exec(lines[end]);
    if (found && found[1].length > first[1].length) { // a list within the item before
      const [inner, next] = list(lines, end);
      items.at(-1).inner.push(inner);
      end = next;
    } else if (found && found[1].length === first[1].length) {
      items.push({ text: found[3], inner: [] });
      end += 1;
    } else if (!found && lines[end].trim() && /^\s/.test(lines[end])) {
      items.at(-1).text += ` ${lines[end].trim()}`;
      end += 1;
    } else break;
  }
  return [{ kind: "list", ordered: first[2] !== undefined, items }, end];
}

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !HEADING.test(lines[end]) && !ITEM.test(lines[end]) && !FENCE.test(lines[end])) end += 1;
  return [{ kind: "text", text: lines.slice(at, end).map((line) => line.trim()).join(" ") }, end];
}

const INLINE = /(`+)([\s\S]+?)\1(?!`)|\*\*(?=\S)((?:\\.|[^\\])+?)\*\*|(?<![\w*])\*(?=\S)((?:\\.|[^*\\])+?)\*|(?<!\w)_(?=\S)((?:\\.|[^_\\])+?)_(?!\w)|\\([!-/:-@[-`{-~])/g;

/** Pieces of a line: texts, or {tag, text} for code, strong and emphasis. */
export function piecesOf(text) {
  const pieces = [];
  let done = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > done) pieces.push(text.slice(done, found.index));
    const [whole, , monospaced, strong, star, line, escaped] = found;
    if (escaped) pieces.push(escaped);
    else if (monospaced) pieces.push({ tag: "code", text: monospaced.trim() });
    else if (strong) pieces.push({ tag: "strong", text: strong });
    else pieces.push({ tag: "em", text: star ?? line });
    done = found.index + whole.length;
  }
  if (done < text.length) pieces.push(text.slice(done));
  return pieces;
}

function Inline({ text }) {
  return piecesOf(text).map((piece, at) => {
    if (typeof piece === "string") return piece;
    if (piece.tag === "code") return html`<code key=${at}>${piece.text}</code>`;
    return piece.tag === "strong"
      ? html`<strong key=${at}><${Inline} text=${piece.text} /></strong>`
      : html`<em key=${at}><${Inline} text=${piece.text} /></em>`;
  });
}

const HEADINGS = { 2: "h2", 3: "h3", 4: "h4", 5: "h5", 6: "h6" };

/** top: the level of the page's heading above the text, below which its own begin. */
export function Markdown({ text, top = 2 }) {
  const blocks = blocksOf(text);
  const least = Math.min(...blocks.filter(({ kind }) => kind === "heading").map(({ level }) => level), 6);
  return html`<div class="markdown">${blocks.map((block, at) => html`<${Block} key=${at} block=${block} raise=${top + 1 - least} />`)}</div>`;
}

function Block({ block, raise }) {
  const { kind, text } = block;
  if (kind === "heading") {
    const tag = HEADINGS[Math.min(6, block.level + raise)] ?? "h6";
    return html`<${tag} dir="auto"><${Inline} text=${text} /></${tag}>`;
  }
  if (kind === "code") return html`<pre tabindex="0"><code>${text}</code></pre>`;
  if (kind === "list") return html`<${List} list=${block} />`;
  if (kind === "table") return html`<${Table} table=${block} />`;
  return html`<p dir="auto"><${Inline} text=${text} /></p>`;
}

function List({ list }) {
  const tag = list.ordered ? "ol" : "ul";
  return html`<${tag}>${list.items.map((item, at) => html`<li key=${at} dir="auto"><${Inline} text=${item.text} />
    ${item.inner.map((inner, n) => html`<${List} key=${n} list=${inner} />`)}</li>`)}</${tag}>`;
}

function Table({ table }) {
  const isNumber = (cell) => /^[\d.,  ]+%?$/.test(cell);
  return html`<div class="table-scroll" tabindex="0" role="group" aria-label=${table.head.join(", ")}><table>
    <thead><tr>${table.head.map((cell, at) => html`<th key=${at} scope="col" dir="auto"><${Inline} text=${cell} /></th>`)}</tr></thead>
    <tbody>${table.rows.map((row, at) => html`<tr key=${at}>${table.head.map((_, n) => html`<td key=${n} dir="auto" class=${isNumber(row[n] ?? "") ? "number" : undefined}><${Inline} text=${row[n] ?? ""} /></td>`)}</tr>`)}</tbody>
  </table></div>`;
}
