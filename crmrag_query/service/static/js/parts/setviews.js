// A whole set on a map, on a line of time, as a graph. Each is loaded when it is looked at.
import { html, useMemo } from "../../vendor/preact.js";
import * as api from "../api.js";
import { language, t } from "../i18n.js";
import { entityAddress, navigate } from "../router.js";
import { Later, once, pathTriples } from "./connections.js";
import { Empty, Problem, Skeleton, useLoaded } from "./ui.js";
import { rangeText } from "./years.js";

/** Where and when the members were, shown by `show(marks)`. */
function Marked({ set, dataset, show }) {
  const body = { plan: set.plan, dataset, language: language.get() };
  const { value, error, again } = useLoaded((how) => api.marks(body, how), [JSON.stringify(body)]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} />`;
  if (!value) return html`<${Skeleton} lines=${8} />`;
  return html`${show(value)}${value.left > 0 && html`<p class="muted small">${t("marks.left", { n: value.left })}</p>`}`;
}

const opener = (dataset) => (iri) => navigate(entityAddress(iri, dataset));

export function MapTab({ set, dataset }) {
  const show = (marks) => {
    const features = marks.iris.map((_, at) => featureOf(marks, at)).filter(Boolean);
    if (!features.length) return html`<${Empty} title=${t("map.none")} />`;
    return html`<${Later} from=${() => import("./map.js")} name="SetMap" features=${features} missing=${marks.size - marks.placed} dataset=${dataset} />`;
  };
  return html`<${Marked} set=${set} dataset=${dataset} show=${show} />`;
}

function featureOf({ iris, labels, begin, end, place, places }, at) {
  const spot = places[place[at]];
  if (!spot) return null;
  const own = spot.iri === iris[at];
  const date = begin[at] === null && end[at] === null ? "" : rangeText(begin[at], end[at]);
  const properties = { iri: iris[at], label: labels[at], date, place: own ? null : { iri: spot.iri, label: spot.label }, doubt: spot.doubt };
  return { type: "Feature", geometry: { type: "Point", coordinates: [spot.lon, spot.lat] }, properties };
}

export function TimeTab({ set, dataset }) {
  const show = (marks) => {
    const { iris, labels, begin, end } = marks;
    const items = iris.map((iri, at) => ({ iri, label: labels[at], begin: begin[at], end: end[at] })).filter((one) => one.begin !== null || one.end !== null);
    if (!items.length) return html`<${Empty} title=${t("timeline.none")} />`;
    return html`<${Later} from=${() => import("./timeline.js")} name="Timeline" items=${items} missing=${marks.size - marks.dated} dataset=${dataset} />`;
  };
  return html`<${Marked} set=${set} dataset=${dataset} show=${show} />`;
}

export function GraphTab({ set, dataset }) {
  const triples = useMemo(() => once(pathTriples(set.members)), [set]);
  if (!triples.length) return html`<${Empty} title=${t("graph.none")} />`;
  return html`<p class="muted small">${t("graph.page")}</p><${Later} from=${() => import("./graph.js")} name="AnswerGraph" triples=${triples} focus="" dataset=${dataset} language=${language.get()}
    onEntity=${opener(dataset)} />`;
}
