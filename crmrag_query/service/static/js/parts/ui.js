// Small parts that every view uses.
import { Component, html, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { ApiError, offline, useKey } from "../api.js";
import { number, t } from "../i18n.js";
import { useStore } from "../store.js";

const ICONS = {
  ask: "M4 12h15M13 6l6 6-6 6",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700l-1.300 1.300M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1.300-1.300",
  good: "M7 11v9H4v-9zM7 11l4-8a2.500 2.500 0 0 1 2.500 2.500V9H19a2 2 0 0 1 2 2.300l-1.200 7A2 2 0 0 1 17.800 20H7",
  bad: "M17 13V4h3v9zM17 13l-4 8a2.500 2.500 0 0 1-2.500-2.500V15H5a2 2 0 0 1-2-2.300l1.200-7A2 2 0 0 1 6.200 4H17",
  again: "M4 12a8 8 0 0 1 14-5.300L20 9M20 4v5h-5M20 12a8 8 0 0 1-14 5.300L4 15M4 20v-5h5",
  down: "M12 4v11M7 11l5 5 5-5M5 20h14",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500 19 19M5 19l1.500-1.500M17.500 6.500 19 5",
  moon: "M20 14.500A8 8 0 0 1 9.500 4a8 8 0 1 0 10.500 10.500z",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  plus: "M12 5v14M5 12h14",
  check: "M5 12.500 10 17l9-10",
  warn: "M12 4 2.500 20h19zM12 10v4.500M12 17.200v.3",
  next: "M9 5l7 7-7 7",
  previous: "M15 5l-7 7 7 7",
  graph: "M6 6l6 12M18 6l-6 12M7 5h10M6 3.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3zM18 3.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3zM12 17a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3z",
};

/** A drawn sign beside words; alone, its button needs a label. */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${ICONS[name]} /></svg>`;
}

/** kind: "primary", "quiet" (bordered), "plain"; icon: its name; label: for one that shows its sign only. */
export function Button({ kind = "quiet", icon, label, children, class: more = "", ...rest }) {
  const only = label && !children;
  return html`<button type="button" class=${`button ${kind} ${only ? "only" : ""} ${more}`} aria-label=${only ? label : undefined}
    title=${only ? label : undefined} ...${rest}>${icon && html`<${Icon} name=${icon} />`}${children}</button>`;
}

/** What stands where there is nothing to show. */
export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children && html`<div class="muted">${children}</div>`}</div>`;
}

/** Grey lines in the place of what comes; `lines` of them. */
export function Skeleton({ lines = 3 }) {
  return html`<div class="skeleton" role="status"><span class="hidden-visually">${t("loading")}</span>
    ${Array.from({ length: lines }, (_, at) => html`<span class="skeleton-line" key=${at} aria-hidden="true"></span>`)}
  </div>`;
}

/**
 * What went wrong and what to do about it. `error`: an ApiError or another error; `onRetry`: to try once more; `whole`: it is all
 * that the page shows, and its title the page's.
 */
