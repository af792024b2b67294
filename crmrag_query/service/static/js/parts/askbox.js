// The box that a question is written in. It proposes entities for the name at the caret (ARIA's combobox with a list box).
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { oneOfEach } from "../alike.js";
import * as api from "../api.js";
import { fragmentAt } from "../fragment.js";
import { language, t } from "../i18n.js";
import { mode, readToo, useStore } from "../store.js";
import { kindName } from "./kinds.js";
import { Label } from "./link.js";
import { Button, useLoaded } from "./ui.js";

const PAUSE = 120; // milliseconds without a key before names are looked for
const PROPOSED = 7;
const LONGEST = 100; // characters of a name; what is longer is a text
const LOOKED_AT = 50; // many are records of one name, which is proposed once

/** `onAsk(question)`; `busy`: an answer is coming, which `onStop` stops; `start`: the text that it begins with. */
export function AskBox({ dataset, onAsk, busy = false, onStop, label, placeholder, start = "", focus = false, small = false }) {
  const [text, setText] = useState(start);
  const input = useRef(null);
  const names = useNames(dataset, text, input);
  const caret = useRef(null); // where it goes when a name that was taken has been written
  const id = useId();
  useLayoutEffect(() => {
    if (caret.current === null) return;
    input.current.focus();
    input.current.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [text]);
  useEffect(() => {
    if (focus && window.matchMedia("(pointer: fine)").matches) input.current.focus({ preventScroll: true });
  }, []);
  const submit = (event) => {
    event?.preventDefault();
    const question = text.trim();
    if (!question || busy) return;
    names.close();
    setText("");
    onAsk(question);
  };
  const take = (entity) => {
    const { start: from, end } = names.fragment;
    const next = `${text.slice(0, from)}${entity.label} ${text.slice(end).trimStart()}`;
    caret.current = from + entity.label.length + 1;
    setText(next);
    names.close();
  };
  const keys = (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.isComposing) return;
    if (names.open && event.key in moves) {
      event.preventDefault();
      names.move(moves[event.key]);
    } else if (names.open && event.key === "Enter" && names.current) {
      event.preventDefault();
      take(names.current);
    } else if (event.key === "Escape" && names.open) {
      event.preventDefault();
      names.close();
    }
  };
  return html`<form class=${`askbox ${small ? "small-box" : ""}`} role="search" onSubmit=${submit} onFocusOut=${(event) => !event.currentTarget.contains(event.relatedTarget) && names.close()}>
    <label class="hidden-visually" for=${id}>${label}</label>
    <input id=${id} ref=${input} class="ask-input" type="text" role="combobox" autocomplete="off" autocapitalize="sentences" spellcheck="false" enterkeyhint="send" dir="auto"
      maxlength="2000" placeholder=${placeholder} value=${text} aria-autocomplete="list" aria-expanded=${names.open} aria-controls=${`${id}-names`}
      aria-activedescendant=${names.open && names.at >= 0 ? `${id}-name-${names.at}` : undefined}
      onInput=${(event) => { setText(event.target.value); names.typed(); }} onKeyDown=${keys} />
    <${ModePick} dataset=${dataset} />
    <${ReadToo} dataset=${dataset} />
    ${busy
      ? html`<${Button} kind="primary" icon="stop" class="ask-go" onClick=${onStop}>${t("ask.stop")}<//>`
      : html`<button class="button primary ask-go" disabled=${!text.trim()}>${t("ask.button")}</button>`}
    <ul id=${`${id}-names`} class="names" role="listbox" aria-label=${t("ask.names")} hidden=${!names.open}>
      ${names.list.map((one, at) => html`<li key=${one.iri} id=${`${id}-name-${at}`} role="option" aria-selected=${at === names.at} class="name"
        onMouseDown=${(event) => { event.preventDefault(); take(one); }}>
        <span class="name-label"><${Label} text=${one.label} />${one.name && one.name !== one.label && html` <span class="muted"><${Label} text=${one.name} /></span>`}</span>
        <span class="muted small">${[kindName(one.category), one.classes?.[0]].filter((word, place, all) => word && all.indexOf(word) === place).join(" · ")}</span></li>`)}
    </ul>
    <span class="hidden-visually" role="status">${names.open ? t("ask.names.n", { n: names.list.length }) : ""}</span>
  </form>`;
}

/** Entities that have a name, not a paragraph for one: those whose names have the text as whole words first. */
function named(entities, text) {
  const words = ` ${text.trim().toLowerCase()} `;
  const whole = ({ label }) => ` ${label.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `.includes(words);
  const names = entities.filter(({ label }) => label.length <= LONGEST);
  return [...names.filter(whole), ...names.filter((one) => !whole(one))];
}

/** Which of the modes that the data set can be asked in questions are asked in; nothing where there is no choice. */
function ModePick({ dataset }) {
  const chosen = useStore(mode);
  const { value } = useLoaded((how) => api.modes({ dataset }, how), [dataset]);
  const there = value?.modes.filter((one) => !one.lacks.length) ?? [];
  const names = there.map((one) => one.name);
  const known = names.includes(chosen) ? chosen : names[0];
  useEffect(() => {
    if (value && !names.includes(chosen)) mode.set("");
  }, [value]);
  if (there.length < 2) return null;
  return html`<select class="ask-mode" aria-label=${t("ask.mode")} value=${known} onChange=${(event) => mode.set(event.target.value)}>
    ${there.map((one) => html`<option key=${one.name} value=${one.name}>${one.title[language.get()] ?? one.title.en}</option>`)}
  </select>`;
}

/** Whether what a machine read from pages is asked too; nothing where there is nothing of the kind. */
function ReadToo({ dataset }) {
  const too = useStore(readToo);
  const { value } = useLoaded((how) => api.datasets(how), [dataset]);
  if (!value?.datasets.find((one) => one.name === dataset)?.counts.read) return null;
  return html`<label class="ask-read small"><input type="checkbox" checked=${too} onChange=${(event) => readToo.set(event.target.checked)} /> ${t("ask.read")}</label>`;
}

/** The entities whose names begin as the fragment at the caret does. */
function useNames(dataset, text, input) {
  const [list, setList] = useState([]);
  const [at, setAt] = useState(-1);
  const [fragment, setFragment] = useState(null);
  const [keyed, setKeyed] = useState(0); // only what is typed opens the list, not a name that was taken
  const close = () => {
    setList([]);
    setAt(-1);
    setKeyed(0);
  };
  useEffect(() => {
    if (!keyed) return undefined;
    const found = fragmentAt(text, input.current.selectionStart ?? text.length);
    if (!found) return close();
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { entities } = await api.search({ text: found.text, dataset, limit: LOOKED_AT }, { signal: stop.signal });
        setFragment(found);
        setList(named(oneOfEach(entities), found.text).slice(0, PROPOSED));
        setAt(-1);
      } catch {
        if (!stop.signal.aborted) close(); // proposals are a help: a question can be asked without
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [keyed, dataset]);
  return {
    list, at, fragment, close,
    open: list.length > 0,
    current: list[at],
    typed: () => setKeyed((n) => n + 1),
    move: (step) => setAt((now) => (now + step + list.length + (now < 0 && step < 0 ? 1 : 0)) % list.length),
  };
}
