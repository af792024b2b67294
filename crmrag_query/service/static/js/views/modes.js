// One question answered in every mode, side by side: answers, times, tokens, and which sources they share.
import { html } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, number, t } from "../i18n.js";
import { Label } from "../parts/link.js";
import { Prose } from "../parts/prose.js";
import { Problem, Skeleton, useLoaded, useTitle } from "../parts/ui.js";
import { address, entityAddress } from "../router.js";

export default function View({ params }) {
  const { q: question = "", dataset } = params;
  useTitle(question);
  const known = useLoaded((how) => api.modes({ dataset }, how), [dataset]);
  const found = useLoaded((how) => api.compareModes({ question, dataset }, how), [question, dataset]);
  const error = known.error ?? found.error;
  if (error) return html`<${Problem} error=${error} onRetry=${() => (known.error ? known.again() : found.again())} whole />`;
  return html`<p class="eyebrow">${t("modes.title")}</p><h1 dir="auto">${question}</h1>
    ${known.value && found.value ? html`<${Compared} found=${found.value} titles=${titlesOf(known.value)} />` : html`<${Skeleton} lines=${8} />`}`;
}

const titlesOf = ({ modes }) => new Map(modes.map((one) => [one.name, one.title[language.get()] ?? one.title.en]));

function Compared({ found, titles }) {
  const { modes, sources, question, dataset } = found;
  const alone = (mode) => sources.filter((one) => one.modes.length === 1 && one.modes[0] === mode).length;
  const withTokens = modes.some((one) => one.tokens !== null);
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("modes.title")}><table class="table">
      <thead><tr><th scope="col">${t("ask.mode")}</th><th scope="col">${t("modes.time")}</th>
        ${withTokens && html`<th scope="col">${t("modes.tokens")}</th>`}<th scope="col">${t("sources")}</th><th scope="col">${t("modes.alone")}</th></tr></thead>
      <tbody>${modes.map((one) => html`<tr key=${one.mode}><th scope="row">${titles.get(one.mode) ?? one.mode} <code>${one.mode}</code></th>
        ${one.answer
          ? html`<td>${t("modes.ms", { ms: Math.round(one.milliseconds) })}</td>${withTokens && html`<td>${one.tokens === null ? "–" : number(one.tokens)}</td>`}
              <td>${number(one.answer.sources.length)}</td><td>${number(alone(one.mode))}</td>`
          : html`<td colspan=${withTokens ? 4 : 3}><bdi>${one.failed}</bdi></td>`}</tr>`)}</tbody></table></div>
    ${modes.filter((one) => one.answer).map((one) => html`<section key=${one.mode} aria-labelledby=${`mode-${one.mode}`}>
      <h2 id=${`mode-${one.mode}`}>${titles.get(one.mode) ?? one.mode}</h2><${Prose} answer=${one.answer} /></section>`)}
    <${Sources} sources=${sources} modes=${modes.filter((one) => one.answer)} titles=${titles} dataset=${dataset} />
    <p><a href=${address("/", { q: question, dataset })}>${t("ask.again")}</a></p>`;
}

/** Which answers have which source; cited ones are told apart from those that were only looked at. */
function Sources({ sources, modes, titles, dataset }) {
  if (!sources.length) return null;
  const mark = (one, mode) => (one.cited.includes(mode) ? t("modes.cited") : one.modes.includes(mode) ? t("modes.looked") : "");
  return html`<h2 id="modes-sources">${t("sources")}</h2>
    <div class="table-scroll" tabindex="0" role="region" aria-labelledby="modes-sources"><table class="table">
      <thead><tr><th scope="col">${t("sources")}</th>${modes.map(({ mode }) => html`<th scope="col" key=${mode}>${titles.get(mode) ?? mode}</th>`)}</tr></thead>
      <tbody>${sources.map((one) => html`<tr key=${one.iri}><th scope="row"><a href=${entityAddress(one.iri, dataset)}><${Label} text=${one.label} /></a></th>
        ${modes.map(({ mode }) => html`<td key=${mode}>${mark(one, mode)}</td>`)}</tr>`)}</tbody></table></div>`;
}
