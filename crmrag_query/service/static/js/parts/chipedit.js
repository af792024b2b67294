// What of a part of a plan can be changed, as fields. The service says what there is (`edits`) and what fits (/plan/choices).
import { html, useId, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, number, t } from "../i18n.js";
import { kindName } from "./kinds.js";
import { Label } from "./link.js";
import { PickBox } from "./pickbox.js";
import { Button, Icon, Problem, useLoaded } from "./ui.js";

const PROPOSED = 12;

/** Kinds of choices in words: categories by their names, types and classes by what they are. */
const told = (kind) => (/^[A-Z]/.test(kind) ? kindName(kind) : t(`chip.kind.${kind}`));

const ask = (plan, dataset, path, what) => (text, how) =>
  api.choices({ plan, dataset, path, what, text, limit: PROPOSED, language: language.get() }, how).then((found) => found.choices);

/** What fits first, then whatever else has the name. */
const askEntities = (plan, dataset, path) => async (text, how) => {
  const [fitting, named] = await Promise.all([
    ask(plan, dataset, path, "entities")(text, how),
    text ? api.search({ text, dataset, limit: PROPOSED }, how).then((found) => found.entities) : [],
  ]);
  const known = new Set(fitting.map((one) => one.value));
  const others = named.filter((one) => !known.has(one.iri)).map((one) => ({ value: one.iri, label: one.label, kind: one.category }));
  return [...fitting, ...others].slice(0, PROPOSED);
};

