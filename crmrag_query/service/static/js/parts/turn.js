// A question and its answer: text with citations, what it rests on, its set, and what can be done with it.
import { html, useMemo, useRef, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, number, t } from "../i18n.js";
import { Caption } from "./caption.js";
import { Connections } from "./connections.js";
import { Label } from "./link.js";
import { Prose, Writing } from "./prose.js";
import { QueryText } from "./setexport.js";
import { SetSummary } from "./setsummary.js";
import { Sources } from "./source.js";
import { Button, Copy, Problem, Skeleton, useLoaded } from "./ui.js";
import { address } from "../router.js";

const HEADLINE = 120; // characters of a question that is set as one; what is longer is a text

/** `turn`: as in asking.js; `heading`: the level of its question; `onAgain()`: to ask once more. */
export function Turn({ turn, dataset, heading = 2, onAgain, extra }) {
  const { answer } = turn;
  const [active, setActive] = useState(null);
  const [opened, setOpened] = useState(new Set());
  const prefix = useMemo(() => `source-${Math.random().toString(36).slice(2, 8)}`, []);
  const toggle = (n) => setOpened((now) => changed(now, n, !now.has(n)));
  const open = (n) => {
    setOpened((now) => changed(now, n, true));
    requestAnimationFrame(() => {
      const card = document.getElementById(`${prefix}-${n}`);
      card?.focus({ preventScroll: true });
      card?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    });
  };
  const beside = useRef(null);
  const mark = (n) => {
    setActive(n);
    if (n !== null) bringInto(beside.current, document.getElementById(`${prefix}-${n}`));
  };
  const sources = answer?.sources ?? turn.sources;
  const set = answer ? answer.set : turn.set;
  const object = answer ? objectOf(answer) : "";
  return html`<article class="turn" aria-busy=${turn.state === "asking"}>
    <${`h${heading}`} class=${`question ${[...turn.question].length > HEADLINE ? "long" : ""}`} dir="auto">${turn.question}<//>
    <div class="turn-body">
      <div class="turn-main">
        ${object && html`<${Caption} iri=${object} dataset=${dataset} />`}
        <div class="answer" aria-live="polite" aria-busy=${turn.state === "asking"}>
          <${Said} turn=${turn} onMark=${mark} onOpen=${open} />
        </div>
        ${turn.error && html`<${Problem} error=${turn.error} onRetry=${onAgain} />`}
        ${turn.state === "stopped" && html`<p class="note">${t("ask.stopped")} ${onAgain && html`<button type="button" class="more" onClick=${onAgain}>${t("ask.again")}</button>`}</p>`}
        ${answer && html`<${Notes} answer=${answer} /><${About} answer=${answer} dataset=${dataset} extra=${extra} />`}
        ${set && worthShowing(set) && html`<${SetSummary} level=${heading + 1} set=${set} dataset=${dataset} question=${turn.question} />`}
        ${answer?.query && html`<details class="sparql"><summary>${t("sparql")}</summary><${QueryText} text=${answer.query} what=${t("sparql.written")} /></details>`}
        ${answer && html`<${Connections} answer=${answer} dataset=${dataset} />`}
      </div>
      <div class="turn-sources" ref=${beside}>
        ${sources?.length > 0 && html`<${`h${heading + 1}`} class="eyebrow">${t(answer && !sources.some((one) => one.cited) ? "sources.looked" : "sources")}<//>
          <${Sources} level=${heading + 2} sources=${sources} dataset=${dataset} prefix=${prefix} numbered=${Boolean(answer)} active=${active} opened=${opened} onToggle=${toggle} />`}
        ${!sources && turn.state === "asking" && html`<${`h${heading + 1}`} class="eyebrow">${t("sources")}<//><${Skeleton} lines=${4} />`}
      </div>
    </div>
  </article>`;
}

/** Move a box that moves by itself until a card in it shows; a page that moves as a whole stays where it is. */
function bringInto(box, card) {
  if (!card || box.scrollHeight <= box.clientHeight + 1 || getComputedStyle(box).overflowY !== "auto") return;
  const [within, seen] = [card.getBoundingClientRect(), box.getBoundingClientRect()];
  if (within.top < seen.top) box.scrollTop += within.top - seen.top;
  else if (within.bottom > seen.bottom) box.scrollTop += Math.min(within.bottom - seen.bottom, within.top - seen.top);
}

function changed(set, n, add) {
  const next = new Set(set);
  next[add ? "add" : "delete"](n);
  return next;
}

/** The IRI of the one thing that an answer is about, "" of any other answer. */
function objectOf({ sources, set, refused }) {
  const cited = sources.filter((one) => one.cited);
  const one = cited.length === 1 && !set?.exhaustive && !refused && cited[0].category === "Thing";
  return one ? cited[0].iri : "";
}

/** A set that a part of the question gave, and that holds nothing, tells the reader nothing. */
const worthShowing = (set) => set.exhaustive || set.total > 0 || set.size > 0;

function Said({ turn, onMark, onOpen }) {
  if (turn.answer) return html`<${Prose} answer=${turn.answer} onMark=${onMark} onOpen=${onOpen} />`;
  if (turn.text) return html`<${Writing} text=${turn.text} />`;
  if (turn.state !== "asking") return null;
  return html`<p class="stage">${t(turn.sources ? "stage.writing" : turn.plan ? "stage.set" : "stage.reading")}</p><${Skeleton} lines=${3} />`;
}

/** The notes in the language of the page, without what was counted already; those of which nothing else is known as they are. */
function notesOf({ notes, remarks = [], unsupported = [] }) {
  const known = new Map(remarks.map((one) => [one.note, one]));
  const told = notes.filter((note) => !(known.get(note)?.kind === "unsupported" && unsupported.length));
  return [...new Set(told.map((note) => (known.has(note) ? t(`note.${known.get(note).kind}`, known.get(note).values) : note)))];
}

function Notes({ answer }) {
  const doubts = answer.unsupported?.length ?? 0;
  if (!answer.notes.length && !doubts && !answer.refused) return null;
  return html`<ul class="notes">
    ${answer.refused && html`<li>${t("answer.refused")}</li>`}
    ${doubts > 0 && html`<li><span class="doubt">${t("answer.doubts.sign")}</span> ${t("answer.doubts", { n: doubts })}</li>`}
    ${notesOf(answer).map((note) => html`<li key=${note} dir="auto">${note}</li>`)}
  </ul>`;
}

/** How the answer came to be, and what can be done with it. */
function About({ answer, dataset, extra }) {
  const link = answer.id ? new URL(`/a/${encodeURIComponent(answer.id)}`, window.location.href).href : "";
  const took = answer.timings?.total ?? 0;
  return html`<div class="about">
    <ul class="facts">
      <li>${answer.written_by === "extractive" ? t("answer.extractive") : html`${t("answer.written")} <${Label} text=${answer.written_by} />`}</li>
      ${answer.exhaustive && html`<li class="whole">${t("answer.exhaustive")}</li>`}
      <${ModeName} answer=${answer} dataset=${dataset} />
      <li><a href=${address("/m", { q: answer.question, dataset })}>${t("modes.link")}</a></li>
      <li>${t("answer.release")} <code>${answer.release}</code></li>
      ${took > 0 && html`<li>${t("answer.took", { seconds: number(took / 1000, { maximumFractionDigits: 1, minimumFractionDigits: 1 }) })}</li>`}
    </ul>
    <div class="actions">
      <${Copy} text=${() => copyText(answer, link)}>${t("answer.copy")}<//>
      ${link && html`<${Copy} text=${link}>${t("answer.link")}<//>`}
      <${Copy} text=${() => citation(answer, link)}>${t("answer.cite")}<//>
      ${answer.id && html`<${Feedback} answer=${answer.id} />`}
      ${extra}
    </div>
  </div>`;
}

/** In which mode it was answered, by its title, where that is not the one that all are answered in. */
function ModeName({ answer, dataset }) {
  const { value } = useLoaded((how) => api.modes({ dataset }, how), [dataset]);
  const [standard, ...others] = value?.modes ?? [];
  const own = others.find((one) => one.name === answer.mode);
  return standard && own ? html`<li>${t("answer.mode", { mode: own.title[language.get()] ?? own.title.en })}</li>` : null;
}

/** How the answer is cited, after the Chicago Manual of Style: who holds the data, the question, the release, the day, the address. */
export function citation({ question, dataset, release, sources }, link) {
  const attribution = sources.find((one) => one.attribution)?.attribution;
  const day = new Date().toLocaleDateString("en-US", { dateStyle: "long" });
  const holder = attribution ? `${attribution.replace(/\.$/, "")}. ` : "";
  const quoted = `“${question.replace(/[.]$/, "")}${/[?!]$/.test(question) ? "" : "."}”`;
  return `${holder}${quoted} Data set ${dataset}, release ${release}. Answered by CRM-RAG. Accessed ${day}.${link ? ` ${link}.` : ""}`;
}

/** The answer as plain text with its sources and its address. */
export function copyText(answer, link) {
  const sources = answer.sources.filter((one) => one.cited).map((one) => `[${one.n}] ${one.label} ${one.iri}`);
  return [answer.question, "", answer.text, "", ...sources, ...(link ? ["", link] : [])].join("\n");
}

function Feedback({ answer }) {
  const [verdict, setVerdict] = useState("");
  const [comment, setComment] = useState("");
  const [state, setState] = useState("");
  const [error, setError] = useState(null);
  const tell = async (said, words = "") => {
    setError(null);
    try {
      await api.feedback({ answer, verdict: said, comment: words });
      setVerdict(said);
      setState(words ? "thanked" : "said");
    } catch (failed) {
      setError(failed);
    }
  };
  const send = (event) => {
    event.preventDefault();
    if (comment.trim()) tell(verdict, comment.trim());
  };
  return html`<span class="feedback">
    <${Button} kind="plain" icon="good" label=${t("feedback.good")} aria-pressed=${verdict === "good"} onClick=${() => tell("good")} />
    <${Button} kind="plain" icon="bad" label=${t("feedback.bad")} aria-pressed=${verdict === "bad"} onClick=${() => tell("bad")} />
    </span>
    ${state === "said" && html`<form class="feedback-more row" onSubmit=${send}>
      <input class="field" aria-label=${t("feedback.comment")} placeholder=${t("feedback.comment")} maxlength="1000" value=${comment} onInput=${(event) => setComment(event.target.value)} />
      <button class="button quiet">${t("feedback.send")}</button></form>`}
    <span class="small muted" role="status">${state === "thanked" ? t("feedback.thanks") : ""}</span>
    ${error && html`<${Problem} error=${error} />`}`;
}
