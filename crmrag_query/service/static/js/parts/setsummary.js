// The set of an answer in short: its size, its plan, the first of its members, and the way to all of it.
import { html } from "../../vendor/preact.js";
import { hints } from "../alike.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { navigate } from "../router.js";
import { listPlan, setAddress } from "../setaddress.js";
import { Chips } from "./chips.js";
import { Image } from "./image.js";
import { EntityLink, Hint, Label } from "./link.js";
import { Figure, Rows } from "./settable.js";

const FIRST = 5;

/** `level`: of its heading. */
export function SetSummary({ set, dataset, question, level = 2 }) {
  const plan = listPlan(set);
  const edit = async (what) => {
    const edited = await api.editPlan({ plan, dataset, language: language.get(), ...what });
    navigate(setAddress(dataset, { plan: edited.plan }));
    return edited;
  };
  return html`<section class="set-summary">
    <div class="set-line"><${Figure} set=${set} /><${`h${level}`} class="eyebrow">${t(set.exhaustive ? "set.whole" : "set.choice")}<//></div>
    <${Chips} chips=${set.chips} plan=${plan} dataset=${dataset} onEdit=${edit} />
    <${Unsure} set=${set} dataset=${dataset} />
    <${First} set=${set} dataset=${dataset} />
    <p class="set-open"><a class="button quiet" href=${setAddress(dataset, { plan, question })}>${t("set.open", { n: set.size })}</a></p>
  </section>`;
}

/** What the plan leaves out of the question, what it found in texts only, and the nearest plan. */
export function Unsure({ set, dataset }) {
  if (set.exhaustive) return null;
  const quoted = (words) => ({ words: words.map((word) => t("quoted", { text: word })).join(", ") });
  return html`<p class="note">${set.unknown.length ? t("set.unknown", quoted(set.unknown)) : t("set.partial")}
    ${set.mentioned.length > 0 && ` ${t("set.mentioned", quoted(set.mentioned))}`}
    ${set.suggestion && html` <a href=${setAddress(dataset, { plan: set.suggestion })}>${t("set.suggestion")}</a>`}</p>`;
}

function First({ set, dataset }) {
  if (Array.isArray(set.value)) {
    return set.value.length ? html`<${Rows} set=${{ ...set, value: set.value.slice(0, FIRST) }} dataset=${dataset} />` : null;
  }
  if (!set.members.length) return null;
  const told = hints(set.members.slice(0, FIRST));
  return html`<ul class="first">${set.members.slice(0, FIRST).map((one) => html`<li key=${one.iri}>
    <span class="thumb">${one.image && html`<${Image} src=${one.image} width=${96} />`}</span>
    <span><${EntityLink} iri=${one.iri} label=${one.label} dataset=${dataset} /><${Hint} text=${told.get(one.iri)} />
      <span class="muted small">${[one.shown, one.date, one.types[0]?.label].filter(Boolean).map((text) => html`<span key=${text} class="bit"><${Label} text=${text} /></span>`)}</span></span></li>`)}</ul>`;
}
