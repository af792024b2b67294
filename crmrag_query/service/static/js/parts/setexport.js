// Taking a set away: files of all of it, and the query that gives the same rows.
import { html, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { Copy, Menu, Problem } from "./ui.js";

const FORMATS = ["csv", "json", "jsonld", "geojson"];
const NAMES = { csv: "CSV", json: "JSON", jsonld: "JSON-LD", geojson: "GeoJSON" };

/** Hand a text to the browser as a file. */
function save({ text, media_type: type, name }) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export function ExportMenu({ plan, dataset, question, sort }) {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState(null);
  const take = async (format) => {
    setBusy(format);
    setError(null);
    try {
      save(await api.exportSet({ plan, dataset, format, question, language: language.get(), sort: sort.by, descending: sort.descending }));
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy("");
    }
  };
  return html`<${Menu} icon="down" label=${t("export")}>
    <p class="small muted">${t("export.what")}</p>
    <ul>${FORMATS.map((format) => html`<li key=${format}><button type="button" class="menu-item" disabled=${busy !== ""} onClick=${() => take(format)}>
      <strong>${NAMES[format]}</strong> <span class="muted small">${busy === format ? t("export.busy") : t(`export.${format}`)}</span></button></li>`)}</ul>
    ${error && html`<${Problem} error=${error} />`}<//>`;
}

export function Sparql({ text }) {
  if (!text) return null;
  return html`<details class="sparql"><summary>${t("sparql")}</summary>
    <p class="muted small">${t("sparql.what")}</p>
    <div class="code-box" tabindex="0" role="group" aria-label="SPARQL"><pre><code>${text}</code></pre></div><${Copy} text=${text} kind="quiet">${t("sparql.copy")}<//></details>`;
}
