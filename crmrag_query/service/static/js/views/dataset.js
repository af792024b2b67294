// The page of a data set: what is in it, how whole and fresh it is, how it was made, and how well it answers.
import { html, useId, useState } from "../../vendor/preact.js";
import { hints } from "../alike.js";
import * as api from "../api.js";
import { Rights } from "../frame.js";
import { language, languageName, moment, number, t } from "../i18n.js";
import { CATEGORIES, Kind, Sign, kindClass, kindName } from "../parts/kinds.js";
import { EntityLink, Hint, Label, OutLink } from "../parts/link.js";
import { Markdown } from "../parts/markdown.js";
import { ThemeMap } from "../parts/themes.js";
import { style } from "../parts/style.js";
import { Upload } from "../parts/upload.js";
import { Problem, Skeleton, useLoaded, useTitle } from "../parts/ui.js";
import { address } from "../router.js";
import { setAddress } from "../setaddress.js";

await style("dataset");

const COUNTS = ["entities", "documents", "triples", "literals"];
const FIRST = 10; // rows of a long table
const EVALUATIONS = 6; // the latest ones

export default function View({ params }) {
  const { name } = params;
  const { value: detail, error, loading, again } = useLoaded((how) => api.datasetDetail({ dataset: name, language: language.get() }, how), [name, language.get()]);
  useTitle(detail?.dataset.title || name);
  if (error) return html`<h1 dir="auto">${name}</h1><${Problem} error=${error} onRetry=${again} />`;
  if (!detail || (loading && detail.dataset.name !== name)) return html`<h1 dir="auto">${name}</h1><${Skeleton} lines=${9} />`;
  return html`<${DatasetPage} key=${detail.dataset.release} detail=${detail} />`;
}

