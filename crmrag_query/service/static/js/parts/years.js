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
