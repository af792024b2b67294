// A conversation as the page holds it: its turns, and asking the next question. Knows nothing of how it is shown.
import * as api from "./api.js";
import { keepKey, keyOf, mode, readToo, remember } from "./store.js";

/**
 * A turn: {key, question, state, plan, set, sources, text, restart, usage, answer, error}.
 * state: "asking", "done", "stopped" or "failed"; `sources` before the answer are not numbered yet.
 */
const newTurn = (key, question) => ({ key, question, state: "asking", sources: null, text: "" });

/** A turn that was answered before. */
export const answeredTurn = (answer) => ({ ...newTurn(answer.id || answer.question, answer.question), state: "done", answer });

export class Asking {
  /** `thread`: id of a kept conversation, "" for a new one; `turns`: those that it has; `changed()` is told of changes. */
  constructor({ dataset, thread = "", turns = [], changed = () => {}, began = () => {} }) {
    Object.assign(this, { dataset, thread, turns, changed, began });
    this.kept = true; // until the service says that it keeps no conversations
    this.stopper = null;
  }

  get busy() {
    return this.stopper !== null;
  }

  /** Whether this browser may add to the kept conversation; otherwise one goes on without its being kept. */
  get own() {
    return !this.thread || keyOf(this.thread) !== "";
  }

  /** Ask, and take in the answer as it comes. Ends when the answer does, however that is. */
  async ask(question) {
    if (this.busy) return;
    const stopper = new AbortController();
    this.stopper = stopper;
    const before = this.turns.findLast((turn) => turn.state === "done")?.answer;
    const turn = newTurn(`${this.turns.length} ${Date.now()}`, question);
    this.turns = [...this.turns, turn];
    this.changed();
    try {
      await this.begin(stopper.signal);
      const thread = this.thread && this.own ? { thread: this.thread, key: keyOf(this.thread) } : {};
      const conversation = thread.thread ? {} : (before?.conversation ?? {});
      const within = readToo.get() ? {} : { read: false };
      const body = { question, dataset: this.dataset, conversation, ...thread, mode: mode.get(), within };
      for await (const event of api.ask(body, { signal: stopper.signal })) this.take(turn.key, event);
    } catch (error) {
      const change = error.name === "AbortError" ? { state: "stopped" } : { state: "failed", error };
      this.update(turn.key, change);
    } finally {
      this.stopper = null;
      this.changed();
    }
  }

  /** Ask the last question once more, in the place of its failed turn. */
  again(turn) {
    this.turns = this.turns.filter((one) => one.key !== turn.key);
    return this.ask(turn.question);
  }

  stop() {
    this.stopper?.abort();
  }

  async begin(signal) {
    if (this.thread || !this.kept || this.turns.length > 1) return;
    try {
      const { id, key, dataset } = await api.newConversation({ dataset: this.dataset }, { signal });
      keepKey(id, key);
      Object.assign(this, { thread: id, dataset });
    } catch (error) {
      if (error.name === "AbortError" || error.offline || error.problem?.status === 401) throw error;
      this.kept = false;
    }
  }

  take(key, { name, data }) {
    const turn = this.turns.find((one) => one.key === key);
    const changes = {
      plan: () => ({ plan: data }),
      set: () => ({ set: data.set }),
      evidence: () => ({ sources: data.sources }),
      token: () => ({ text: turn.text + data.text }),
      restart: () => ({ text: "", restart: data.reason }),
      usage: () => ({ usage: data }),
      done: () => ({ state: "done", answer: data.answer }),
    };
    if (!(name in changes)) return;
    this.update(key, changes[name]());
    if (name === "done") this.finished(data.answer);
  }

  finished(answer) {
    remember({
      question: answer.question, dataset: answer.dataset, answer: answer.id ?? "",
      thread: this.own ? this.thread : "", when: new Date().toISOString(),
    });
    this.began(this.own ? this.thread : "", answer);
  }

  update(key, change) {
    this.turns = this.turns.map((turn) => (turn.key === key ? { ...turn, ...change } : turn));
    this.changed();
  }
}