function DatasetPage({ detail }) {
  const { dataset } = detail;
  return html`<article class="dataset">
    <header class="dataset-head"><p class="eyebrow">${t("data.eyebrow")}</p><h1 dir="auto">${dataset.title || dataset.name}</h1>
      <dl class="counts">${COUNTS.filter((one) => one in dataset.counts).map((one) => html`<div key=${one}><dt>${t(`data.${one}`)}</dt><dd>${number(dataset.counts[one])}</dd></div>`)}</dl>
      <${Examples} dataset=${dataset} /></header>
    <${Categories} detail=${detail} />
    <div class="dataset-columns">
      <${Listing} title=${t("data.classes")} lead=${t("data.classes.lead")} rows=${detail.classes} name=${t("data.class")} cell=${(one) => html`<${ClassCell} one=${one} dataset=${dataset.name} />`} />
      <${Listing} title=${t("data.relationships")} rows=${byCount(detail.relationships)} name=${t("data.relationship")} cell=${(one) => html`<${RelationshipCell} one=${one} />`} />
    </div>
    <${ThemeMap} dataset=${dataset.name} section=${(inner) => html`<${Section} title=${t("themes")} lead=${t("themes.lead")}>${inner}<//>`} />
    <${Top} detail=${detail} />
    <div class="dataset-columns"><${Coverage} detail=${detail} /><${Fresh} detail=${detail} /></div>
    <${Upload} key=${dataset.name} dataset=${dataset.name} section=${(inner) => html`<${Section} title=${t("upload")}>${inner}<//>`} />
    ${dataset.counts.read > 0 && html`<${Candidates} dataset=${dataset.name} />`}
    <${Evaluations} dataset=${dataset.name} />
    <${Made} detail=${detail} />
    ${detail.report && html`<${Section} title=${t("data.report")}><details class="report"><summary>${t("data.report.show")}</summary><div lang="en"><${Markdown} text=${detail.report} /></div></details><//>`}
  </article>`;
}

const byCount = (rows) => [...rows].sort((a, b) => b.count - a.count);

function Section({ title, lead, children, class: more = "" }) {
  const id = useId();
  return html`<section class=${`dataset-section ${more}`} aria-labelledby=${id}><h2 id=${id}>${title}</h2>${lead && html`<p class="muted">${lead}</p>`}${children}</section>`;
}

function Examples({ dataset }) {
  if (!dataset.examples.length) return html`<p><a class="button primary" href=${address("/", { dataset: dataset.name })}>${t("data.ask")}</a></p>`;
  return html`<section class="dataset-examples" aria-label=${t("data.examples")}><h2 class="eyebrow">${t("data.examples")}</h2>
    <ul>${dataset.examples.map((text) => html`<li key=${text}><a href=${address("/", { q: text, dataset: dataset.name })}><${Label} text=${text} /></a></li>`)}</ul></section>`;
}

const categoryPlan = (name) => ({ target: { categories: [name] }, where: [] });

/** Categories as one bar in proportion, and as a table. */
function Categories({ detail }) {
  const rows = [...detail.categories].sort((a, b) => b.primary - a.primary);
  const whole = rows.reduce((sum, { primary }) => sum + primary, 0);
  const several = rows.some(({ entities, primary }) => entities !== primary);
  if (!whole) return null;
  let from = 0;
  const parts = rows.map((one) => {
    const part = { ...one, from, wide: (100 * one.primary) / whole };
    from += part.wide;
    return part;
  });
  return html`<${Section} title=${t("data.categories")} lead=${several && t("data.categories.lead")}>
    <svg class="proportions" width="100%" height="28" aria-hidden="true">${parts.map((one) => html`<rect key=${one.name} class=${kindClass(one.name)} x=${`${one.from}%`} width=${`${one.wide}%`} y="0" height="28" />`)}</svg>
    <div class="table-scroll" tabindex="0" role="group" aria-label=${t("data.categories")}><table class="listing">
      <thead><tr><th scope="col">${t("data.category")}</th><th scope="col" class="number">${t("data.count")}</th><th scope="col" class="number">${t("data.share")}</th></tr></thead>
      <tbody>${rows.map((one) => html`<tr key=${one.name}><th scope="row"><a class="kind-link" href=${setAddress(detail.dataset.name, { plan: categoryPlan(one.name) })}><${Kind} category=${one.name} /></a></th>
        <td class="number">${number(one.entities)}</td><td class="number">${number(one.primary / whole, { style: "percent", maximumFractionDigits: 1 })}</td></tr>`)}</tbody></table></div>
  <//>`;
}

function ClassCell({ one, dataset }) {
  const plan = { target: { classes: [one.code || one.iri] }, where: [] };
  return html`<a href=${setAddress(dataset, { plan })}><${Label} text=${one.label} /></a>${one.code && html` <span class="code">${one.code}</span>`}`;
}

/** A Fundamental Relationship: its name and, as several have one name, the categories that it joins, with which its id begins. */
function RelationshipCell({ one }) {
  const [from, to] = one.key.split("_").map((part) => CATEGORIES.find((name) => name.toLowerCase() === part));
  return html`<${Label} text=${one.label} />${from && to && html` <span class="joins"><${Sign} category=${from} /><span aria-hidden="true">→</span><${Sign} category=${to} />
    <span class="hidden-visually">${kindName(from)} → ${kindName(to)}</span></span>`}`;
}

/** A table of names and numbers, its first rows to begin with. */
function Listing({ title, lead, rows, name, cell }) {
  const [all, setAll] = useState(false);
  if (!rows.length) return null;
  const most = rows[0].count;
  const shown = all ? rows : rows.slice(0, FIRST);
  return html`<${Section} title=${title} lead=${lead}><div class="table-scroll" tabindex="0" role="group" aria-label=${title}><table class="listing">
    <thead><tr><th scope="col">${name}</th><th scope="col" class="number">${t("data.count")}</th></tr></thead>
    <tbody>${shown.map((one, at) => html`<tr key=${at}><th scope="row">${cell(one)}<${Share} value=${one.count / most} /></th><td class="number">${number(one.count)}</td></tr>`)}</tbody></table></div>
    ${rows.length > FIRST && html`<button type="button" class="more" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? t("data.less") : t("data.more", { n: rows.length })}</button>`}<//>`;
}