/** The fields of a part; `onEdit({change} | {remove})` changes the plan, and throws what keeps it from that. */
export function ChipForm({ chip, plan, dataset, onEdit, onClose }) {
  const { edits, path } = chip;
  const [values, setValues] = useState({});
  const { error, busy, send } = useSending(onEdit);
  const now = { ...edits, ...values };
  const set = (name) => (value) => setValues((before) => ({ ...before, [name]: value }));
  const submit = (event) => {
    event.preventDefault();
    const change = changeOf(edits, values);
    return change ? send({ change: { path, ...change } }) : onClose(true);
  };
  const kinds = edits.kinds && (edits.kinds.length > 0 || !edits.entities);
  return html`<form class="edit" onSubmit=${submit}>
    ${edits.entities && html`<${Some} label=${t("chip.entities")} more=${t("chip.entities.more")} chosen=${now.entities} onChange=${set("entities")} load=${askEntities(plan, dataset, path)} />`}
    ${kinds && html`<${Some} label=${t("chip.kinds")} more=${t("chip.kinds.more")} chosen=${now.kinds} onChange=${set("kinds")} load=${ask(plan, dataset, path, "kinds")} />`}
    ${edits.texts && html`<${Texts} texts=${now.texts} onChange=${set("texts")} />`}
    ${edits.years && html`<${Years} years=${now.years} onChange=${set("years")} />`}
    ${["first", "at_least"].map((name) => edits[name] && html`<${Count} key=${name} label=${t(`chip.${name}`)} value=${now[name]} onChange=${set(name)} />`)}
    ${edits.relation && html`<${Relation} relation=${edits.relation} value=${now.relation?.value} ...${{ plan, dataset, path }} onChange=${(value) => set("relation")({ value })} />`}
    ${typeof edits.negated === "boolean" && html`<label class="edit-check"><input type="checkbox" checked=${now.negated} onChange=${(event) => set("negated")(event.target.checked)} /> ${t("chip.not")}</label>`}
    ${error && html`<${Problem} error=${error} />`}
    <div class="edit-end"><button class="button primary" disabled=${busy}>${t("chip.apply")}</button>
      ${chip.removable && html`<${Button} kind="plain" disabled=${busy} onClick=${() => send({ remove: path })}>${t("chip.remove")}<//>`}</div>
  </form>`;
}

/** A condition that is added: by what its members are related, or by words of their names. */
export function NewPart({ plan, dataset, onEdit }) {
  const { error, busy, send } = useSending(onEdit);
  const [text, setText] = useState("");
  const id = useId();
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) send({ change: { path: "where", texts: [text.trim()] } });
  };
  return html`<form class="edit" onSubmit=${submit}>
    <${PickBox} label=${t("chip.add.relation")} placeholder=${t("chip.add.relation.which")} load=${ask(plan, dataset, "where", "relation")} told=${told}
      onPick=${(one) => send({ change: { path: "where", relation: one.value } })} />
    <div><label class="edit-label" for=${id}>${t("chip.add.texts")}</label>
      <div class="row"><input id=${id} class="field" type="text" dir="auto" maxlength="300" value=${text} onInput=${(event) => setText(event.target.value)} />
        <button class="button quiet" disabled=${busy || !text.trim()}>${t("chip.add.button")}</button></div></div>
    ${error && html`<${Problem} error=${error} />`}
  </form>`;
}

function useSending(onEdit) {
  const [state, setState] = useState({ busy: false, error: null });
  const send = async (body) => {
    setState({ busy: true, error: null });
    try {
      await onEdit(body);
      setState({ busy: false, error: null });
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return { ...state, send };
}

/** What differs from before, as the service takes it; null for nothing. */
function changeOf(edits, values) {
  const plain = { entities: (all) => all.map((one) => one.value), kinds: (all) => all.map((one) => one.value), relation: (one) => one.value };
  const told = (name, value) => (plain[name] ? plain[name](value) : value);
  const names = Object.keys(values).filter((name) => JSON.stringify(told(name, values[name])) !== JSON.stringify(told(name, edits[name])));
  return names.length ? Object.fromEntries(names.map((name) => [name, told(name, values[name])])) : null;
}

/** Some entities or kinds: those that are chosen, and a field for others. The first that is picked takes the place of those of before. */
function Some({ label, more, chosen, onChange, load }) {
  const [own, setOwn] = useState(false);
  const pick = (one) => {
    onChange([...(own ? chosen : []).filter((other) => other.value !== one.value), { value: one.value, label: one.label }]);
    setOwn(true);
  };
  const drop = (one) => {
    onChange(chosen.filter((other) => other !== one));
    setOwn(true);
  };
  return html`<div class="edit-some">
    <${PickBox} label=${label} placeholder=${more} load=${load} onPick=${pick} told=${told} />
    <ul class="tokens" aria-label=${t("chip.chosen", { what: label })}>${chosen.map((one) => html`<li key=${one.value} class="token"><${Label} text=${one.label} />
      <button type="button" class="chip-remove" aria-label=${t("chip.drop", { name: one.label })} title=${t("chip.drop", { name: one.label })} onClick=${() => drop(one)}><${Icon} name="close" /></button></li>`)}
      ${!chosen.length && html`<li class="muted small">${t("chip.any")}</li>`}</ul></div>`;
}

function Texts({ texts, onChange }) {
  const id = useId();
  const put = (at) => (event) => onChange(texts.map((one, place) => (place === at ? event.target.value : one)));
  return html`<div><label class="edit-label" for=${`${id}-0`}>${t("chip.texts")}</label>
    ${texts.map((text, at) => html`<input key=${at} id=${`${id}-${at}`} class="field" type="text" required dir="auto" maxlength="300" aria-label=${at ? t("chip.texts") : undefined} value=${text} onInput=${put(at)} />`)}</div>`;
}

/** The first and the last year; an empty field is an open end. Years are astronomical: 1 BC is 0. */
function Years({ years, onChange }) {
  return html`<div class="edit-years">${["begin", "end"].map((name) => html`<${Year} key=${name} name=${name} year=${years[name]} onChange=${(year) => onChange({ ...years, [name]: year })} />`)}
    <p class="muted small">${t("chip.years.open")}</p></div>`;
}

function Year({ name, year, onChange }) {
  const [before, setBefore] = useState(year !== null && year <= 0); // Christ; kept where the field is empty
  const id = useId();
  const written = year === null ? "" : String(before ? 1 - year : year);
  const put = (text, bc) => {
    const count = Number.parseInt(text, 10);
    setBefore(bc);
    onChange(Number.isNaN(count) ? null : bc ? 1 - count : count);
  };
  return html`<div class="edit-year"><label class="edit-label" for=${id}>${t(`chip.years.${name}`)}</label>
    <div class="row"><input id=${id} class="field" type="number" inputmode="numeric" min="1" max="999999" step="1" value=${written} onInput=${(event) => put(event.target.value, before)} />
      <select class="field edit-era" aria-label=${t(`chip.years.${name}.era`)} value=${before ? "bc" : "ad"} onChange=${(event) => put(written, event.target.value === "bc")}>
        <option value="ad">${t("chip.era.ad")}</option><option value="bc">${t("chip.era.bc")}</option></select></div></div>`;
}

function Count({ label, value, onChange }) {
  const id = useId();
  return html`<div><label class="edit-label" for=${id}>${label}</label>
    <input id=${id} class="field" type="number" inputmode="numeric" required min="1" step="1" value=${value} onInput=${(event) => onChange(Number.parseInt(event.target.value, 10))} /></div>`;
}

/** The relation, and others that lead to the same. */
function Relation({ relation, value, plan, dataset, path, onChange }) {
  const id = useId();
  const load = (how) => api.choices({ plan, dataset, path, what: "relation", limit: 60, language: language.get() }, how);
  const { value: found } = useLoaded(load, [path]);
  const others = (found?.choices ?? []).filter((one) => one.value !== relation.value && one.label !== relation.label);
  const twice = (label) => [relation, ...others].filter((one) => one.label === label).length > 1;
  return html`<div><label class="edit-label" for=${id}>${t("chip.relation")}</label>
    <select id=${id} class="field" value=${value} onChange=${(event) => onChange(event.target.value)}>
      <option value=${relation.value}>${relation.label}</option>
      ${others.map((one) => html`<option key=${one.value} value=${one.value}>${one.label}${twice(one.label) ? ` → ${told(one.kind)}` : ""}${typeof one.count === "number" ? ` · ${number(one.count)}` : ""}</option>`)}</select></div>`;
}
