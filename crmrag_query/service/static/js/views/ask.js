// The first page: a box to ask in, questions to begin with, those asked before; then the conversation.
import { html, useEffect, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, moment, number, t } from "../i18n.js";
import { AskBox } from "../parts/askbox.js";
import { Kind } from "../parts/kinds.js";
import { Label } from "../parts/link.js";
import { Thread, useAsking } from "../parts/thread.js";
import { useLoaded, useTitle } from "../parts/ui.js";
import { address, navigate } from "../router.js";
import { setAddress } from "../setaddress.js";
import { asked, forgetAsked, useStore } from "../store.js";

export default function View({ params, datasets }) {
  const question = params.q ?? "";
  const ask = (text) => navigate(address("/", { q: text, dataset: params.dataset })); // back leads here again
  if (question) return html`<${Conversation} dataset=${params.dataset} question=${question} />`;
  return html`<${Welcome} one=${datasets.find((one) => one.name === params.dataset)} dataset=${params.dataset} onAsk=${ask} />`;
}

function Conversation({ dataset, question }) {
  useTitle(question);
  const asking = useAsking({ dataset }, question);
  useEffect(() => document.getElementById("main").focus({ preventScroll: true }), []); // the box that was focused is gone
  return html`<${Thread} asking=${asking} />`;
}

function Welcome({ one, dataset, onAsk }) {
  useTitle("");
  const counts = one?.counts ?? {};
  return html`<div class="welcome">
    <div class="welcome-head">
      <h1 dir="auto">${one?.title || dataset}</h1>
      <p class="lead">${t("welcome.lead", { documents: counts.documents ?? 0, triples: counts.triples ?? 0 })}</p>
    </div>
    <${AskBox} dataset=${dataset} onAsk=${onAsk} label=${t("ask.label")} placeholder=${t("ask.placeholder")} focus />
    <div class="welcome-lists">
      ${one?.examples?.length > 0 && html`<${Examples} questions=${one.examples} dataset=${dataset} />`}
      <${Before} dataset=${dataset} />
      ${!one?.examples?.length && html`<${WithinIt} key=${dataset} dataset=${dataset} />`}
    </div>
  </div>`;
}

/** Questions to begin with. */
function Examples({ questions, dataset }) {
  return html`<section aria-labelledby="examples"><h2 class="eyebrow" id="examples">${t("welcome.examples")}</h2>
    <ul class="questions">${questions.map((text) => html`<li key=${text}><a href=${address("/", { q: text, dataset })}><${Label} text=${text} /></a></li>`)}</ul></section>`;
}

/** What a data set holds, and questions made from it, where nobody wrote questions to begin with; nothing where that cannot be had. */
function WithinIt({ dataset }) {
  const { value } = useLoaded((how) => api.datasetDetail({ dataset, language: language.get() }, how), [dataset, language.get()]);
  if (!value?.categories.length) return null;
  const { examples } = value.dataset; // made from the data
  return html`${examples.length > 0 && html`<${Examples} questions=${examples} dataset=${dataset} />`}
    <section aria-labelledby="within"><h2 class="eyebrow" id="within">${t("welcome.within")}</h2>
    <ul class="within">${value.categories.map((one) => html`<li key=${one.name}><a href=${setAddress(dataset, { plan: { target: { categories: [one.name] } } })}><${Kind} category=${one.name} /></a> <span class="muted">${number(one.entities)}</span></li>`)}</ul></section>`;
}

const SHOWN = 6;

/** Questions that this browser asked of the data set. */
function Before({ dataset }) {
  const [all, setAll] = useState(false);
  const mine = useStore(asked).filter((one) => one.dataset === dataset);
  if (!mine.length) return null;
  const shown = all ? mine : mine.slice(0, SHOWN);
  return html`<section aria-labelledby="before"><h2 class="eyebrow" id="before">${t("welcome.before")}</h2>
    <ul class="questions before">${shown.map((one) => html`<li key=${one.question}><a href=${addressOf(one)}><${Label} text=${one.question} /></a> <span class="small muted">${moment(one.when, { dateStyle: "medium" })}</span></li>`)}</ul>
    <p class="small">
      ${mine.length > shown.length && html`<button type="button" class="more" onClick=${() => setAll(true)}>${t("more", { n: mine.length - shown.length })}</button> `}
      <button type="button" class="more" onClick=${forgetAsked}>${t("welcome.forget")}</button></p></section>`;
}

function addressOf({ question, dataset, answer, thread }) {
  if (thread) return `/c/${encodeURIComponent(thread)}`;
  return answer ? `/a/${encodeURIComponent(answer)}` : address("/", { q: question, dataset });
}
