// Sending documents to a data set that takes them, and what becomes of each; nothing for one that takes none.
import { html, useEffect, useId, useState } from "../../vendor/preact.js";
import * as api from "../api.js";
import { t } from "../i18n.js";
import { Label } from "./link.js";
import { Problem } from "./ui.js";

const PAUSE = 3000; // milliseconds between two looks, while any is waiting

export function Upload({ dataset, section }) {
  const [sent, setSent] = useState(null);
  const [failed, setFailed] = useState(null); // what went wrong, and the files that are left to be sent
  const [busy, setBusy] = useState(false);
  const id = useId();
  const look = () => api.documents({ dataset }).then((found) => setSent(found), () => setSent((before) => before));
  useEffect(() => { look(); }, [dataset]);
  const waiting = sent?.documents.some((one) => one.state === "waiting");
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setInterval(look, PAUSE);
    return () => clearInterval(timer);
  }, [waiting, dataset]);
  if (!sent) return null;
  const send = async (files) => {
    setBusy(true);
    setFailed(null);
    const left = [...files];
    try {
      for (; left.length; left.shift()) await api.sendDocument(left[0], dataset);
    } catch (error) {
      setFailed({ error, left });
    }
    setBusy(false);
    look();
  };
  const drop = (event) => {
    event.preventDefault();
    send(event.dataTransfer.files);
  };
  return section(html`<div class="upload" onDragOver=${(event) => event.preventDefault()} onDrop=${drop}>
      <label for=${id}>${t("upload.label")}</label>
      <input id=${id} type="file" multiple accept=".pdf,.png,.jpg,.jpeg,.tif,.tiff" disabled=${busy} onChange=${(event) => send(event.target.files)} />
    </div>
    ${failed && html`<${Problem} error=${failed.error} onRetry=${() => send(failed.left)} />`}
    <ul class="uploads" aria-live="polite">${sent.documents.map((one) => html`<li key=${one.id}><${Label} text=${one.name} /> <span class="small muted">${t(`upload.${one.state}`)} ${one.why}</span></li>`)}</ul>`);
}
