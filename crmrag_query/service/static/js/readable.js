// Names as people read them: what marks up a text (italics, a paragraph) and what stands for a character are left out or
// put in. What comes out is a text still; it is never read as markup.

const MARKS = /<\/?(?:i|em|b|strong|u|p|br|sup|sub|small|cite|span)\s*\/?>/gi;
const NAMED = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " ", ndash: "–", mdash: "—", hellip: "…", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”" };
const UNSEEN = /\p{C}/u; // controls, marks that turn the direction of writing, halves of characters
const STANDS_FOR = /&(?:#(\d{2,6})|#x([0-9a-f]{2,5})|([a-z]{2,6}));/gi;

function character(whole, decimal, hex, name) {
  if (name) return NAMED[name.toLowerCase()] ?? whole;
  const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
  const found = code <= 0x10ffff ? String.fromCodePoint(code) : "";
  return found && !UNSEEN.test(found) ? found : whole;
}

/** The text without marks of formatting; as it is where they are all that it has. */
export function readable(text) {
  if (typeof text !== "string" || !/[<&]/.test(text)) return text;
  const plain = text.replace(/<(?:p|br)\s*\/?>/gi, " ").replace(MARKS, "").replace(STANDS_FOR, character).replace(/\s+/g, " ").trim();
  return plain || text;
}