/** A thin bar below a name; the number beside it says the same. */
function Share({ value }) {
  return html`<svg class="share" width="100%" height="3" aria-hidden="true"><rect class="share-rail" width="100%" height="3" rx="1.5" /><rect class="share-part" width=${`${Math.max(0.5, value * 100)}%`} height="3" rx="1.5" /></svg>`;
}

function Top({ detail }) {
  const kinds = [...new Set(detail.top.map(({ category }) => category))];
  const [kind, setKind] = useState("");
  if (!detail.top.length) return null;
  const rows = detail.top.filter((one) => !kind || one.category === kind).sort((a, b) => b.score - a.score).slice(0, FIRST);
  const told = hints(rows);
  return html`<${Section} title=${t("data.top")} lead=${t("data.top.lead")}>
    <div class="kind-filter" role="group" aria-label=${t("data.category")}>
      ${["", ...kinds].map((one) => html`<button type="button" key=${one} class="button quiet" aria-pressed=${kind === one} onClick=${() => setKind(one)}>${
        one ? html`<${Sign} category=${one} /> ${kindName(one)}` : t("data.top.all")}</button>`)}
    </div>
    <ol class="top-list">${rows.map((one) => html`<li key=${one.iri}><${Sign} category=${one.category} /><span class="top-name"><${EntityLink} iri=${one.iri} label=${one.label} dataset=${detail.dataset.name} /><${Hint} text=${told.get(one.iri)} />
      <span class="hidden-visually">${kindName(one.category)}</span><${Share} value=${one.score / rows[0].score} /></span></li>`)}</ol><//>`;
}

function Coverage({ detail }) {
  const names = new Set(["named", "typed", "categorised", "dated events", "described"]);
  if (!detail.coverage.length) return null;
  return html`<${Section} title=${t("data.coverage")} lead=${t("data.coverage.lead")}>
    <ul class="coverage">${detail.coverage.map((one) => {
      const share = one.of ? one.count / one.of : 1;
      const told = names.has(one.what) ? t(`data.coverage.${one.what}`) : one.what;
      return html`<li key=${one.what}><span class="coverage-name">${told}</span><span class="coverage-share">${number(Math.floor(share * 1000) / 1000, { style: "percent", maximumFractionDigits: 1 })}</span>
        <meter min="0" max="1" value=${share} aria-label=${told}>${number(share, { style: "percent" })}</meter>
        <span class="small muted">${t("data.coverage.of", { count: one.count, of: one.of })}</span></li>`;
    })}</ul><//>`;
}

/** What may be the same as something that a machine read from pages, for a person to look at. */
function Candidates({ dataset }) {
  const { value } = useLoaded((how) => api.candidates({ dataset, limit: FIRST, language: language.get() }, how), [dataset, language.get()]);
  if (!value?.total) return null;
  return html`<${Section} title=${t("data.candidates")} lead=${t("data.candidates.lead", { n: value.total })}>
    <ul class="candidates">${value.candidates.map(({ read, other, score }) => html`<li key=${`${read.iri} ${other.iri}`}><${EntityLink} iri=${read.iri} label=${read.label} dataset=${dataset} /> = <${EntityLink} iri=${other.iri} label=${other.label} dataset=${dataset} />
      <span class="small muted">${number(score, { style: "percent" })}</span></li>`)}</ul><//>`;
}

