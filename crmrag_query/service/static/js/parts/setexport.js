// Taking a set away: files of all of it, and the query that gives the same rows.
import { html, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { Copy, Menu, Problem, Skeleton, useLoaded } from "./ui.js";

const FORMATS = ["csv", "json", "jsonld", "geojson"];
const LARGE = 20000; // members of a set whose files take a while
const PER_SECOND = 8000; // members written, about
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

export function ExportMenu({ plan, size, dataset, question, sort, columns = ["telling"] }) {
  const [busy, setBusy] = useState("");
  const [error, setError] = useState(null);
  const take = async (format) => {
    setBusy(format);
    setError(null);
    try {
      save(await api.exportSet({ plan, dataset, format, question, language: language.get(), sort: sort.by, descending: sort.descending, columns }));
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy("");
    }
  };
  return html`<${Menu} icon="down" label=${t(busy ? "export.busy" : "export")} busy=${busy !== ""}>
    <p class="small muted">${t("export.what")} ${size > LARGE && t("export.large", { seconds: Math.ceil(size / PER_SECOND) })}</p>
    <ul>${FORMATS.map((format) => html`<li key=${format}><button type="button" class="menu-item" disabled=${busy !== ""} onClick=${() => take(format)}>
      <strong>${NAMES[format]}</strong> <span class="muted small">${busy === format ? t("export.busy") : t(`export.${format}`)}</span></button></li>`)}</ul>
    <${Copy} text=${() => api.csvAddress({ plan: JSON.stringify(plan), dataset, question, language: language.get(), columns: columns.join() })}>${t("export.address")}<//>
    ${error && html`<${Problem} error=${error} />`}<//>`;
}

/** The query of a plan, fetched when it is looked at: one that has to name its members is long. */
export function Sparql({ plan, dataset }) {
  const [open, setOpen] = useState(false);
  return html`<details class="sparql" onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>${t("sparql")}</summary>
    ${open && html`<${Query} plan=${plan} dataset=${dataset} />`}</details>`;
}

const SHOWN = 20000; // characters; all of it is copied

function Query({ plan, dataset }) {
  const { value, error, again } = useLoaded((how) => api.set({ plan, dataset, limit: 0, language: language.get() }, how), [JSON.stringify(plan), dataset]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${4} />`;
  return html`<${QueryText} text=${value.sparql} what=${t("sparql.what")} />`;
}

/** A query as text that can be copied; `what`: what is to be known of it. */
export function QueryText({ text, what }) {
  return html`<p class="muted small">${what}</p>
    <div class="code-box" tabindex="0" role="group" aria-label="SPARQL"><pre><code>${text.slice(0, SHOWN)}${text.length > SHOWN && "…"}</code></pre></div><${Copy} text=${text} kind="quiet">${t("sparql.copy")}<//>`;
}
