// A source of an answer: what it is, what it says, the triples that support the answer, and where those come from.
import { html, useState } from "../../vendor/preact.js";
import { hints } from "../alike.js";
import * as api from "../api.js";
import { moment, t } from "../i18n.js";
import { themeAddress } from "../router.js";
import { Image } from "./image.js";
import { kindName } from "./kinds.js";
import { EntityLink, Hint, Label, OutLink } from "./link.js";
import { Pages } from "./page.js";
import { Button, Problem, Skeleton, useLoaded } from "./ui.js";

const FIRST_TRIPLES = 4;
const FIRST_ENTITIES = 6;
const KINDS = ["passage", "community", "row", "path", "tool"];
const LINK_NAMES = { wikidata: "Wikidata", viaf: "VIAF", geonames: "GeoNames" };
const GETTY = /vocab\.getty\.edu\/(?:page\/)?(aat|tgn|ulan|cona)\//;

/** The name of what a link leads to: its authority, else its host. */
export function linkName({ iri, kind }) {
  if (LINK_NAMES[kind]) return LINK_NAMES[kind];
  const vocabulary = GETTY.exec(iri);
  if (vocabulary) return `Getty ${vocabulary[1].toUpperCase()}`;
  try {
    return new URL(iri).hostname.replace(/^www\./, "");
  } catch {
    return kind;
  }
}

/** `numbered`: its number is the answer's; `active`: a citation of it is pointed at; `open`: its triples show; `level`: of its heading; `hint`: what tells it
 * from others of its name. */
export function SourceCard({ source, dataset, id, numbered = true, active = false, open = false, level = 3, hint = "", onToggle }) {
  const { label, category, classes = [], dates, snippet, images = [], triples = [], links = [], kind = "entity", text = "", read = false, pages = [] } = source;
  const own = kind !== "entity";
  return html`<article class=${`source ${active ? "active" : ""}`} id=${id} tabindex="-1" aria-label=${numbered ? t("source.n", { n: source.n, label }) : label}>
    <div class="source-head">
      ${numbered && html`<span class="source-n" aria-hidden="true">${source.n}</span>`}
      <div class="source-name">
        <${`h${level}`} class="source-title">${kind === "community"
          ? html`<a href=${themeAddress(source.iri.split(":").pop(), dataset)}><${Label} text=${label} /></a>`
          : html`<${EntityLink} iri=${own ? "" : source.iri} label=${label} dataset=${dataset} />`}<//><${Hint} text=${hint} />
        <p class="source-kind"><span>${own ? kindOf(kind) : kindName(category)}</span>${plainClasses(classes, category).map((name) => html`<span key=${name}><${Label} text=${name} /></span>`)}
          ${dates?.text && html`<span><${Label} text=${dates.text} /></span>`}
          ${read && html`<span class="read">${t("source.read")}</span>`}</p>
      </div>
      ${images.length > 0 && html`<${Image} src=${images[0]} width=${160} class="source-image" />`}
    </div>
    ${kind === "path" && triples.length > 0 ? html`<${Path} source=${source} dataset=${dataset} />` : own ? text.split("\n").map((line, at) => html`<p class="snippet" dir="auto" key=${at}>${line}</p>`) : snippet && html`<p class="snippet" dir="auto">${snippet}</p>`}
    ${own && kind !== "path" && source.entities?.length > 0 && html`<p class="small"><span class="muted">${t("source.rests")}</span> ${source.entities.slice(0, FIRST_ENTITIES).map((one) => html`<span class="bit" key=${one.iri}><${EntityLink} iri=${one.iri} label=${one.label} dataset=${dataset} /></span>`)}</p>`}
    ${pages.length > 0 && html`<${Pages} pages=${pages.slice(0, FIRST_ENTITIES)} dataset=${dataset} />`}
    <p class="source-links">
      ${triples.length > 0 && html`<button type="button" class="more" aria-expanded=${open} onClick=${onToggle}>${t("source.triples", { n: triples.length })}</button>`}
      ${links.map((link) => html`<${OutLink} key=${link.iri} href=${link.iri} class="out">${linkName(link)}<//>`)}</p>
    ${open && html`<${Triples} source=${source} dataset=${dataset} /><${Rights} source=${source} />`}
  </article>`;
}

/** A path as a line with a stop for each thing on it, in the order in which it was walked, and between two stops what joins them. A list for those who
 * do not see it; an arrow back is of a statement that leads the other way. */
function Path({ source: { triples, entities }, dataset }) {
  const stops = [];
  for (const { iri, label } of entities) {
    const last = stops.at(-1);
    const joint = last && triples.find(({ s, o }) => (s === last.iri && o === iri) || (o === last.iri && s === iri));
    stops.push({ iri, label, joint, back: joint?.s === iri });
  }
  return html`<ol class="path" aria-label=${t("source.path")}>${stops.map(({ iri, label, joint, back }) => html`<li key=${iri}>
    ${joint && html`<span class="path-joint"><span aria-hidden="true">${back ? "↑" : "↓"}</span> <span class="property" title=${joint.p}>${joint.p_label}</span></span>`}
    <span class="path-stop"><${EntityLink} iri=${iri} label=${label} dataset=${dataset} /></span></li>`)}</ol>`;
}

/** What a source that is no entity is, in the language of the page; of a kind that a newer service has, its own name. */
const kindOf = (kind) => (KINDS.includes(kind) ? t(`source.kind.${kind}`) : kind);

const plainClasses = (classes, category) => classes.filter((name) => name !== category).slice(0, 3);

function Rights({ source: { licence, attribution } }) {
  if (!licence && !attribution) return null;
  return html`<p class="rights">${licence && html`<span class="bit"><${OutLink} href=${licence}><${Label} text=${licence} /><//></span>`}
    ${attribution && html`<span class="bit"><${Label} text=${attribution} /></span>`}</p>`;
}

function Triples({ source, dataset }) {
  const [all, setAll] = useState(false);
  const shown = all ? source.triples : source.triples.slice(0, FIRST_TRIPLES);
  const rest = source.triples.length - shown.length;
  return html`<ul class="triples">${shown.map((triple) => html`<${Triple} key=${`${triple.s} ${triple.p} ${triple.o}`} triple=${triple} source=${source.iri} dataset=${dataset} />`)}</ul>
    ${rest > 0 && html`<button type="button" class="more" onClick=${() => setAll(true)}>${t("more", { n: rest })}</button>`}`;
}

const isNode = (text) => /^(?:https?|urn):/.test(text);

/** A triple in words, and on demand where it comes from. `source`: IRI of the source that shows it. */
export function Triple({ triple, source, dataset }) {
  const [open, setOpen] = useState(false);
  return html`<li class="triple">
    <p><${EntityLink} iri=${triple.s} label=${triple.s_label} dataset=${dataset} /> <span class="property" title=${triple.p}>${triple.p_label}</span>${" "}
      <${EntityLink} iri=${isNode(triple.o) ? triple.o : ""} label=${triple.o_label || triple.o} dataset=${dataset} /></p>
    ${triple.graphs?.length > 0 && html`<p class="muted small">${t("triple.graphs")} ${triple.graphs.map((one) => html`<${Label} key=${one} text=${one} /> `)}</p>`}
    <button type="button" class="more" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t("lineage.why")}</button>
    ${open && html`<${Lineage} triple=${triple} source=${source} dataset=${dataset} />`}
  </li>`;
}

function Lineage({ triple, source, dataset }) {
  const { s, p, o } = triple;
  const { value, error, again } = useLoaded((how) => api.lineage({ s, p, o, source, dataset }, how), [s, p, o, source, dataset]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${2} />`;
  return html`<div class="lineage">
    ${!value.stated && html`<p>${t("lineage.unstated")}</p>`}
    ${value.lines.map((line, at) => html`<${LineageLine} key=${at} line=${line} dataset=${dataset} />`)}
    ${value.pages?.length > 0 && html`<p class="muted">${t("source.read")}</p><${Pages} pages=${value.pages} dataset=${dataset} />`}
    ${value.origin && html`<${Origin} origin=${value.origin} />`}
  </div>`;
}

