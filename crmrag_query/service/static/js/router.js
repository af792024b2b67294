// Addresses of the page: which view shows, and moving between them without loading the page anew.
import { store } from "./store.js";

const ROUTES = [
  [/^\/$/, "ask", []],
  [/^\/a\/([^/]+)$/, "answer", ["id"]],
  [/^\/c\/([^/]+)$/, "conversation", ["id"]],
  [/^\/e$/, "entity", []],
  [/^\/d\/([^/]+)$/, "dataset", ["name"]],
  [/^\/s$/, "set", []],
  [/^\/t$/, "theme", []],
];

function read(moves) {
  const { pathname, search, hash } = window.location;
  for (const [pattern, view, names] of ROUTES) {
    const found = pattern.exec(pathname);
    if (!found) continue;
    const params = Object.fromEntries(new URLSearchParams(search));
    names.forEach((name, at) => {
      params[name] = decoded(found[at + 1]);
    });
    return { view, params, hash: hash.slice(1), moves };
  }
  return { view: "missing", params: {}, hash: "", moves };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where the page is: {view, params, hash, moves}; `moves` differs for every move, so that a view begins anew. */
export const place = store(read(0));

const moved = () => place.set(read(place.get().moves + 1));

/** Go to an address of the page. */
export function navigate(address, { replace = false } = {}) {
  window.history[replace ? "replaceState" : "pushState"](null, "", address);
  moved();
  window.scrollTo(0, 0);
}

/** Change the address that shows, the view staying as it is. */
export const rewrite = (address) => window.history.replaceState(null, "", address);

/** The address of a view with a query string, empty values left out. */
export function address(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(given).toString();
  return query ? `${path}?${query}` : path;
}

export const themeAddress = (id, dataset) => address("/t", { id, dataset });

export const entityAddress = (iri, dataset) => address("/e", { iri, dataset });

function inPage(link, event) {
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!plain || link.target || link.hasAttribute("download") || link.origin !== window.location.origin) return false;
  return ROUTES.some(([pattern]) => pattern.test(link.pathname));
}

/** Follow links within the page, and the browser's back and forward. */
export function listen() {
  window.addEventListener("popstate", moved);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!link || event.defaultPrevented) return;
    if (link.id === "skip") {
      event.preventDefault();
      document.getElementById("main")?.focus();
    } else if (inPage(link, event)) {
      event.preventDefault();
      navigate(link.href);
    }
  });
}
