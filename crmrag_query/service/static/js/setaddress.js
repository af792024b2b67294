// The address of a set: its plan, and how it is looked at, after the # (a plan may be long, and is no business of logs).

/** state: {plan, question, sort, descending, offset, tab}; what is empty is left out. */
export function setAddress(dataset, state) {
  const given = Object.fromEntries(Object.entries(state).filter(([, value]) => value));
  const bytes = new TextEncoder().encode(JSON.stringify(given));
  const packed = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `/s?${new URLSearchParams({ dataset })}#${packed.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The state of an address; null for what is none. */
export function readState(hash) {
  try {
    const text = atob(hash.replaceAll("-", "+").replaceAll("_", "/"));
    const state = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (one) => one.charCodeAt(0))));
    return state !== null && typeof state === "object" && state.plan ? state : null;
  } catch {
    return null;
  }
}

/** The plan that lists what another one counts. */
export function listPlan(set) {
  if (set.kind !== "count" && set.kind !== "ask") return set.plan;
  const { compute, ...rest } = set.plan;
  return rest;
}