function LineageLine({ line, dataset }) {
  const step = (one) => html`<${Label} text=${one.s_label} /> <span class="property">${one.p_label}</span> <${Label} text=${one.o_label} />`;
  return html`<div class="lineage-line">
    <p><span class="muted">${t("lineage.document")}</span> <${EntityLink} iri=${line.document} label=${line.document_label} dataset=${dataset} /></p>
    <p class="snippet" dir="auto">${line.text}</p>
    ${line.way.length > 0 && html`<p class="muted">${t("lineage.way")}</p>
      <ol class="way">${line.way.map((one, at) => html`<li key=${at}>${step(one)}</li>`)}</ol>`}
  </div>`;
}

function Origin({ origin }) {
  return html`<p class="muted">${t("lineage.origin")} ${origin.places.map((one) => html`<${OutLink} key=${one} href=${one}><${Label} text=${one} /><//> `)}
    ${origin.fetched ? t("lineage.fetched", { when: moment(origin.fetched) }) : origin.built ? t("lineage.built", { when: moment(origin.built) }) : ""}</p>`;
}

/** The cards of an answer: those that it cites, then those that it looked at besides. */
export function Sources({ sources, dataset, prefix, numbered, active, opened, level, onToggle }) {
  const cited = numbered ? sources.filter((one) => one.cited) : [];
  const others = numbered ? sources.filter((one) => !one.cited) : sources;
  const told = hints(sources);
  const card = (source) => html`<li key=${source.iri}><${SourceCard} source=${source} dataset=${dataset} id=${`${prefix}-${source.n}`}
    numbered=${numbered && source.cited} level=${level} hint=${told.get(source.iri)} active=${active === source.n} open=${opened.has(source.n)} onToggle=${() => onToggle(source.n)} /></li>`;
  return html`${cited.length > 0 && html`<ol class="sources">${cited.map(card)}</ol>`}
    ${others.length > 0 && html`<${Others} others=${others} card=${card} shown=${!cited.length} key=${cited.length > 0} />`}`;
}

const FIRST_OTHERS = 6;

function Others({ others, card, shown }) {
  const [many, setMany] = useState(shown ? FIRST_OTHERS : 0);
  const rest = others.length - many;
  return html`${many > 0 && html`<ol class="sources others">${others.slice(0, many).map(card)}</ol>`}
    ${rest > 0 && html`<${Button} kind="plain" class="sources-more" onClick=${() => setMany(others.length)}>${t("sources.others", { n: rest })}<//>`}`;
}
