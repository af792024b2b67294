// Themes: a map of them, each a field as large as it has members; and the lists of those that an entity is in.
import { html, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, number, t } from "../i18n.js";
import { themeAddress } from "../router.js";
import { Label } from "./link.js";
import { useLoaded } from "./ui.js";

const FIRST = 24; // fields of a map; smaller ones could not be read

/** The themes that a request finds, null until they are there and where the release has none. */
function useThemes(params) {
  const asked = { ...params, language: language.get() };
  const { value } = useLoaded((how) => api.themes(asked, how), [JSON.stringify(asked)]);
  return value ?? null;
}

const sum = (themes) => themes.reduce((all, one) => all + one.size, 0);

/** Themes in rows of about the same number of members, so that areas are as sizes are where each row is as high as it has members. */
function inRows(themes) {
  const most = sum(themes) / Math.ceil(Math.sqrt(themes.length));
  const rows = [];
  for (const one of themes) {
    if (!rows.length || sum(rows.at(-1)) >= most) rows.push([]);
    rows.at(-1).push(one);
  }
  return rows;
}

/** The fields of some themes; `total`: how many there are in all. */
export function Fields({ themes, total, dataset }) {
  const all = sum(themes);
  return html`<div class="theme-map">${inRows(themes).map((row) => html`<ul key=${row[0].id} style=${`--share:${sum(row) / all}`}>${row.map((one) => html`<li key=${one.id} style=${`flex-grow:${one.size}`}>
      <a href=${themeAddress(one.id, dataset)}><${Label} text=${one.title} /><span class="small muted">${t("themes.size", { n: one.size })}</span></a></li>`)}</ul>`)}</div>
    ${total > themes.length && html`<p class="small muted">${t("more", { n: total - themes.length })}</p>`}`;
}

/** The map of a data set's themes, by level; nothing of one that has none. */
export function ThemeMap({ dataset, section }) {
  const [level, setLevel] = useState("");
  const found = useThemes({ dataset, level, limit: FIRST });
  const [levels, setLevels] = useState(0);
  if (found && found.levels !== levels) setLevels(found.levels);
  if (!levels && !found?.themes.length) return null;
  const choice = (one, told) => html`<button type="button" key=${told} aria-pressed=${level === one} onClick=${() => setLevel(one)}>${told}</button>`;
  return section(html`<div class="kind-filter" role="group" aria-label=${t("themes.levels")}>${choice("", t("themes.outermost"))}
      ${Array.from({ length: levels }, (_, at) => choice(at, t("themes.level", { n: number(at) })))}</div>
    ${found && html`<${Fields} themes=${found.themes} total=${found.total} dataset=${dataset} />`}`);
}

/** The themes that an entity is in, the finest first; nothing where there are none. */
export function ThemesOf({ iri, dataset, section }) {
  const found = useThemes({ dataset, of: iri });
  if (!found?.themes.length) return null;
  return section(html`<ul class="theme-list">${found.themes.map((one) => html`<li key=${one.id}><a href=${themeAddress(one.id, dataset)}><${Label} text=${one.title} /></a>
    <span class="small muted">${t("themes.size", { n: one.size })}</span></li>`)}</ul>`);
}
