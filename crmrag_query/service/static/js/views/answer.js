// A kept answer at its permanent address, and the same question asked of the data as it is now.
import { html, useEffect, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { answeredTurn } from "../asking.js";
import { moment, t } from "../i18n.js";
import { Turn } from "../parts/turn.js";
import { Button, Problem, Skeleton, useLoaded, useTitle } from "../parts/ui.js";
import { address } from "../router.js";
import { chooseDataset } from "../store.js";

export default function View({ params }) {
  const { value, error, again } = useLoaded((how) => api.answer({ id: params.id }, how), [params.id]);
  useTitle(value?.answer.question ?? "");
  if (error) return html`<${Problem} error=${error} onRetry=${again} whole />`;
  if (!value) return html`<${Skeleton} lines=${6} />`;
  return html`<${Kept} kept=${value} />`;
}

function Kept({ kept }) {
  const { answer, asked, current } = kept;
  useEffect(() => chooseDataset(answer.dataset), []);
  return html`<div class="kept">
    <p class="eyebrow">${t("answer.asked", { when: moment(asked, { dateStyle: "long", timeStyle: "short" }) })}</p>
    ${!current && html`<p class="note warn">${t("answer.old")}</p>`}
    <${Turn} turn=${answeredTurn(answer)} dataset=${answer.dataset} heading=${1} />
    <${Replay} id=${kept.id} />
    <p><a href=${address("/", { dataset: answer.dataset })}>${t("thread.new")}</a></p>
  </div>`;
}

/** Asks once more, of the current release, and says whether the answer is the same. */
function Replay({ id }) {
  const [state, setState] = useState({});
  const ask = async () => {
    setState({ busy: true });
    try {
      setState({ found: await api.replay({ id }) });
    } catch (error) {
      setState({ error });
    }
  };
  const { busy, found, error } = state;
  return html`<section class="replay">
    <${Button} icon="again" onClick=${ask} disabled=${busy}>${t("replay")}<//> <span class="small muted">${t("replay.why")}</span>
    <div aria-live="polite">
      ${busy && html`<${Skeleton} lines=${3} />`}
      ${error && html`<${Problem} error=${error} onRetry=${ask} />`}
      ${found && html`<p class=${`note ${found.same ? "good" : "warn"}`}>${t(found.same ? "replay.same" : "replay.differs")} ${t(found.release_changed ? "replay.changed" : "replay.unchanged")}</p>
        ${!found.same && html`<${Turn} turn=${answeredTurn(found.answer)} dataset=${found.answer.dataset} />`}`}
    </div>
  </section>`;
}
