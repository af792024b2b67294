// The page of a theme: what is told of it, its most central members, what it is part of, and the themes within it.
import { html } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { EntityLink, Label } from "../parts/link.js";
import { style } from "../parts/style.js";
import { Fields } from "../parts/themes.js";
import { Problem, Skeleton, useLoaded, useTitle } from "../parts/ui.js";
import { themeAddress } from "../router.js";

await style("dataset");

const MOST = 100; // themes within one

async function load(params, how) {
  const asked = { dataset: params.dataset, language: language.get() };
  const [own, within] = await Promise.all([
    api.themes({ ...asked, theme: params.id }, how), api.themes({ ...asked, within: params.id, limit: MOST }, how),
  ]);
  return { theme: own.themes[0], within, dataset: own.dataset };
}

export default function View({ params }) {
  const { value, error, again } = useLoaded((how) => load(params, how), [params.id, params.dataset, language.get()]);
  useTitle(value?.theme.title || t("theme.eyebrow"));
  if (error) return html`<h1>${t("theme.eyebrow")}</h1><${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<h1>${t("theme.eyebrow")}</h1><${Skeleton} lines=${6} />`;
  const { theme, within, dataset } = value;
  return html`<article class="dataset">
    <header class="dataset-head"><p class="eyebrow">${t("theme.eyebrow")} · ${t("themes.level", { n: theme.level })} · ${t("themes.size", { n: theme.size })}</p>
      <h1 dir="auto">${theme.title}</h1><p dir="auto">${theme.text}</p>
      ${theme.model && html`<p class="small muted">${t("theme.model", { model: theme.model })}</p>`}
      ${theme.parent && html`<p><a href=${themeAddress(theme.parent, dataset)}>${t("theme.parent")}</a></p>`}</header>
    <section class="dataset-section" aria-labelledby="theme-members"><h2 id="theme-members">${t("theme.members")}</h2>
      <ol class="top-list">${theme.members.map((one) => html`<li key=${one.iri}><${EntityLink} iri=${one.iri} label=${one.label} dataset=${dataset} /></li>`)}</ol></section>
    ${within.themes.length > 0 && html`<section class="dataset-section" aria-labelledby="theme-within"><h2 id="theme-within">${t("theme.within")}</h2>
      <${Fields} themes=${within.themes} total=${within.total} dataset=${dataset} /></section>`}
    <p><a href=${`/d/${encodeURIComponent(dataset)}`}><${Label} text=${dataset} /></a></p>
  </article>`;
}