export function Problem({ error, onRetry, whole = false }) {
  const Title = whole ? "h1" : "p";
  const away = useStore(offline);
  const told = error instanceof ApiError ? error.problem : { title: t("problem.page"), detail: String(error?.message ?? error) };
  const gone = error instanceof ApiError && error.offline;
  useEffect(() => {
    if (gone && !away && onRetry) onRetry();
  }, [gone, away]);
  if (gone) {
    return html`<div class="problem" role="alert"><${Title} class="problem-title">${t("problem.offline")}<//><p>${t("problem.offline.remedy")}</p></div>`;
  }
  if (told.status === 401) return html`<${AskKey} problem=${told} onRetry=${onRetry} Title=${Title} />`;
  return html`<div class="problem" role="alert">
    <${Title} class="problem-title"><bdi>${told.detail || told.title}</bdi><//>
    ${told.remedy && html`<p><bdi>${told.remedy}</bdi></p>`}
    ${told.suggestions?.length > 0 && html`<ul>${told.suggestions.map((one) => html`<li key=${one}><bdi>${one}</bdi></li>`)}</ul>`}
    ${onRetry && told.status !== 404 && html`<${Button} icon="again" onClick=${onRetry}>${t("problem.retry")}<//>`}
  </div>`;
}

function AskKey({ problem, onRetry, Title }) {
  const [text, setText] = useState("");
  const id = useId();
  const enter = (event) => {
    event.preventDefault();
    useKey(text.trim());
    onRetry ? onRetry() : window.location.reload();
  };
  return html`<form class="problem" onSubmit=${enter}>
    <${Title} class="problem-title">${problem.detail || t("problem.key")}<//>
    <label for=${id}>${t("problem.key.label")}</label>
    <div class="row"><input id=${id} class="field" type="password" autocomplete="off" value=${text} onInput=${(event) => setText(event.target.value)} />
    <button class="button primary">${t("problem.key.use")}</button></div>
  </form>`;
}

/** Tabs by the ARIA pattern. tabs: [{id, label, count?}]; `children` is the panel of the current one. */
export function Tabs({ tabs, current, onChange, label, children }) {
  const base = useId();
  const list = useRef(null);
  const at = Math.max(0, tabs.findIndex((tab) => tab.id === current));
  const go = (step) => (event) => {
    event.preventDefault();
    const next = (step + tabs.length) % tabs.length;
    onChange(tabs[next].id);
    list.current?.querySelectorAll("[role=tab]")[next]?.focus();
  };
  const keys = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
  return html`<div class="tabs">
    <div class="tab-list" role="tablist" aria-label=${label} ref=${list}
      onKeyDown=${(event) => event.key in keys && go(keys[event.key])(event)}>
      ${tabs.map((tab) => html`<button type="button" role="tab" class="tab" key=${tab.id} id=${`${base}-${tab.id}`} aria-selected=${tab.id === current}
        aria-controls=${`${base}-panel`} tabindex=${tab.id === current ? 0 : -1} onClick=${() => onChange(tab.id)}>${tab.label}
        ${tab.count !== undefined && html` <span class="count">${number(tab.count)}</span>`}</button>`)}
    </div>
    <div role="tabpanel" id=${`${base}-panel`} aria-labelledby=${`${base}-${current}`} tabindex="0" class="tab-panel">${children}</div>
  </div>`;
}

/** A button that copies a text and says so. */
export function Copy({ text, children, kind = "plain", label }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    const timer = done && setTimeout(() => setDone(false), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => setDone(await copied(typeof text === "function" ? text() : text));
  return html`<${Button} kind=${kind} icon=${done ? "check" : "copy"} onClick=${copy} label=${label}>${done ? t("copied") : children}<//>
    <span class="hidden-visually" role="status">${done ? t("copied") : ""}</span>`;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text); // without https there is no clipboard
  }
}

function copiedByHand(text) {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

/** A button that opens a small panel below it; Escape and leaving it close it. */
export function Menu({ label, icon, kind = "quiet", busy = false, children }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const box = useRef(null);
  const close = (event) => {
    if (event.key !== "Escape" || !open) return;
    setOpen(false);
    box.current.querySelector("button").focus();
  };
  const left = (event) => !box.current.contains(event.relatedTarget) && setOpen(false);
  return html`<div class="menu" ref=${box} onKeyDown=${close} onFocusOut=${left}>
    <${Button} kind=${kind} icon=${icon} aria-busy=${busy} aria-expanded=${open} aria-controls=${id} onClick=${() => setOpen(!open)}>${label}<//>
    <div id=${id} class="menu-panel" hidden=${!open} tabindex="-1">${children}</div>
  </div>`;
}

/** Shows the problem of a part that fails in the place of the part, so that the rest of the page stays. */
export class Guard extends Component {
  componentDidCatch(error) {
    this.setState({ error });
  }

  render({ children }, { error }) {
    return error ? html`<${Problem} error=${error} />` : children;
  }
}

/** A thing that is loaded: {value, error, loading, again}; anew when `needs` change, and when the service is back. */
export function useLoaded(load, needs) {
  const [state, setState] = useState({ loading: true });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ value: before.value, loading: true }));
    load({ signal: stop.signal }).then(
      (value) => !stop.signal.aborted && setState({ value, loading: false }),
      (error) => !stop.signal.aborted && setState({ error, loading: false }),
    );
    return () => stop.abort();
  }, [...needs, tries]);
  return { ...state, again: () => setTries((n) => n + 1) };
}

/** The title of the window while a view shows. */
export function useTitle(text) {
  useEffect(() => {
    document.title = text ? `${text} · CRM-RAG` : "CRM-RAG";
  }, [text]);
}

const FOLDED = 480; // characters of a text that shows in whole; of a longer one so many lines as the style says

/** A text of the data, a long one folded until it is opened: all of it is there, to be searched and printed. */
export function Folded({ text }) {
  const [open, setOpen] = useState(false);
  const long = [...text].length > FOLDED;
  return html`<bdi class=${long && !open ? "folded" : undefined}>${text}</bdi>
    ${long && html`<button type="button" class="more" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t(open ? "text.less" : "text.whole")}</button>`}`;
}
