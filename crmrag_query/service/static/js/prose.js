// The text of an answer as blocks of pieces, ready to be shown. Positions are those of its code points, as the service counts.

const MARKER = /\[\s*\d+(?:\s*,\s*\d+)*\s*\]|\*\*/g;
const BULLET = /^\s*[-*•]\s+/;
const NUMBERED = /^\s*(\d+)[.)]\s+/;
const HEADING = /^\s*#{1,6}\s+/;

/** Where each code point of a text begins in its UTF-16 form, and its end. */
function positions(text) {
  const at = [];
  let length = 0;
  for (const point of text) {
    at.push(length);
    length += point.length;
  }
  at.push(length);
  return (n) => at[Math.max(0, Math.min(n, at.length - 1))];
}

const ranged = (list, place) => list.map((one) => ({ ...one, start: place(one.start), end: place(one.end) }));

/**
 * Blocks {kind: "line" | "bullet" | "number" | "heading", number, pieces}; a piece is {text, strong, doubt} or {cites: [n]}.
 * citations, unsupported: as an answer has them; only what they name as cited becomes `cites`.
 */
export function blocksOf(text, citations = [], unsupported = []) {
  const place = positions(text);
  const cited = ranged(citations, place);
  const doubts = ranged(unsupported, place);
  const blocks = [];
  let start = 0;
  for (const line of text.split("\n")) {
    if (line.trim()) blocks.push(block(line, start, cited, doubts));
    start += line.length + 1;
  }
  return blocks;
}

function block(line, start, cited, doubts) {
  const [kind, mark] = [["bullet", BULLET], ["number", NUMBERED], ["heading", HEADING]]
    .map(([name, pattern]) => [name, pattern.exec(line)])
    .find(([, found]) => found) ?? ["line", null];
  const skipped = mark ? mark[0].length : 0;
  const pieces = piecesOf(line.slice(skipped), start + skipped, cited, doubts);
  return { kind, number: kind === "number" ? Number(mark[1]) : undefined, pieces };
}

function piecesOf(line, start, cited, doubts) {
  const pieces = [];
  let strong = false;
  let done = 0;
  const say = (end) => {
    if (end > done) pieces.push(...split(line.slice(done, end), start + done, doubts).map((piece) => ({ ...piece, strong })));
  };
  for (const found of line.matchAll(MARKER)) {
    if (found[0] === "**") {
      say(found.index);
      strong = !strong;
    } else {
      const numbers = cites(found[0], start + found.index, cited);
      if (!numbers) continue;
      say(found.index);
      trim(pieces);
      pieces.push({ cites: numbers });
    }
    done = found.index + found[0].length;
  }
  say(line.length);
  return pieces;
}

/** The numbers of a marker, where the answer says that it is a citation. */
function cites(marker, at, cited) {
  const numbers = marker.match(/\d+/g).map(Number);
  const within = cited.filter((one) => one.start <= at && at + marker.length <= one.end + 1);
  return within.some((one) => numbers.every((n) => one.numbers.includes(n))) ? numbers : null;
}

/** A marker stands close to what it cites. */
function trim(pieces) {
  const last = pieces.at(-1);
  if (last?.text) last.text = last.text.trimEnd();
}

/** A stretch cut where doubts begin and end. */
function split(text, start, doubts) {
  const end = start + text.length;
  const cuts = new Set([start, end]);
  for (const one of doubts) for (const cut of [one.start, one.end]) if (cut > start && cut < end) cuts.add(cut);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(1).map((to, at) => {
    const from = sorted[at];
    const doubt = doubts.find((one) => one.start <= from && to <= one.end);
    return { text: text.slice(from - start, to - start), doubt };
  });
}
