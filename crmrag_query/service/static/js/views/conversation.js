// A kept conversation: read by whoever has its address, gone on with by whoever began it.
import { html, useEffect } from "../../vendor/preact.js";
import * as api from "../api.js";
import { answeredTurn } from "../asking.js";
import { moment, t } from "../i18n.js";
import { Thread, useAsking } from "../parts/thread.js";
import { Empty, Problem, Skeleton, useLoaded, useTitle } from "../parts/ui.js";
import { address } from "../router.js";
import { chooseDataset } from "../store.js";

async function load(id, how) {
  const kept = await api.conversation({ id }, how);
  const answers = await Promise.all(kept.turns.map((turn) => api.answer({ id: turn.answer }, how)));
  return { ...kept, answers: answers.map((one) => one.answer) };
}

export default function View({ params }) {
  const { value, error, again } = useLoaded((how) => load(params.id, how), [params.id]);
  if (error) return html`<${Problem} error=${error} onRetry=${again} whole />`;
  if (!value) return html`<${Skeleton} lines=${6} />`;
  return html`<${Kept} kept=${value} />`;
}

function Kept({ kept }) {
  useTitle(kept.answers[0]?.question ?? t("thread"));
  useEffect(() => chooseDataset(kept.dataset), []);
  const asking = useAsking({ dataset: kept.dataset, thread: kept.id, turns: kept.answers.map(answeredTurn) });
  const head = html`<p class="eyebrow">${t("thread.since", { when: moment(kept.created) })}</p>`;
  if (!asking.turns.length) {
    return html`<h1>${t("thread")}</h1><${Empty} title=${t("thread.empty")}><a href=${address("/", { dataset: kept.dataset })}>${t("thread.new")}</a><//>`;
  }
  return html`<${Thread} asking=${asking} head=${head} />`;
}
