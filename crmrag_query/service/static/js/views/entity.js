// The page of an entity: what the data says of it, and the ways on from there.
import { html, useId, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { Rights } from "../frame.js";
import { language as pageLanguage, languageName, t } from "../i18n.js";
import { useCaption } from "../parts/caption.js";
import { Document } from "../parts/document.js";
import { Gallery } from "../parts/gallery.js";
import { Kind } from "../parts/kinds.js";
import { EntityLink, Label, OutLink } from "../parts/link.js";
import { SetMap } from "../parts/map.js";
import { Relationships } from "../parts/relationships.js";
import { linkName } from "../parts/source.js";
import { Statements } from "../parts/statements.js";
import { style } from "../parts/style.js";
import { ThemesOf } from "../parts/themes.js";
import { Button, Copy, Empty, Folded, Problem, Skeleton, useLoaded, useTitle } from "../parts/ui.js";
import { readable } from "../readable.js";
import { address, navigate } from "../router.js";

await style("entity");

const LONG = 60; // letters from which a recorded text is one to be read
const NOTE = /(?:note|description|comment|abstract|definition)s?$/i; // properties of such texts, whatever their length
const LINK = /^https?:\S+$/;
const CUT = /…$/; // how the service ends a text that it shortened

export default function View({ params }) {
  const { iri = "", dataset } = params;
  const language = params.language || pageLanguage.get();
  const load = (how) => (iri ? api.entity({ iri, dataset, language }, how) : Promise.resolve(null));
  const { value: entity, error, loading, again } = useLoaded(load, [iri, dataset, language]);
  useTitle(readable(entity?.label) ?? "");
  if (!iri) return html`<h1>${t("entity.missing")}</h1><${Empty} title=${t("entity.missing.remedy")} />`;
  if (error) return html`<${Unknown} error=${error} iri=${iri} dataset=${dataset} again=${again} />`;
  if (!entity || (loading && entity.iri !== iri)) return html`<${Skeleton} lines=${9} />`;
  return html`<${EntityPage} key=${entity.iri} entity=${entity} dataset=${dataset} language=${language} />`;
}

/** An entity that is not there: those that may be meant are links. */
function Unknown({ error, iri, dataset, again }) {
  const near = error.problem?.suggestions ?? [];
  return html`<h1 class="entity-unknown">${error.problem?.status === 404 ? t("entity.unknown") : html`<${Label} text=${iri} />`}</h1>
    <${Problem} error=${near.length ? withoutSuggestions(error) : error} onRetry=${again} />
    ${near.length > 0 && html`<p class="entity-near">${t("entity.near")}</p>
      <ul class="entity-near-list">${near.map((iri) => html`<li key=${iri}><${EntityLink} iri=${iri} label=${iri} dataset=${dataset} /></li>`)}</ul>`}`;
}

const withoutSuggestions = ({ problem }) => new api.ApiError({ ...problem, remedy: "", suggestions: [] });

function EntityPage({ entity, dataset, language }) {
  const texts = textsOf(entity);
  const notes = inLanguage(texts, language);
  return html`<article class="entity">
    <${Heading} entity=${entity} dataset=${dataset} />
    <div class="entity-body">
      <div class="entity-media"><${Gallery} images=${entity.images} label=${entity.label} /></div>
      <aside class="entity-facts" aria-label=${t("entity.facts")}><${Facts} entity=${entity} dataset=${dataset} texts=${texts} /></aside>
      <div class="entity-main">
        ${notes.length > 0 && html`<section class="entity-notes" aria-label=${t("entity.notes")}>${notes.map((note) => html`<${Note} key=${note.value} note=${note} />`)}</section>`}
        <${Ask} entity=${entity} dataset=${dataset} />
        <${Section} title=${t("entity.relations")}><${Relationships} entity=${entity} dataset=${dataset} /><//>
      </div>
    </div>
    <${ThemesOf} iri=${entity.iri} dataset=${dataset} section=${(inner) => html`<${Section} title=${t("themes")}>${inner}<//>`} />
    <${Section} title=${t("entity.neighbours")}><${Statements} entity=${entity} dataset=${dataset} language=${language} /><//>
    ${entity.document && html`<${Section} title=${t("entity.text")}>
      ${entity.document_of && html`<p class="small muted">${t("entity.of")} <${EntityLink} iri=${entity.document_of.iri} label=${entity.document_of.label} dataset=${dataset} /></p>`}
      <${Document} text=${entity.document} /><//>`}
    <${Values} entity=${entity} />
  </article>`;
}

function Section({ title, children }) {
  const id = useId();
  return html`<section class="entity-section" aria-labelledby=${id}><h2 id=${id}>${title}</h2>${children}</section>`;
}

function Heading({ entity, dataset }) {
  const classes = [...new Set(entity.classes.map(({ label }) => label))].filter((name) => name !== entity.category);
  const place = entity.coordinates?.of;
  return html`<header class="entity-head">
    <p class="entity-kind"><${Kind} category=${entity.category} />${classes.map((name) => html`<span class="bit" key=${name}><${Label} text=${name} /></span>`)}</p>
    <h1 dir="auto">${readable(entity.label) || t("entity.notnamed")}</h1>
    ${(entity.dates || place) && html`<p class="lead">${entity.dates && html`<${Label} text=${entity.dates.text} />`}${entity.dates && place && " · "}
      ${place && html`<${EntityLink} iri=${place.iri} label=${place.label} dataset=${dataset} />`}</p>`}
  </header>`;
}

/** Texts of the source that are to be read, whatever their language. */
function textsOf({ literals, names }) {
  const stated = new Set(Object.values(names).flat());
  const isText = ({ property, value, datatype }) => !LINK.test(value) && !/date|time|wkt|json/i.test(datatype)
    && (NOTE.test(property) || ([...value].length >= LONG && !stated.has(value)));
  return literals.filter(isText);
}

/** Those in the language of the page, and those that state none; where there are none of these, all. */
function inLanguage(texts, language) {
  const own = texts.filter(({ lang }) => !lang || lang.slice(0, 2) === language.slice(0, 2));
  return own.length ? own : texts;
}

function Note({ note }) {
  return html`<figure class="note-text"><blockquote dir="auto" lang=${note.lang || undefined}><${Folded} text=${note.value} /></blockquote>
    <figcaption class="small muted"><${Label} text=${note.property_label} /></figcaption></figure>`;
}

function Facts({ entity, dataset, texts }) {
  const names = namesOf(entity, texts);
  const { coordinates, links, licence, attribution } = entity;
  const label = useCaption(entity.iri, dataset);
  const told = (label?.lines ?? []).map(([, text]) => text);
  const numbers = entity.identifiers.filter((text) => text !== entity.label && !told.includes(text));
  return html`<dl class="fact-list">
    ${(label?.lines ?? []).map(([name, text]) => html`<${Fact} key=${name} name=${name}><p><${Folded} text=${text} /></p><//>`)}
    ${coordinates && html`<${Fact} name=${t("entity.where")}>
      ${coordinates.of && html`<p><${EntityLink} iri=${coordinates.of.iri} label=${coordinates.of.label} dataset=${dataset} /></p>`}
      <${SetMap} small features=${[featureOf(entity)]} dataset=${dataset} />
      <p class="small muted">${degrees(coordinates)}</p><//>`}
    ${names.length > 0 && html`<${Fact} name=${t("entity.names")}><ul class="name-list">${names.map(({ text, lang }) => html`<li key=${`${lang} ${text}`}>
      <span dir="auto" lang=${lang || undefined}>${text}</span>${lang && html` <span class="lang" title=${languageName(lang)}>${lang}</span>`}</li>`)}</ul><//>`}
    ${numbers.length > 0 && html`<${Fact} name=${t("entity.identifiers")}><ul class="name-list">${numbers.map((text) => html`<li key=${text}><${Label} text=${text} /></li>`)}</ul><//>`}
    ${links.length > 0 && html`<${Fact} name=${t("entity.elsewhere")}><ul>${links.map((link) => html`<li key=${link.iri}><${OutLink} href=${link.iri}>${linkName(link)}<//> <span class="muted">${lastPart(link.iri)}</span></li>`)}</ul><//>`}
    ${licence && html`<${Fact} name=${t("entity.rights")}><${Rights} text=${licence} /><//>`}
    ${attribution && html`<${Fact} name=${t("entity.credit")}><${Label} text=${attribution} /><//>`}
    <${Fact} name=${t("entity.iri")}><code class="iri">${entity.iri}</code>
      <div class="fact-actions"><${Copy} text=${entity.iri}>${t("entity.iri.copy")}<//><${Copy} text=${() => pageLink(entity, dataset)}>${t("entity.link.copy")}<//></div><//>
  </dl>`;
}

function Fact({ name, children }) {
  return html`<div class="fact"><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** Names other than the title; the service counts descriptions among them, which stand elsewhere. */
function namesOf({ names, label }, texts) {
  const all = Object.entries(names).flatMap(([lang, texts]) => texts.map((text) => ({ lang, text })));
  const isText = (name) => CUT.test(name) || texts.some(({ value }) => value === name);
  return all.filter(({ text }) => text !== label && !isText(text));
}

const featureOf = ({ iri, label, coordinates: { lat, lon, of, doubt } }) => ({
  geometry: { type: "Point", coordinates: [lon, lat] }, properties: { iri, label, place: of ?? undefined, doubt },
});

function degrees({ lat, lon }) {
  const one = (value, [plus, minus]) => `${Math.abs(value).toFixed(4)}° ${value < 0 ? minus : plus}`;
  return `${one(lat, "NS")}, ${one(lon, "EW")}`;
}

function lastPart(iri) {
  const last = iri.replace(/[/#]+$/, "").split(/[/#]/).at(-1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

const pageLink = ({ iri }, dataset) => `${window.location.origin}${address("/e", { iri, dataset })}`;

const QUESTIONS = {
  Thing: ["who", "when", "where"], Actor: ["work", "what"], Place: ["at", "what"], Event: ["happened", "what"], Concept: ["which", "what"], Time: ["what"],
};

const NAME = 80; // letters of a label that fits into a question

/** Questions that name the entity, and a box for one of one's own. */
function Ask({ entity, dataset }) {
  const [text, setText] = useState("");
  const id = useId();
  const { label } = entity;
  const send = (event) => {
    event.preventDefault();
    const question = text.trim();
    if (question) navigate(address("/", { q: question, dataset }));
  };
  return html`<section class="entity-ask" aria-labelledby=${id}>
    <h2 class="eyebrow" id=${id}>${t("entity.ask")}</h2>
    <form onSubmit=${send}><input class="field" type="text" dir="auto" maxlength="2000" autocomplete="off" aria-label=${t("entity.ask.label", { label })} placeholder=${t("entity.ask.placeholder")}
      value=${text} onInput=${(event) => setText(event.target.value)} /><${Button} kind="primary" type="submit" icon="ask" label=${t("entity.ask.send")} /></form>
    ${[...label].length <= NAME && html`<ul>${(QUESTIONS[entity.category] ?? ["what"]).map((key) => {
      const question = t(`entity.ask.${key}`, { label });
      return html`<li key=${key}><a href=${address("/", { q: question, dataset })}><${Label} text=${question} /></a></li>`;
    })}</ul>`}
  </section>`;
}

/** Literals as the source states them. */
function Values({ entity }) {
  const { literals, literals_total: total } = entity;
  if (!literals.length) return null;
  return html`<details class="entity-values"><summary>${t("entity.literals")} <span class="count">${total}</span></summary>
    <div class="table-scroll" tabindex="0" role="group" aria-label=${t("entity.literals")}><table class="triple-table"><tbody>${literals.map((one, at) => html`<tr key=${at}>
      <th scope="row" title=${one.property}><${Label} text=${one.property_label} /></th>
      <td dir="auto" lang=${one.lang || undefined}>${one.value}${one.lang && html` <span class="lang">${one.lang}</span>`}</td></tr>`)}</tbody></table></div>
    ${total > literals.length && html`<p class="small muted">${t("entity.literals.more", { n: total - literals.length })}</p>`}
  </details>`;
}
