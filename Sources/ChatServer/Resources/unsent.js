"use strict";

// What was written and is not yet stored by the server. It stays in sight until it is, or until it is given up, also
// over a reload; a key of its own makes that it is stored once, however often it is sent.

const unsent = {
  /** In the order of writing: `{ key, sid, text, at, edits, state, why }`; `edits` is the message that is changed. */
  items: [],
  atWork: new Set(),

  add(sid, text, edits = null) {
    this.items.push({ key: newKey(), sid, text, at: Date.now(), edits, state: "waiting", why: null });
    this.changed();
    scrollToEnd();
    this.send(sid);
  },

  of(sid) {
    return this.items.filter((item) => item.sid === sid);
  },

  /** The server has it. */
  settle(key) {
    const count = this.items.length;
    this.items = this.items.filter((item) => item.key !== key);
    if (this.items.length !== count) this.changed();
  },

  settleAll(messages) {
    for (const message of messages) if (message.key && message.author === state.me) this.settle(message.key);
  },

  sendAll() {
    for (const sid of new Set(this.items.map((item) => item.sid))) this.send(sid);
  },

  /** Sends what waits in one channel, one after the other, so that it arrives in order. */
  async send(sid) {
    if (this.atWork.has(sid)) return;
    this.atWork.add(sid);
    try {
      while (line.isIn && state.channels.has(sid)) {
        const item = this.of(sid).find((candidate) => candidate.state !== "refused");
        if (!item) return;
        this.mark(item, "sending");
        await this.deliver(item);
      }
    } finally {
      this.atWork.delete(sid);
    }
  },

  async deliver(item) {
    try {
      if (item.edits) await line.order("edit", { channel: item.sid, message: item.edits, text: item.text });
      else await line.order("say", { channel: item.sid, text: item.text, key: item.key });
      this.settle(item.key);
    } catch (error) {
      if (error instanceof Lost) {
        this.mark(item, "waiting");
      } else if (error.isForNow) {
        this.mark(item, "waiting", error.message);
        await new Promise((resolve) => setTimeout(resolve, 1000));
      } else {
        this.mark(item, "refused", error.message);
        toast(`Not sent: ${error.message}.`);
      }
    }
  },

  mark(item, to, why = null) {
    if (item.state === to && item.why === why) return;
    item.state = to;
    item.why = why;
    this.changed();
  },

  retry(item) {
    this.mark(item, "waiting");
    this.send(item.sid);
    $("text").focus();
  },

  /** Back into the box, before what stands there. */
  rewrite(item) {
    this.settle(item.key);
    $("text").value = [item.text, $("text").value].filter(Boolean).join("\n");
    grow();
    keepDraft();
    $("text").focus();
  },

  giveUp(item) {
    this.settle(item.key);
    $("text").focus();
  },

  /** The channel is gone: what was written for it is handed back to be copied. */
  handBack(sid, name) {
    const draft = state.drafts.get(sid);
    const texts = [...this.of(sid).map((item) => item.text), draft?.edit?.text, draft?.text].filter(Boolean);
    this.items = this.items.filter((item) => item.sid !== sid);
    state.drafts.delete(sid);
    this.changed();
    if (texts.length === 0) return;
    $("lost-title").textContent = `Not sent to ${apart(name)}`;
    $("lost-text").value = texts.join("\n\n");
    if (!$("lost").open) $("lost").showModal();
    $("lost-text").select();
  },

  changed() {
    keepWritten();
    this.render();
    renderStatus();
    renderChannels();
  },

  says(item) {
    if (item.state === "refused") return `Not sent: ${item.why}.`;
    if (item.state === "sending") return line.trouble ? `Not stored yet: ${line.trouble}.` : "Sending…";
    if (item.why) return `Not sent yet: ${item.why}. Trying again…`;
    if (line.trouble) return `Not sent yet: ${line.trouble}.`;
    if (line.isIn) return "Waiting for the message before it.";
    return "Not sent yet: there is no connection. It is sent when there is one.";
  },

  render() {
    const list = $("unsent");
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset : null;
    const wasAtEnd = isAtEnd();
    list.replaceChildren(...this.of(state.open).map((item) => this.entry(item)));
    if (focused) {
      const again = list.querySelector(`[data-key="${focused.key}"][data-does="${focused.does}"]`);
      (again ?? $("text")).focus();
    }
    if (wasAtEnd) scrollToEnd();
  },

  entry(item) {
    const entry = make("li", `message first pending ${item.state}`);
    const avatar = make("span", "avatar");
    avatar.setAttribute("aria-hidden", "true");
    dress(avatar, state.me);
    const head = make("div", "head");
    head.append(make("span", "author", item.edits ? `${state.me} (edit)` : state.me), time(item.at, "time"));
    const content = make("div", "content");
    const words = make("div", "words");
    words.dir = "auto";
    const body = make("span", "body");
    body.append(...linked(item.text));
    words.append(body);
    const stand = make("div", "stand", this.says(item));
    if (item.state === "refused") {
      stand.append(this.button(item, "retry", "Try again"), this.button(item, "rewrite", "Edit"));
    }
    if (item.state !== "sending") stand.append(this.button(item, "giveUp", "Discard"));
    content.append(words, stand);
    entry.append(avatar, head, content);
    return entry;
  },

  button(item, does, text) {
    const button = make("button", "link", text);
    button.type = "button";
    button.dataset.key = item.key;
    button.dataset.does = does;
    button.addEventListener("click", () => this[does](item));
    return button;
  },
};

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// ---------------------------------------------------------------- drafts

/** Remembers what stands in the box, as what it is: a new text, or the edit of a message. */
function keepDraft() {
  if (!state.open) return;
  const text = $("text").value;
  const draft = state.editing
    ? { text: state.editing.before, edit: { message: state.editing.message, text } }
    : { text, edit: null };
  if (draft.text || draft.edit) state.drafts.set(state.open, draft);
  else state.drafts.delete(state.open);
  keepWritten();
}

function openDraft(sid) {
  const draft = state.drafts.get(sid);
  state.editing = null;
  show($("editing"), false);
  $("text").value = draft?.text ?? "";
  if (draft?.edit) edit(draft.edit.message, draft.edit.text);
  grow();
}

/** Over a reload; the tab forgets it when it is closed, of which the browser warns. */
function keepWritten() {
  if (!state.me) return;
  try {
    const items = unsent.items.map(({ key, sid, text, at, edits, state: stand, why }) =>
      stand === "refused" ? { key, sid, text, at, edits, state: stand, why } : { key, sid, text, at, edits, state: "waiting", why: null });
    sessionStorage.setItem("steward.written", JSON.stringify({ me: state.me, items, drafts: [...state.drafts] }));
  } catch { /* then it lasts as long as the page */ }
}

function recallWritten() {
  try {
    const written = JSON.parse(sessionStorage.getItem("steward.written"));
    if (written?.me !== state.me) return;
    unsent.items = written.items;
    state.drafts = new Map(written.drafts);
  } catch { /* nothing was kept */ }
}

addEventListener("beforeunload", (event) => {
  if (unsent.items.length > 0) event.preventDefault();
});
