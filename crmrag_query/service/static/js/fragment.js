// Which part of a question may be the beginning of a name: what the box proposes entities for.

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’.-]*/gu;
const WORDS = 5; // of a name, at most
const LETTERS = 3; // of a name's beginning, at least
const LOWER_LETTERS = 4; // of a word without a capital, which may be any word

const isName = (word) => /^\p{Lu}/u.test(word);

/** {start, end, text} of the name that ends at the caret; null where none does. */
export function fragmentAt(text, caret) {
  const before = text.slice(0, caret);
  if (/^[\p{L}\p{N}]/u.test(text.slice(caret))) return null;
  const words = [...before.matchAll(WORD)].map((found) => ({ text: found[0], start: found.index, end: found.index + found[0].length }));
  const last = words.at(-1);
  if (!last || before.slice(last.end).length > 1 || before.slice(last.end).trim()) return null;
  const run = runOf(words, before);
  const named = run.find((word) => isName(word.text) && word !== words[0]);
  const first = named ?? (run.length === words.length && isName(words[0].text) && words.length > 1 ? null : last);
  if (!first) return null;
  const fragment = { start: first.start, end: last.end, text: before.slice(first.start, last.end) };
  const least = named || words.length === 1 ? LETTERS : LOWER_LETTERS;
  return fragment.text.length >= least ? fragment : null;
}

/** The last words that only blanks part. */
function runOf(words, text) {
  let first = words.length - 1;
  while (first > 0 && words.length - first < WORDS && !text.slice(words[first - 1].end, words[first].start).trim()) first -= 1;
  return words.slice(first);
}
