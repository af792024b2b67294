// What is around every view: the head with its switches, the notice that the service is away, the foot.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { datasets as listDatasets, offline } from "./api.js";
import { LANGUAGES, chooseLanguage, language, t } from "./i18n.js";
import { Label, OutLink } from "./parts/link.js";
import { Button, Empty, Guard, Problem, Skeleton, useLoaded } from "./parts/ui.js";
import { address, navigate, place } from "./router.js";
import { chooseDataset, dataset as chosen, kept, setTheme, theme, useStore } from "./store.js";

const THEMES = { "": "auto", light: "sun", dark: "moon" };
const views = new Map();

/** The view of a name, loaded when it is first shown: {View} or {error}. */
function useView(name) {
  const [, loaded] = useState(0);
  useEffect(() => {
    if (views.has(name) || name === "missing") return;
    import(`./views/${name}.js`).then(
      (module) => views.set(name, { View: module.default }),
      (error) => views.set(name, { error }),
    ).then(() => loaded((n) => n + 1));
  }, [name]);
  return views.get(name) ?? {};
}

export function Frame() {
  const at = useStore(place);
  useStore(language);
  const list = useLoaded(listDatasets, []);
  const known = list.value?.datasets ?? [];
  const broken = list.value?.unavailable ?? [];
  const name = useDataset(at, known, list.value?.default ?? "");
  const main = useRef(null);
  useEffect(() => {
    document.getElementById("skip").textContent = t("skip");
  });
  useEffect(() => {
    if (at.moves > 0) main.current.focus({ preventScroll: true });
  }, [at.moves]);
  return html`<${Head} known=${known} broken=${broken} name=${name} at=${at} /><${Away} />
    <main id="main" tabindex="-1" ref=${main}><div class="page">
      <${Guard} key=${`${at.view} ${at.moves}`}><${Body} at=${at} list=${list} name=${name} /><//>
    </div></main>
    <${Foot} one=${known.find((one) => one.name === name)} />`;
}

/** The data set that the page is about: the address's, else the one of before, else the service's default or first. */
function useDataset(at, known, standard) {
  const current = useStore(chosen);
  const named = at.params.dataset || (at.view === "dataset" ? at.params.name : "");
  const before = kept("dataset");
  const first = known.some((one) => one.name === before) ? before : standard || (known[0]?.name ?? "");
  const name = named || current || first;
  useEffect(() => {
    if (known.some((one) => one.name === name)) chooseDataset(name);
  }, [name, known.length]);
  return name;
}

function Body({ at, list, name }) {
  const { View, error } = useView(at.view);
  if (at.view === "missing") return html`<h1>${t("missing")}</h1><p class="lead"><a href="/">${t("missing.remedy")}</a></p>`;
  if (error) return html`<${Problem} error=${error} onRetry=${() => window.location.reload()} whole />`;
  if (list.error) return html`<${Problem} error=${list.error} onRetry=${list.again} whole />`;
  if (!View || !list.value) return html`<${Skeleton} lines=${5} />`;
  if (!list.value.datasets.length && list.value.unavailable?.length) return html`<${Broken} all=${list.value.unavailable} />`;
  if (!list.value.datasets.length) return html`<${Empty} title=${t("datasets.none")}><p>${t("datasets.none.remedy")} <code>crmrag demo</code></p><//>`;
  return html`<${View} params=${{ ...at.params, dataset: name }} hash=${at.hash} datasets=${list.value.datasets} />`;
}

/** Where there are data sets, but none that can be asked. */
function Broken({ all }) {
  return html`<h1>${t("datasets.unavailable.all")}</h1>
    <ul>${all.map((one) => html`<li key=${one.name}><${Label} text=${one.name} />: <${Label} text=${one.reason} /></li>`)}</ul>`;
}

function Head({ known, broken, name, at }) {
  return html`<header class="head"><div class="page">
    <a class="mark" href=${address("/", { dataset: name })} aria-label=${t("head.home")}>
      <svg viewBox="0 0 24 24" aria-hidden="true"><g fill="none" stroke="currentColor" stroke-width="1.5"><path d="M6 19 12 5l6 14zM9 12h6" /></g>
        <g fill="currentColor"><circle cx="12" cy="5" r="2.400" /><circle cx="6" cy="19" r="2.400" /><circle cx="18" cy="19" r="2.400" /></g></svg>
      <span>CRM-RAG</span></a>
    ${known.length > 0 && html`<${PickDataset} known=${known} broken=${broken} name=${name} at=${at} />`}
    <div class="head-tools">
      ${name && html`<a class="button plain head-about" href=${`/d/${encodeURIComponent(name)}`}>${t("head.about")}</a>`}
      <${PickLanguage} /><${PickTheme} />
    </div>
  </div></header>`;
}

function PickDataset({ known, broken, name, at }) {
  const pick = (event) => {
    const next = event.target.value;
    chooseDataset(next);
    navigate(at.view === "dataset" ? `/d/${encodeURIComponent(next)}` : address("/", { dataset: next }));
  };
  return html`<label class="pick pick-data"><span class="hidden-visually">${t("head.dataset")}</span>
    <select value=${name} onChange=${pick}>
      ${![...known, ...broken].some((one) => one.name === name) && html`<option value=${name}>${name}</option>`}
      ${known.map((one) => html`<option key=${one.name} value=${one.name}>${one.title || one.name}</option>`)}
      ${broken.map((one) => html`<option key=${one.name} value=${one.name} disabled>${one.name} (${t("datasets.unavailable")})</option>`)}
    </select></label>`;
}

function PickLanguage() {
  return html`<label class="pick"><span class="hidden-visually">${t("head.language")}</span>
    <select value=${language.get()} onChange=${(event) => chooseLanguage(event.target.value)}>
      ${Object.entries(LANGUAGES).map(([tag, name]) => html`<option key=${tag} value=${tag} lang=${tag}>${name}</option>`)}
    </select></label>`;
}

function PickTheme() {
  const names = Object.keys(THEMES);
  const now = useStore(theme);
  const next = names[(names.indexOf(now) + 1) % names.length];
  return html`<${Button} kind="plain" icon=${THEMES[now]} label=${t(`theme.${now || "auto"}`)} onClick=${() => setTheme(next)} />`;
}

function Away() {
  const away = useStore(offline);
  return html`<div role="status">${away && html`<div class="offline"><div class="page">${t("offline")}</div></div>`}</div>`;
}

function Foot({ one }) {
  return html`<footer class="foot"><div class="page">
    ${one && html`<span><a href=${`/d/${encodeURIComponent(one.name)}`}>${t("head.about")}</a></span>
      <span>${t("foot.release")} <code>${one.release}</code></span>
      ${one.licence && html`<span><${Rights} text=${one.licence} /></span>`}
      ${one.attribution && html`<span><${Label} text=${one.attribution} /></span>`}`}
    <span><a href="/docs">${t("foot.api")}</a></span>
  </div></footer>`;
}

/** A licence: a link where it is an address. */
export function Rights({ text }) {
  return html`<${OutLink} href=${text}><${Label} text=${text} /><//>`;
}
