// The words of the interface: t("key", values). Numbers are written as the language does; {one, other, …} by plural rules.
import { kept, keep, store } from "./store.js";

export const LANGUAGES = { en: "English", fr: "Français", de: "Deutsch", el: "Ελληνικά", it: "Italiano", es: "Español" };

/** The language of the interface, which labels and sets are asked for in too. */
export const language = store("en");

let words = {};
let numbers = new Intl.NumberFormat("en");
let plurals = new Intl.PluralRules("en");

function wanted() {
  const chosen = kept("language");
  if (chosen in LANGUAGES) return chosen;
  const known = (navigator.languages ?? [navigator.language]).map((tag) => tag.slice(0, 2).toLowerCase());
  return known.find((tag) => tag in LANGUAGES) ?? "en";
}

/** Load the words of a language, by default of the one that this browser wants. */
export async function loadLanguage(tag = wanted()) {
  const parts = await Promise.all([
    import(`./words/${tag}.js`),
    import(`./words/visual.${tag}.js`).catch(() => ({ default: {} })),
  ]);
  words = Object.assign({}, ...parts.map((part) => part.default));
  numbers = new Intl.NumberFormat(tag);
  plurals = new Intl.PluralRules(tag);
  document.documentElement.lang = tag;
  language.set(tag);
}

export async function chooseLanguage(tag) {
  keep("language", tag);
  await loadLanguage(tag);
}

/** A number as the language writes it. */
export const number = (value, how) => (how ? new Intl.NumberFormat(language.get(), how) : numbers).format(value);

/** A moment (ISO 8601) as the language writes it: by default its day. */
export function moment(text, how = { dateStyle: "long" }) {
  const when = new Date(text);
  return Number.isNaN(when.getTime()) ? text : new Intl.DateTimeFormat(language.get(), how).format(when);
}

/** The name of a language by its tag (BCP 47). */
export function languageName(tag) {
  try {
    return new Intl.DisplayNames([language.get()], { type: "language" }).of(tag);
  } catch {
    return tag;
  }
}

/** The words of a key, `{name}` replaced by its value; the plural form goes by `n`. The key itself where there are none. */
export function t(key, values = {}) {
  const found = words[key] ?? key;
  const text = typeof found === "string" ? found : (found[plurals.select(values.n ?? 0)] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? numbers.format(value) : String(value);
  });
}
