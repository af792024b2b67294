// Entities of one name told apart: in data of many museums each has its own record of a painter, its own "American".

const folded = (label) => label.trim().toLowerCase();

function partsOf(iri) {
  try {
    const url = new URL(iri);
    const whole = url.pathname + url.search + url.hash;
    const decoded = decodeURIComponent(whole);
    const path = decoded === decoded.trim() ? decoded : whole; // a blank at the end is no difference that can be seen
    const end = path.split(/[/#]/).filter(Boolean).slice(-2).join("/");
    return { host: url.host.replace(/^(www|data)\./, ""), end };
  } catch {
    return { host: "", end: iri };
  }
}

/**
 * For those of the list ([{iri, label}]) that share their label with another: what tells them apart, by IRI. The host of the
 * address, and its end where the host is another's too.
 */
export function hints(list) {
  const groups = new Map();
  for (const { iri, label } of list) {
    if (!iri || !label) continue;
    const group = groups.get(folded(label)) ?? new Set();
    groups.set(folded(label), group.add(iri));
  }
  const found = new Map();
  for (const group of groups.values()) {
    if (group.size < 2) continue;
    const parts = [...group].map((iri) => ({ iri, ...partsOf(iri) }));
    for (const { iri, host, end } of parts) {
      const alone = parts.filter((one) => one.host === host).length === 1;
      const same = parts.every((one) => one.host === host);
      found.set(iri, alone ? host || end : same ? end : [host, end].filter(Boolean).join(" · "));
    }
  }
  return found;
}

/** The list with one of each label, the first. */
export function oneOfEach(list) {
  const seen = new Set();
  return list.filter(({ label }) => !seen.has(folded(label)) && seen.add(folded(label)));
}