function Fresh({ detail }) {
  const { dataset, built, fetched, source, whole, concerns } = detail;
  const wholeText = t(whole === null ? "data.whole.unknown" : whole ? "data.whole.yes" : "data.whole.no");
  return html`<${Section} title=${t("data.fresh")}><dl class="pairs">
    <div><dt>${t("data.built")}</dt><dd><${When} text=${built} /></dd></div>
    <div><dt>${t("data.fetched")}</dt><dd>${fetched ? html`<${When} text=${fetched} />` : t("data.fetched.unknown")}</dd></div>
    ${source.length > 0 && html`<div><dt>${t("data.source")}</dt><dd><ul>${source.map((one) => html`<li key=${one}><${OutLink} href=${one}><${Label} text=${one} /><//></li>`)}</ul></dd></div>`}
    <div><dt>${t("data.whole")}</dt><dd class=${whole === false ? "bad" : ""}>${wholeText}</dd></div>
    ${dataset.counts.encoded < dataset.counts.documents && html`<div><dt>${t("data.encoded")}</dt><dd>${t("data.encoded.some", { encoded: dataset.counts.encoded, documents: dataset.counts.documents })}</dd></div>`}
    ${concerns.length > 0 && html`<div><dt>${t("data.concerns")}</dt><dd><ul class="concerns" lang="en">${concerns.map((one) => html`<li key=${one} dir="auto">${one}</li>`)}</ul></dd></div>`}
  </dl><//>`;
}

function When({ text }) {
  return text ? html`<time datetime=${text}>${moment(text, { dateStyle: "long", timeStyle: "short" })}</time>` : t("data.fetched.unknown");
}

function Made({ detail }) {
  const { dataset, versions, embedding } = detail;
  const pairs = (title, values) => Object.keys(values).length > 0 && html`<div><h3>${title}</h3>
    <dl class="pairs small">${Object.entries(values).map(([name, value]) => html`<div key=${name}><dt>${name.replaceAll("_", " ")}</dt><dd><${Label} text=${value} /></dd></div>`)}</dl></div>`;
  return html`<${Section} title=${t("data.made")}><dl class="pairs">
      <div><dt>${t("data.release")}</dt><dd><code>${dataset.release}</code></dd></div>
      ${dataset.languages.length > 0 && html`<div><dt>${t("data.languages")}</dt><dd>${dataset.languages.map(languageName).join(", ")}</dd></div>`}
      ${dataset.licence && html`<div><dt>${t("entity.rights")}</dt><dd><${Rights} text=${dataset.licence} /></dd></div>`}
      ${dataset.attribution && html`<div><dt>${t("entity.credit")}</dt><dd><${Label} text=${dataset.attribution} /></dd></div>`}
    </dl>
    <details><summary>${t("data.made.more")}</summary><div class="dataset-columns">${pairs(t("data.versions"), versions)}${pairs(t("data.embedding"), embedding)}</div></details><//>`;
}

/** Measures over time, one column for each evaluation, the latest last; nothing where there are none. */
function Evaluations({ dataset }) {
  const { value } = useLoaded((how) => api.evaluations({ dataset }, how), [dataset]);
  const made = (value?.evaluations ?? []).slice(0, EVALUATIONS).reverse();
  if (!made.length) return null;
  const measures = [...new Set(made.flatMap((one) => Object.keys(one.measures)))];
  const told = (one, name) => (name in one.measures ? number(one.measures[name], { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : "–");
  return html`<${Section} title=${t("data.evaluations")} lead=${t("data.evaluations.lead")}><div class="table-scroll" tabindex="0" role="group" aria-label=${t("data.evaluations")}><table class="listing evaluations">
    <thead><tr><th scope="col">${t("data.measure")}</th>${made.map((one, at) => html`<th scope="col" class="number" key=${at}><time datetime=${one.made}>${moment(one.made, { dateStyle: "medium" })}</time>
      <span class="evaluation-of"><${Label} text=${one.name.replace(/\.[a-z]+$/, "")} /> · ${t("data.questions", { n: one.questions })}</span></th>`)}</tr></thead>
    <tbody>${measures.map((name) => html`<tr key=${name}><th scope="row">${name}</th>${made.map((one, at) => html`<td class="number" key=${at}>${told(one, name)}</td>`)}</tr>`)}</tbody></table></div><//>`;
}
