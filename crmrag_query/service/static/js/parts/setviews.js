// A whole set on a map, on a line of time, as a graph. Each is loaded when it is looked at.
import { html, useMemo, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { entityAddress, navigate } from "../router.js";
import { Later, once, pathTriples } from "./connections.js";
import { Button, Empty, Problem, Skeleton, useLoaded } from "./ui.js";

const AT_ONCE = 5000; // members that are loaded without asking

/** The whole set in a format, parsed. */
export function useWhole(plan, dataset, format, wanted) {
  const load = async (how) => {
    if (!wanted) return null;
    return JSON.parse((await api.exportSet({ plan, dataset, format, language: language.get() }, how)).text);
  };
  return useLoaded(load, [JSON.stringify(plan), dataset, format, wanted, language.get()]);
}

/** Loads the whole set, asking first where it is large, and shows it by `show(value)`. */
function Whole({ set, dataset, format, show }) {
  const [wanted, setWanted] = useState(set.size <= AT_ONCE);
  const { value, error, again } = useWhole(set.plan, dataset, format, wanted);
  if (!wanted) return html`<${Empty} title=${t("set.large", { n: set.size })}><${Button} onClick=${() => setWanted(true)}>${t("set.load")}<//><//>`;
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${8} />`;
  return show(value);
}

const opener = (dataset) => (iri) => navigate(entityAddress(iri, dataset));

export function MapTab({ set, dataset }) {
  const show = ({ features, without_coordinates: without }) => {
    if (!features.length) return html`<${Empty} title=${t("map.none")} />`;
    return html`<${Later} from=${() => import("./map.js")} name="SetMap" features=${features} missing=${without.length} dataset=${dataset} />`;
  };
  return html`<${Whole} set=${set} dataset=${dataset} format="geojson" show=${show} />`;
}

export function TimeTab({ set, dataset }) {
  const load = async () => {
    const { Timeline, datedItems } = await import("./timeline.js");
    return { TimeTable: ({ members }) => timeline(Timeline, datedItems(members), members.length, dataset) };
  };
  return html`<${Whole} set=${set} dataset=${dataset} format="json" show=${({ members }) => html`<${Later} from=${load} name="TimeTable" members=${members} />`} />`;
}

function timeline(Timeline, items, size, dataset) {
  const dated = items.filter((one) => one.begin !== null || one.end !== null);
  if (!dated.length) return html`<${Empty} title=${t("timeline.none")} />`;
  return html`<${Timeline} items=${dated} missing=${size - dated.length} dataset=${dataset} />`;
}

export function GraphTab({ set, dataset }) {
  const triples = useMemo(() => once(pathTriples(set.members)), [set]);
  if (!triples.length) return html`<${Empty} title=${t("graph.none")} />`;
  return html`<p class="muted small">${t("graph.page")}</p><${Later} from=${() => import("./graph.js")} name="AnswerGraph" triples=${triples} focus="" dataset=${dataset} language=${language.get()}
    onEntity=${opener(dataset)} />`;
}
