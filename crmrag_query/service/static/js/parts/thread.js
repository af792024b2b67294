// A conversation on the page: its turns, and the box for the next question.
import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { Asking } from "../asking.js";
import { t } from "../i18n.js";
import { address, rewrite } from "../router.js";
import { AskBox } from "./askbox.js";
import { Turn } from "./turn.js";
import { Copy } from "./ui.js";

/** An `Asking` whose changes show, at most once a frame. `options`: as its own; `first`: asked at once. */
export function useAsking(options, first = "") {
  const [, again] = useState(0);
  const frame = useRef(0);
  const asking = useMemo(() => {
    const changed = () => {
      if (frame.current) return;
      frame.current = requestAnimationFrame(() => {
        frame.current = 0;
        again((n) => n + 1);
      });
    };
    return new Asking({ ...options, changed, began });
  }, []);
  useEffect(() => {
    if (first) asking.ask(first);
    return () => asking.stop();
  }, []);
  return asking;
}

/** The address becomes that of the conversation, else of the answer, so that it can be kept and given on. */
function began(thread, answer) {
  if (thread) rewrite(`/c/${encodeURIComponent(thread)}`);
  else if (answer.id) rewrite(`/a/${encodeURIComponent(answer.id)}`);
}

export function Thread({ asking, head }) {
  const { turns, busy, dataset, own } = asking;
  const last = turns.at(-1);
  const end = useRef(null);
  useEffect(() => {
    if (turns.length > 1 && busy) end.current?.scrollIntoView({ block: "start", behavior: "smooth" });
  }, [turns.length]);
  return html`<div class="thread">
    ${head}
    ${turns.map((turn, at) => html`<div key=${turn.key} class="thread-turn" ref=${turn === last ? end : undefined}>
      <${Turn} turn=${turn} dataset=${dataset} heading=${at ? 2 : 1} onAgain=${!busy && turn === last ? () => asking.again(turn) : undefined} /></div>`)}
    <p class="follow-more small"><a href=${address("/", { dataset })}>${t("thread.new")}</a>
      ${asking.thread && own && html`<${Copy} text=${() => new URL(`/c/${encodeURIComponent(asking.thread)}`, window.location.href).href}>${t("thread.share")}<//>`}</p>
    ${!own && html`<p class="small muted">${t("thread.others")}</p>`}
    <div class="follow">
      <${AskBox} dataset=${dataset} busy=${busy} onAsk=${(question) => asking.ask(question)} onStop=${() => asking.stop()} label=${t("thread.label")} placeholder=${t("thread.placeholder")} small />
    </div>
  </div>`;
}
