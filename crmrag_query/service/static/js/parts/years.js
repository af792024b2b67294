// Years as the data and the page write them. Within the page a year is astronomical: 1 is AD 1, 0 is 1 BC, -499 is 500 BC.
import { t } from "../i18n.js";

/** A year as ISO 8601 writes it ("1105", "-0499") or a number; null for none. */
export function yearOf(value) {
  if (value === null || value === undefined || value === "") return null;
  const year = Number(String(value).match(/^[+-]?\d{1,6}/)?.[0] ?? NaN);
  return Number.isFinite(year) ? year : null;
}

/** A year in words: "1105", "500 BC". */
export const yearText = (year) => (year > 0 ? String(year) : t("years.bc", { year: String(1 - year) }));

/** A range of years in words; null is an open end. */
export function rangeText(begin, end) {
  if (begin === null && end === null) return t("years.unknown");
  if (begin === null) return t("years.until", { year: yearText(end) });
  if (end === null) return t("years.since", { year: yearText(begin) });
  return begin === end ? yearText(begin) : `${yearText(begin)} – ${yearText(end)}`;
}

// Words around years in texts of dates, in the languages that the service writes them in.
const BC = /(?:BC|av\. J\.-C\.|v\. Chr\.|π\.Χ\.)/u;
const UNTIL = /^(?:until|jusqu'en|bis|έως)\s/u;
const SINCE = /^(?:since|depuis|seit|από)\s/u;
const ABOUT = /^(?:ca\.|vers|um|περ\.)\s+/u;

/**
 * The first and last year of a date as the service writes it ("1105–1106", "500–401 BC", "12 May 1885", "until 1900"), null for
 * an open end: {begin, end}; null for a text that says no year.
 */
export function yearsOf(text) {
  const plain = (text ?? "").trim().replace(ABOUT, "");
  const sides = plain.split(/\s*–\s*/);
  const edges = sides.map(yearWithin);
  if (!edges.length || edges.some((one) => one === null) || edges.length > 2) return null;
  const [first, last] = [edges[0], edges.at(-1)];
  const begin = first.bc || (last.bc && edges.length === 2) ? 1 - first.year : first.year;
  const end = last.bc ? 1 - last.year : last.year;
  if (UNTIL.test(plain)) return { begin: null, end };
  if (SINCE.test(plain)) return { begin, end: null };
  return begin <= end ? { begin, end } : null;
}

/** The year that an end of a date says, after its day and month. */
function yearWithin(text) {
  const found = text.match(/(\d{1,4})\s*([^\d]*)$/u);
  return found ? { year: Number(found[1]), bc: BC.test(found[2]) } : null;
}
