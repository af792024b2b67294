// The service's programming interface: one function for each thing that it can be asked (see /docs).
// Every function takes {signal} last and throws ApiError.
import { store } from "./store.js";

const PREFIX = "/api/v1";

/** What went wrong: `problem` is a problem document {status, title, detail, remedy, error, suggestions}. */
export class ApiError extends Error {
  constructor(problem) {
    super(problem.detail || problem.title);
    this.name = "ApiError";
    this.problem = problem;
  }

  /** The service could not be reached, or broke off. */
  get offline() {
    return this.problem.status === 0;
  }
}

/** True while the service cannot be reached; the page then tries until it can. */
export const offline = store(false);

const PAUSES = [1000, 2000, 3000, 5000, 10000]; // milliseconds between two tries, the last from then on
let trying = false;

async function tryUntilBack() {
  if (trying) return;
  trying = true;
  for (let at = 0; offline.get(); at += 1) {
    await new Promise((wake) => setTimeout(wake, PAUSES[Math.min(at, PAUSES.length - 1)]));
    try {
      if ((await fetch("/health", { cache: "no-store" })).ok) offline.set(false);
    } catch {
      // Still away.
    }
  }
  trying = false;
}

function away() {
  offline.set(true);
  tryUntilBack();
  return new ApiError({ status: 0, title: "offline", detail: "", remedy: "" });
}

let key = "";
try {
  key = sessionStorage.getItem("crmrag.key") ?? "";
} catch {
  // Storage may be forbidden: the key is then asked for on every visit.
}

/** The key of a service that wants one, kept until the browser's tab is closed. */
export function useKey(text) {
  key = text;
  try {
    sessionStorage.setItem("crmrag.key", text);
  } catch {
    // As above.
  }
}

function asQuery(params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

async function send(method, path, { params, body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    response = await fetch(PREFIX + path + asQuery(params), { method, headers, body: sent, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw away();
  }
  if (!response.ok) throw new ApiError(await problemOf(response));
  return response;
}

async function problemOf(response) {
  const plain = { status: response.status, title: response.statusText, detail: "", remedy: "" };
  try {
    return { ...plain, ...(await response.json()), status: response.status };
  } catch {
    return plain;
  }
}

async function read(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw away();
  }
}

export const documents = (params, how) => get("/documents", params, how); // dataset

/** Send a document to a data set. */
export async function sendDocument(file, dataset, { signal } = {}) {
  const headers = { "Content-Type": "application/octet-stream" };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(`${PREFIX}/documents${asQuery({ dataset, name: file.name })}`, { method: "POST", headers, body: file, signal });
  } catch {
    throw away();
  }
  if (response.ok) return read(response);
  const problem = await problemOf(response);
  throw new ApiError(problem.status === 403 ? { ...problem, status: 401 } : problem); // a key that may only ask: another is wanted
}

/** The image of a page of a document as a data: address: with a key, which an address alone would not bring. params: iri, dataset. */
export async function pageImage(params, { signal } = {}) {
  const response = await send("GET", "/page.png", { params, accept: "image/png", signal });
  const image = await response.blob();
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(away());
    reader.readAsDataURL(image);
  });
}

const get = async (path, params, { signal } = {}) => read(await send("GET", path, { params, signal }));
const post = async (path, body, { signal } = {}) => read(await send("POST", path, { body, signal }));

export const datasets = (how) => get("/datasets", {}, how);
export const datasetDetail = (params, how) => get("/dataset", params, how); // dataset, language
export const search = (params, how) => get("/search", params, how); // text, dataset, limit
export const entity = (params, how) => get("/entity", params, how); // iri, dataset, language
export const neighbours = (params, how) => get("/neighbours", params, how); // iri, dataset, limit, offset, language
export const lineage = (params, how) => get("/lineage", params, how); // s, p, o, source, dataset
export const retrieve = (body, how) => post("/retrieve", body, how);
export const set = (body, how) => post("/set", body, how); // plan, dataset, offset, limit, sort, descending, language, reason
export const facets = (body, how) => post("/facets", body, how); // plan, dataset, language, keys
export const exportSet = (body, how) => post("/export", body, how); // plan, dataset, format, question, language
export const plan = (body, how) => post("/plan", body, how);
export const editPlan = (body, how) => post("/plan/edit", body, how); // plan, change, remove, dataset, language
export const choices = (body, how) => post("/plan/choices", body, how); // plan, path, what, text, limit, dataset, language
/** The address of a set as a CSV file: plan (as JSON), dataset, question, language, columns (with commas between). */
export const csvAddress = (params) => `${window.location.origin}${PREFIX}/set.csv${asQuery(params)}`;
export const columns = (body, how) => post("/set/columns", body, how); // plan, dataset, language
export const marks = (body, how) => post("/set/marks", body, how); // plan, dataset, language
export const newConversation = (body, how) => post("/conversations", body, how); // dataset
export const conversation = (params, how) => get("/conversations", params, how); // id
export const forgetConversation = (body, how) => post("/conversations/remove", body, how); // id, key
export const answer = (params, how) => get("/answers", params, how); // id
export const replay = (body, how) => post("/replay", body, how); // id
export const feedback = (body, how) => post("/feedback", body, how); // answer, verdict, comment

const MODES_KEPT = 60_000; // milliseconds, after which a new release may be asked in other modes
const keptModes = new Map();

/** The modes of a data set: asked for once for all that shows them, so that it cannot be stopped. */
export function modes({ dataset }) {
  const kept = keptModes.get(dataset);
  if (kept && performance.now() - kept.at < MODES_KEPT) return kept.found;
  const found = get("/modes", { dataset });
  keptModes.set(dataset, { at: performance.now(), found });
  found.catch(() => keptModes.delete(dataset));
  return found;
}

export const compareModes = (body, how) => post("/modes/compare", body, how); // question, dataset, modes
export const candidates = (params, how) => get("/candidates", params, how); // dataset, limit, offset, language
export const evaluations = (params, how) => get("/evaluations", params, how); // dataset
export const themes = (params, how) => get("/themes", params, how); // dataset, level, within, theme, of, limit, language
export const sparql = (body, how) => post("/sparql", body, how); // query, dataset, limit

/**
 * Ask, and yield the events of the answer as {name, data}; ends after `done`, throws for `error`.
 * body: {question, dataset, conversation, thread, key, mode}
 */
export async function* ask(body, { signal } = {}) {
  const response = await send("POST", "/ask", { body, accept: "text/event-stream", signal });
  for await (const { name, data } of events(response.body, signal)) {
    if (name === "error") throw new ApiError({ status: 500, ...data });
    yield { name, data };
    if (name === "done") return;
  }
  throw away();
}

/** Server-sent events of a body. Source: WHATWG HTML, 9.2.6, as far as the service uses it. */
async function* events(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let name = "";
  let lines = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop();
      for (const line of parts) {
        if (line === "") {
          if (lines.length) yield { name: name || "message", data: JSON.parse(lines.join("\n")) };
          name = "";
          lines = [];
        } else if (line.startsWith("event:")) name = line.slice(6).trimStart();
        else if (line.startsWith("data:")) lines.push(line.slice(5).replace(/^ /, ""));
      }
    }
  } catch (error) {
    if (signal?.aborted) throw new DOMException("stopped", "AbortError");
    throw error instanceof TypeError ? away() : error;
  } finally {
    reader.cancel().catch(() => {});
  }
}
