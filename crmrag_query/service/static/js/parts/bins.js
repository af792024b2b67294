// Counting dates by periods of equal length. No drawing here.
const LENGTHS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];

/** First and last year of dated items, open ends left out; null where none has a year. */
export function extentOf(items) {
  let [first, last] = [Infinity, -Infinity];
  for (const { begin, end } of items) {
    for (const year of [begin, end]) {
      if (year === null) continue;
      first = Math.min(first, year);
      last = Math.max(last, year);
    }
  }
  return first <= last ? { first, last } : null;
}

/**
 * Periods that cover the items, at most `most` of them: [{begin, end, sure, maybe}], both years inclusive.
 * `sure` items lie within one period, `maybe` are those of longer or open dates that overlap it.
 */
export function binsOf(items, most) {
  const extent = extentOf(items);
  if (!extent) return [];
  const length = LENGTHS.find((one) => (extent.last - extent.first + 1) / one <= most - 1) ?? LENGTHS.at(-1);
  const start = Math.floor((extent.first - 1) / length) * length + 1; // as centuries begin: 1101, 1, 100 BC
  const count = Math.floor((extent.last - start) / length) + 1;
  const bins = Array.from({ length: count }, (_, at) => ({ begin: start + at * length, end: start + (at + 1) * length - 1, sure: 0, maybe: 0 }));
  const at = (year) => Math.floor((year - start) / length);
  for (const { begin, end } of items) {
    const [from, to] = [begin === null ? 0 : at(begin), end === null ? count - 1 : at(end)];
    if (from === to && begin !== null && end !== null) bins[from].sure += 1;
    else for (let one = from; one <= to; one += 1) bins[one].maybe += 1;
  }
  return bins;
}

const BULK = 0.01; // of the dates on either side that are left out of the stretch where most lie
const MANY = 200; // dates from which that is worth it
const WIDER = 4; // times as long as that stretch all of them have to be

/** First and last year of the stretch where nearly all dates lie, where it is much shorter than all of them take; else null. */
export function bulkOf(items) {
  if (items.length < MANY) return null;
  const years = (side, other) => items.map((one) => one[side] ?? one[other]).sort((a, b) => a - b);
  const [begins, ends] = [years("begin", "end"), years("end", "begin")];
  const cut = Math.ceil(items.length * BULK);
  const bulk = { first: begins[cut], last: ends[ends.length - 1 - cut] };
  const whole = extentOf(items);
  return whole.last - whole.first + 1 > WIDER * (bulk.last - bulk.first + 1) ? bulk : null;
}

/** Places of the first and the last of the periods that the years from `begin` to `end` lie in. */
export function periodsOf(bins, [begin, end]) {
  const at = (year) => Math.max(0, Math.min(bins.length - 1, bins.findLastIndex((bin) => bin.begin <= year)));
  return [at(begin), at(end)];
}

/** Whether a date may lie in the years from `begin` to `end`. */
export const overlaps = (item, begin, end) => (item.begin ?? -Infinity) <= end && (item.end ?? Infinity) >= begin;

/** Years for an axis from `first` to `last`, at most `most`, that are round as they are written: 500 BC, 1, 500. */
export function ticksOf(first, last, most) {
  const step = LENGTHS.filter((one) => one !== 25 && one !== 250).find((one) => (last - first) / one <= most) ?? LENGTHS.at(-1);
  const ticks = [];
  for (let round = Math.floor(first / step) * step; round <= last; round += step) ticks.push(round < 0 ? round + 1 : round || 1);
  return ticks.filter((year) => year >= first && year <= last);
}
