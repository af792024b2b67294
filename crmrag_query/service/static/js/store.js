// Values that several parts of the page share, and what this browser keeps.
import { useEffect, useState } from "../vendor/preact.js";

/** A value with `get()`, `set(value)` and `subscribe(listener)`, which gives the function that ends it. */
export function store(value) {
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store, the part rendered anew when it changes. */
export function useStore(one) {
  const [, again] = useState(0);
  useEffect(() => one.subscribe(() => again((n) => n + 1)), [one]);
  return one.get();
}

const PREFIX = "crmrag.";

/** What this browser keeps under a name; `fallback` where it keeps nothing, or may not. */
export function kept(name, fallback = null) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? fallback : JSON.parse(text);
  } catch {
    return fallback;
  }
}

/** Keep a value in this browser; null forgets it. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Storage that is full or forbidden: the page works without.
  }
}

/** The mode that questions are asked in, "" for the service's default; until the page is left. */
export const mode = store("");
/** Whether questions are asked of what a machine read from pages, too; until the page is left. */
export const readToo = store(true);

// Theme: "" as the system has it, "light" or "dark". theme.js reads the bare word before the first paint.
export const theme = store(document.documentElement.dataset.theme ?? "");

export function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  try {
    if (name) localStorage.setItem(`${PREFIX}theme`, name);
    else localStorage.removeItem(`${PREFIX}theme`);
  } catch {
    // As in keep.
  }
  theme.set(name);
}

// The data set that is asked: its name, "" until it is known.
export const dataset = store("");

export function chooseDataset(name) {
  if (!name) return;
  keep("dataset", name);
  dataset.set(name);
}

// Questions asked in this browser, newest first: {question, dataset, answer, thread, when}.
const REMEMBERED = 60;
export const asked = store(kept("asked", []));

export function remember(one) {
  const others = asked.get().filter((old) => old.question !== one.question || old.dataset !== one.dataset);
  const list = [one, ...others].slice(0, REMEMBERED);
  keep("asked", list);
  asked.set(list);
}

export function forgetAsked() {
  keep("asked", null);
  asked.set([]);
}

// Keys of the conversations begun in this browser, by id: who has one may go on with it.
const KEYS = 200;

export function keyOf(thread) {
  return kept("keys", []).find((one) => one.id === thread)?.key ?? "";
}

export function keepKey(id, key) {
  keep("keys", [{ id, key }, ...kept("keys", []).filter((one) => one.id !== id)].slice(0, KEYS));
}
