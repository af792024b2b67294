// The answer's graph: the triples that it rests on, drawn when they are asked for.
import { html, useEffect, useMemo, useState } from "../../vendor/preact.js";
import { language, t } from "../i18n.js";
import { entityAddress, navigate } from "../router.js";
import { Button, Guard, Problem, Skeleton } from "./ui.js";

/** A part of another module, loaded when it shows: `from` gives the module, `name` the part in it. */
export function Later({ from, name, ...props }) {
  const [found, setFound] = useState({});
  useEffect(() => {
    let gone = false;
    from().then((module) => !gone && setFound({ Part: module[name] }), (error) => !gone && setFound({ error }));
    return () => {
      gone = true;
    };
  }, []);
  if (found.error) return html`<${Problem} error=${found.error} onRetry=${() => window.location.reload()} />`;
  return found.Part ? html`<${Guard}><${found.Part} ...${props} /><//>` : html`<${Skeleton} lines=${5} />`;
}

export function Connections({ answer, dataset }) {
  const [open, setOpen] = useState(false);
  const triples = useMemo(() => allTriples(answer), [answer]);
  if (!triples.length) return null;
  const focus = answer.sources.find((one) => one.cited && (one.kind ?? "entity") === "entity")?.iri ?? "";
  return html`<section class="connections">
    <${Button} icon="graph" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t("graph.show")}<//>
    ${open && html`<${Later} from=${() => import("./graph.js")} name="AnswerGraph" triples=${triples} focus=${focus} dataset=${dataset} language=${language.get()}
      onEntity=${(iri) => navigate(entityAddress(iri, dataset))} />`}
  </section>`;
}

/** The triples of the cited sources, and of the ways that put members into the set, each once. */
export function allTriples(answer) {
  const sources = answer.sources.filter((one) => one.cited).flatMap((one) => one.triples);
  return once([...sources, ...pathTriples(answer.set?.members ?? [])]);
}

export const pathTriples = (members) => members.flatMap((one) => one.path.flatMap((reason) => reason.triples));

export const once = (triples) => [...new Map(triples.map((one) => [`${one.s} ${one.p} ${one.o}`, one])).values()];
