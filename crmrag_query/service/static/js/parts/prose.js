// The text of an answer: its citations as buttons, what its sources do not support marked.
import { Fragment, html } from "../../vendor/preact.js";
import { t } from "../i18n.js";
import { blocksOf } from "../prose.js";

/** An answered text. `onMark(n)`: a citation is pointed at (null: no more); `onOpen(n)`: it is clicked. */
export function Prose({ answer, onMark, onOpen }) {
  const labels = new Map(answer.sources.map((source) => [source.n, source.label]));
  const blocks = blocksOf(answer.text, answer.citations, answer.unsupported);
  return html`<div class="prose" lang=${answer.language || undefined}>${grouped(blocks).map((group, at) =>
    html`<${Group} key=${at} group=${group} labels=${labels} onMark=${onMark} onOpen=${onOpen} />`)}</div>`;
}

/** A text that is still being written. */
export function Writing({ text }) {
  return html`<div class="prose writing">${grouped(blocksOf(text)).map((group, at) => html`<${Group} key=${at} group=${group} labels=${new Map()} />`)}</div>`;
}

function grouped(blocks) {
  const groups = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    if (last && last.kind === block.kind) last.blocks.push(block);
    else groups.push({ kind: block.kind, blocks: [block] });
  }
  return groups;
}

function Group({ group, ...rest }) {
  const inner = (block) => html`<${Pieces} pieces=${block.pieces} ...${rest} />`;
  if (group.kind === "bullet") return html`<ul>${group.blocks.map((one, at) => html`<li key=${at} dir="auto">${inner(one)}</li>`)}</ul>`;
  if (group.kind === "number") {
    return html`<ol start=${group.blocks[0].number}>${group.blocks.map((one, at) => html`<li key=${at} dir="auto">${inner(one)}</li>`)}</ol>`;
  }
  const kind = group.kind === "heading" ? "prose-heading" : "";
  return group.blocks.map((one, at) => html`<p key=${at} class=${kind} dir="auto">${inner(one)}</p>`);
}

function Pieces({ pieces, labels, onMark, onOpen }) {
  return pieces.map((piece, at) => html`<${Fragment} key=${at}>${
    piece.cites ? html`<${Cites} numbers=${piece.cites} labels=${labels} onMark=${onMark} onOpen=${onOpen} />` : said(piece, lastOf(pieces, piece) === at)
  }<//>`);
}

/** Where the stretch that a doubtful piece belongs to ends, so that the reason is read out once. */
const lastOf = (pieces, { doubt }) => (doubt ? pieces.findLastIndex((one) => one.doubt === doubt && one.text.trim()) : -1);

function said(piece, last) {
  const text = piece.strong ? html`<strong>${piece.text}</strong>` : piece.text;
  if (!piece.doubt || !piece.text.trim()) return text;
  const why = t(`doubt.${piece.doubt.reason}`, { missing: (piece.doubt.missing ?? []).join(", ") });
  return html`<span class="doubt" title=${why}>${text}${last && html`<span class="hidden-visually"> (${why})</span>`}</span>`;
}

function Cites({ numbers, labels, onMark, onOpen }) {
  return html`<sup class="cites">${numbers.map((n) => html`<button type="button" class="cite" key=${n}
    aria-label=${t("cite", { n, label: labels.get(n) ?? "" })} onMouseEnter=${() => onMark?.(n)} onMouseLeave=${() => onMark?.(null)}
    onFocus=${() => onMark?.(n)} onBlur=${() => onMark?.(null)} onClick=${() => onOpen?.(n)}>${n}</button>`)}</sup>`;
}
