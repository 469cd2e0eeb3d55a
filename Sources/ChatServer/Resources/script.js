"use strict";

// The page of the chat server. What people write is only ever put into the document as text.

const $ = (id) => document.getElementById(id);
const REACTIONS = ["👍", "❤️", "😂", "🎉", "😮", "😢"];
const GROUP_FOR = 5 * 60 * 1000;

const state = {
  me: "",
  channels: new Map(),
  open: null,
  /** The messages of the open channel by index, as far as they were loaded. */
  messages: new Map(),
  hasMore: false,
  /** The newest messages of the open channel have come. */
  isLoaded: false,
  isLoading: false,
  /** The first message that was unread when the channel was opened. */
  firstNew: null,
  editing: null,
  /** What stands in the box of each channel: `{ text, edit: { message, text } }`. */
  drafts: new Map(),
  wantsPeople: false,
  typing: new Map(),
};

// ---------------------------------------------------------------- the line

const line = {
  socket: null,
  number: 0,
  orders: new Map(),
  tries: 0,
  heard: 0,
  timer: 0,
  needsSecret: false,
  wantsIn: null,
  /** The server has said hello. */
  isOpen: false,
  /** The server knows who we are and has told us all. */
  isIn: false,
  /** Why the server cannot store anything just now. */
  trouble: null,

  connect() {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/browser`);
    this.socket = socket;
    this.heard = Date.now();
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.heard = Date.now();
      this.take(JSON.parse(event.data));
    };
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      // A program has shown a token for our name.
      if (event.code === 4001) turnAway(`${event.reason}: choose another one, or come in with a token for it`, "token");
      this.lost();
    };
  },

  take(news) {
    if (news.on === "done" || news.on === "error") {
      const order = this.orders.get(news.n);
      this.orders.delete(news.n);
      if (news.on === "done") order?.resolve(news);
      else order?.reject(Object.assign(new Error(news.text), { isForNow: news.later === true, needs: news.needs }));
      return;
    }
    hear[news.on]?.(news);
  },

  lost() {
    this.socket = null;
    this.isOpen = false;
    this.isIn = false;
    this.trouble = null;
    for (const order of this.orders.values()) order.reject(new Lost());
    this.orders.clear();
    const wait = Math.min(10000, 400 * 2 ** this.tries) * (0.8 + Math.random() * 0.4);
    this.tries += 1;
    unsent.render();
    renderStatus();
    this.timer = setTimeout(() => this.connect(), wait);
  },

  /** Sends an order; the promise is kept when the server has stored it. */
  order(verb, fields = {}) {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Lost());
    const n = ++this.number;
    this.socket.send(JSON.stringify({ do: verb, n, ...fields }));
    return new Promise((resolve, reject) => this.orders.set(n, { resolve, reject }));
  },

  /** A line that is dead without having said so is noticed by its silence. */
  watch() {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (Date.now() - this.heard > 40000) {
      const socket = this.socket;
      this.lost();
      socket.close();
    } else {
      this.socket.send(JSON.stringify({ do: "ping" }));
    }
  },
};

class Lost extends Error {
  constructor() {
    super("There is no connection just now.");
  }
}

setInterval(() => line.watch(), 15000);
addEventListener("online", () => { if (!line.socket) line.connect(); });

/** One line at the top for what is wrong with the line or the server. */
function renderStatus() {
  const waiting = unsent.items.filter((item) => item.state !== "refused").length;
  let text = "";
  if (!line.isOpen && (line.tries > 1 || state.me !== "")) {
    text = "No connection to the server. Trying again…";
    if (waiting > 0) text += ` ${plural(waiting, "message")} not sent yet.`;
  } else if (line.trouble) {
    text = `${line.trouble[0].toUpperCase()}${line.trouble.slice(1)}`;
  }
  show($("status"), text !== "");
  if ($("status").textContent !== text) $("status").textContent = text;
}

/** Carries out an order and says so when it fails. */
async function attempt(verb, fields) {
  try {
    return await line.order(verb, fields);
  } catch (error) {
    toast(error.message);
    return null;
  }
}

// ---------------------------------------------------------------- what comes in

const hear = {
  hello(news) {
    line.isOpen = true;
    line.needsSecret = news.secret;
    renderStatus();
    show($("secret-row"), news.secret);
    if (line.wantsIn) enter();
  },

  pong() {},

  trouble({ text }) {
    line.trouble = text;
    unsent.render();
    renderStatus();
  },

  welcome(news) {
    line.tries = 0;
    line.isIn = true;
    line.trouble = null;
    const isBack = state.me === news.me;
    state.me = news.me;
    const before = state.channels;
    state.channels = new Map(news.channels.map((channel) => [channel.sid, channel]));
    save("name", news.me);
    if (news.pass) save(`pass.${news.me}`, news.pass);
    $("token").value = "";
    const wasAtDoor = !$("door").hidden || !isBack;
    show($("door"), false);
    show($("app"), true);
    $("me-name").textContent = news.me;
    dress($("me-avatar"), news.me);
    if (!isBack) recallWritten();
    renderChannels();
    const wanted = isBack ? state.open : decodeURIComponent(location.hash.slice(1));
    if (wanted && state.channels.has(wanted)) openChannel(wanted, { keepsPlace: isBack, takesFocus: wasAtDoor });
    else if (state.open) closeChannel();
    if (wasAtDoor) rescueFocus();
    for (const sid of new Set([...unsent.items.map((item) => item.sid), ...state.drafts.keys()])) {
      if (!state.channels.has(sid)) unsent.handBack(sid, before.get(sid)?.name ?? "a channel that is gone");
    }
    unsent.render();
    renderStatus();
    unsent.sendAll();
  },

  channel({ channel }) {
    const known = state.channels.get(channel.sid);
    if (known) Object.assign(known, channel);
    else refresh(channel.sid);
    renderChannels();
    if (channel.sid === state.open) renderTop();
  },

  notice({ channel, text }) {
    if (channel === state.open) toast(text, false);
  },

  gone({ channel }) {
    const name = state.channels.get(channel)?.name ?? "The channel";
    if (channel === state.open) keepDraft();
    state.channels.delete(channel);
    if (channel === state.open) {
      closeChannel();
      toast(`${apart(name)} was deleted.`, false);
    }
    renderChannels();
    rescueFocus();
    unsent.handBack(channel, name);
  },

  async mine(news) {
    const known = state.channels.get(news.channel);
    if (!news.joined) {
      if (!known) return;
      known.joined = false;
      if (news.channel === state.open) keepDraft();
      if (known.private) state.channels.delete(news.channel);
      renderChannels();
      if (news.channel === state.open) {
        if (known.private) closeChannel();
        else showTalk();
        rescueFocus();
      }
      if (known.private) unsent.handBack(news.channel, known.name);
    } else if (news.fresh || !known?.joined) {
      await refresh(news.channel);
      if (news.channel === state.open) openChannel(news.channel);
    } else if (news.read !== null && news.read > (known.read ?? -1)) {
      known.read = news.read;
      if (news.read >= known.next - 1) known.unread = 0;
      renderChannels();
    }
  },

  joined({ channel, member }) {
    const known = state.channels.get(channel);
    if (!known || known.members.some((other) => other.name === member.name)) return;
    known.members.push({ ...member, online: false });
    renderPeople(channel);
    // Whether they are here is not said with it.
    line.order("look", { channel }).then((answer) => {
      known.members = answer.channel.members;
      renderPeople(channel);
    }).catch(() => {});
  },

  left({ channel, member }) {
    const known = state.channels.get(channel);
    if (!known) return;
    known.members = known.members.filter((other) => other.name !== member.name);
    stopTyping(channel, member.name);
    renderPeople(channel);
  },

  presence({ name, online }) {
    for (const channel of state.channels.values()) {
      for (const member of channel.members) if (member.name === name) member.online = online;
    }
    if (state.open) renderPeople(state.open);
  },

  message({ channel, message }) {
    const known = state.channels.get(channel);
    if (!known) return;
    stopTyping(channel, message.author);
    unsent.settleAll([message]);
    known.next = Math.max(known.next, message.index + 1);
    if (message.author !== state.me) known.unread += 1;
    if (channel === state.open) addMessage(message);
    renderChannels();
  },

  edited({ channel, message }) {
    if (channel !== state.open || !state.messages.has(message.index)) return;
    state.messages.set(message.index, message);
    const wasAtEnd = isAtEnd();
    renderMessage(message);
    if (wasAtEnd) scrollToEnd();
  },

  deleted({ channel, message }) {
    const known = state.channels.get(channel);
    if (known && message.author !== state.me && message.index > (known.read ?? -1) && known.unread > 0) {
      known.unread -= 1;
      renderChannels();
    }
    if (channel !== state.open || !state.messages.delete(message.index)) return;
    if (state.editing?.message.sid === message.sid) {
      // Its new words are kept, as words of their own.
      const words = [state.editing.before, $("text").value].filter(Boolean).join("\n");
      stopEditing();
      $("text").value = words;
      grow();
      keepDraft();
    }
    renderMessages();
  },

  typing({ channel, name }) {
    if (!state.typing.has(channel)) state.typing.set(channel, new Map());
    state.typing.get(channel).set(name, Date.now() + 6000);
    renderTyping();
  },
};

async function refresh(sid) {
  try {
    const { channel } = await line.order("look", { channel: sid });
    state.channels.set(sid, channel);
    renderChannels();
    if (sid === state.open) showTalk();
  } catch {
    // Gone meanwhile; the next event says so.
  }
}

// ---------------------------------------------------------------- coming in

function enter() {
  const name = line.wantsIn;
  const secret = $("secret").value || recall("secret") || "";
  line.order("hello", { name, secret, token: $("token").value.trim(), pass: recall(`pass.${name}`) ?? "" }).catch((error) => {
    if (error instanceof Lost) return;
    if (error.needs === "secret") save("secret", "");
    turnAway(error.message, error.needs);
  });
  if ($("secret").value) save("secret", $("secret").value);
}

/** Back to the door, with the reason. */
function turnAway(why, needs = null) {
  const name = line.wantsIn ?? state.me;
  line.wantsIn = null;
  say($("door-error"), `${why[0].toUpperCase()}${why.slice(1)}.`);
  show($("token-row"), needs === "token");
  const secret = line.needsSecret ? ' -H "Authorization: Bearer SECRET"' : "";
  $("token-command").textContent = `curl${secret} '${location.origin}/token?identity=${encodeURIComponent(name)}'`;
  show($("door"), true);
  show($("app"), false);
  $(needs ?? "name").focus();
}

$("name").addEventListener("input", () => show($("token-row"), false));

$("door-form").addEventListener("submit", (event) => {
  event.preventDefault();
  show($("door-error"), false);
  line.wantsIn = $("name").value.trim();
  if (line.socket?.readyState === WebSocket.OPEN) enter();
  else line.tries === 0 || line.connect();
});

$("sign-out").addEventListener("click", async () => {
  const count = unsent.items.length;
  if (count > 0 && !(await ask("Change the name?", `${plural(count, "message")} of yours not sent yet will be lost.`, "Discard and change"))) return;
  unsent.items = [];
  state.drafts.clear();
  keepWritten();
  save(`pass.${state.me}`, "");
  save("name", "");
  location.hash = "";
  location.reload();
});

// ---------------------------------------------------------------- channels

function renderChannels() {
  const all = [...state.channels.values()].sort((a, b) => order(a.name, b.name) || a.created - b.created);
  markNamesakes(all);
  const mine = all.filter((channel) => channel.joined);
  const others = all.filter((channel) => !channel.joined);
  fill($("mine"), mine);
  fill($("others"), others);
  show($("mine-empty"), mine.length === 0);
  show($("others-empty"), others.length === 0);
  const unread = mine.reduce((sum, channel) => sum + channel.unread, 0);
  document.title = unread > 0 ? `(${unread}) steward chat` : "steward chat";
}

/** The same for everybody, wherever they are, and "room 2" before "room 10". */
const collator = new Intl.Collator("en", { numeric: true });
const order = collator.compare;

/** Channels that are called the same get something to tell them apart. */
function markNamesakes(channels) {
  const counts = new Map();
  const plain = (channel) => channel.name.normalize("NFKC").toLowerCase().trim();
  for (const channel of channels) counts.set(plain(channel), (counts.get(plain(channel)) ?? 0) + 1);
  const hints = new Map();
  for (const channel of channels) {
    channel.hint = counts.get(plain(channel)) < 2 ? null
      : channel.unique && channel.unique !== channel.name ? channel.unique
      : `by ${apart(channel.creator)}, ${momentFormat.format(channel.created)}`;
    if (!channel.hint) continue;
    const hint = `${plain(channel)} ${channel.hint}`;
    hints.set(hint, (hints.get(hint) ?? 0) + 1);
    if (hints.get(hint) > 1) channel.hint += ` (${hints.get(hint)})`;
  }
}

function fill(list, channels) {
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.sid : null;
  list.replaceChildren(...channels.map((channel) => {
    const button = make("button", "channel");
    button.type = "button";
    button.dataset.sid = channel.sid;
    const unread = channel.joined ? channel.unread : 0;
    button.classList.toggle("unread", unread > 0);
    if (channel.sid === state.open) button.setAttribute("aria-current", "true");
    const sign = make("span", "sign", channel.private ? "" : "#");
    if (channel.private) sign.append($("lock").content.cloneNode(true));
    sign.setAttribute("aria-hidden", "true");
    const names = make("span", "names");
    if (channel.private) names.append(make("span", "unseen", "private channel "));
    names.append(make("span", "label", channel.name));
    if (channel.hint) names.append(make("span", "hint", channel.hint));
    button.title = channel.hint ? `${apart(channel.name)} (${channel.hint})` : channel.name;
    button.append(sign, names);
    const stuck = unsent.of(channel.sid).filter((item) => item.state !== "sending").length;
    if (stuck > 0) {
      const badge = make("span", "badge bad", "!");
      badge.append(make("span", "unseen", ` ${plural(stuck, "message")} not sent`));
      button.append(badge);
    }
    if (unread > 0) {
      const badge = make("span", "badge", unread > 99 ? "99+" : String(unread));
      badge.append(make("span", "unseen", " unread"));
      button.append(badge);
    } else if (!channel.joined) {
      const count = make("span", "count", String(channel.members.length));
      count.append(make("span", "unseen", channel.members.length === 1 ? " member" : " members"));
      button.append(count);
    }
    button.addEventListener("click", () => openChannel(channel.sid, { takesFocus: true }));
    const item = make("li");
    item.append(button);
    return item;
  }));
  if (focused) list.querySelector(`[data-sid="${focused}"]`)?.focus();
}

async function openChannel(sid, { takesFocus = false, keepsPlace = false } = {}) {
  const channel = state.channels.get(sid);
  if (!channel) return;
  if (state.open !== sid) {
    keepDraft();
    state.open = sid;
    openDraft(sid);
  }
  history.replaceState(null, "", `#${sid}`);
  $("app").dataset.view = "talk";
  if (!keepsPlace) {
    state.messages.clear();
    state.hasMore = false;
    state.isLoaded = false;
    state.firstNew = null;
  }
  showTalk();
  renderChannels();
  unsent.render();
  if (takesFocus) focusTalk();
  if (channel.joined) await loadNewest(channel, keepsPlace);
}

async function loadNewest(channel, keepsPlace) {
  const read = channel.read ?? -1;
  let page;
  try {
    page = await line.order("page", { channel: channel.sid });
  } catch (error) {
    if (!(error instanceof Lost)) toast(error.message);
    return;
  }
  if (state.open !== channel.sid) return;
  const wasAtEnd = !keepsPlace || isAtEnd();
  const newest = Math.max(-1, ...state.messages.keys());
  // After a gap that one page does not cover, what was loaded before it would hide the hole.
  const first = page.messages[0]?.index ?? 0;
  if (!keepsPlace || first > newest + 1) {
    state.messages.clear();
    state.hasMore = page.more;
  } else {
    for (const index of [...state.messages.keys()]) if (index >= first) state.messages.delete(index);
  }
  for (const message of page.messages) state.messages.set(message.index, message);
  state.isLoaded = true;
  unsent.settleAll(page.messages);
  if (!keepsPlace && channel.unread > 0) {
    state.firstNew = page.messages.find((message) => message.index > read && message.author !== state.me)?.index ?? null;
  }
  renderMessages();
  if (wasAtEnd) scrollToEnd();
  markRead();
}

function focusTalk() {
  // A finger's keyboard would cover half of the screen unasked.
  const isTouch = matchMedia("(pointer: coarse)").matches;
  const joined = state.channels.get(state.open)?.joined;
  (!joined ? $("join") : isTouch ? $("talk-title") : $("text")).focus();
}

/** When what had the keyboard's focus is gone: on with what is open, else with the list. */
function rescueFocus() {
  const focused = document.activeElement;
  if (focused && focused !== document.body && (focused.checkVisibility?.() ?? focused.offsetParent)) return;
  if (state.open) return focusTalk();
  (document.querySelector(".channels .channel") ?? $("create")).focus();
}

function closeChannel() {
  state.open = null;
  state.editing = null;
  show($("editing"), false);
  $("text").value = "";
  state.messages.clear();
  history.replaceState(null, "", location.pathname);
  $("app").dataset.view = "list";
  showTalk();
  renderChannels();
}

function showTalk() {
  const channel = state.channels.get(state.open);
  show($("nothing"), !channel);
  show($("talk"), channel);
  show($("people"), channel && state.wantsPeople);
  if (!channel) return;
  renderTop();
  show($("composer"), channel.joined);
  show($("join-bar"), !channel.joined);
  show($("scroll"), channel.joined);
  show($("typing"), channel.joined);
  if (!channel.joined) {
    state.messages.clear();
    state.hasMore = false;
  }
  renderMessages();
  renderTyping();
  renderPeople(channel.sid);
}

function renderTop() {
  const channel = state.channels.get(state.open);
  $("talk-title").replaceChildren(make("bdi", "", channel.name));
  if (channel.hint) $("talk-title").append(make("span", "hint", channel.hint));
  show($("add"), channel.mayAdd);
  show($("people-add"), channel.mayAdd);
  show($("leave"), channel.joined);
  show($("destroy"), channel.mayDelete);
  show($("talk-menu-button"), channel.joined || channel.mayDelete || channel.mayAdd);
}

$("back").addEventListener("click", () => {
  const sid = state.open;
  keepDraft();
  closeChannel();
  document.querySelector(`.channel[data-sid="${sid}"]`)?.focus();
});

$("join").addEventListener("click", async () => {
  const sid = state.open;
  if (!(await attempt("join", { channel: sid }))) return;
  await refresh(sid);
  if (state.open === sid) openChannel(sid, { takesFocus: true });
});

$("leave").addEventListener("click", async () => {
  closeMenus(true);
  await attempt("leave", { channel: state.open });
});

$("destroy").addEventListener("click", async () => {
  closeMenus(true);
  const channel = state.channels.get(state.open);
  const isSure = await ask(`Delete ${apart(channel.name)}?`, "The channel and all its messages are gone for everybody.", "Delete");
  if (isSure) await attempt("destroy", { channel: channel.sid });
});

$("create").addEventListener("click", () => {
  $("create-form").reset();
  show($("create-error"), false);
  $("create-dialog").showModal();
});

$("create-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const made = await line.order("create", { name: $("create-name").value.trim(), private: $("create-private").checked });
    $("create-dialog").close();
    await refresh(made.channel);
    openChannel(made.channel, { takesFocus: true });
  } catch (error) {
    say($("create-error"), error.message);
  }
});

// ---------------------------------------------------------------- people

function renderPeople(sid) {
  if (sid !== state.open) return renderChannels();
  const channel = state.channels.get(sid);
  const count = channel.members.length;
  $("people-count").textContent = String(count);
  $("people-button").setAttribute("aria-label", plural(count, "member"));
  $("people-button").title = plural(count, "member");
  const focused = $("people-list").contains(document.activeElement) ? document.activeElement.dataset.name : null;
  const sorted = [...channel.members].sort((a, b) => b.online - a.online || order(a.name, b.name));
  $("people-list").replaceChildren(...sorted.map((member) => {
    const item = make("li", "person");
    item.classList.toggle("online", member.online);
    const avatar = make("span", "avatar");
    avatar.setAttribute("aria-hidden", "true");
    dress(avatar, member.name);
    const label = make("span", "label", member.name === state.me ? `${apart(member.name)} (you)` : member.name);
    label.append(make("span", "unseen", member.online ? ", online" : ", offline"));
    item.append(avatar, label);
    if (member.admin) item.append(make("span", "tag", "admin"));
    if (channel.mayRemove && member.name !== state.me) item.append(removeButton(channel, member.name));
    return item;
  }));
  if (focused === null || focused === undefined) return;
  const again = [...$("people-list").querySelectorAll("button")].find((button) => button.dataset.name === focused);
  (again ?? $("people-close")).focus();
}

function removeButton(channel, name) {
  const button = make("button", "icon remove");
  button.type = "button";
  button.dataset.name = name;
  button.title = "Remove from the channel";
  button.setAttribute("aria-label", `Remove ${name} from the channel`);
  button.append($("people-close").firstElementChild.cloneNode(true));
  button.addEventListener("click", async () => {
    const isSure = await ask(`Remove ${apart(name)}?`, `They will be no member of ${apart(channel.name)} any more.`, "Remove");
    if (isSure) await attempt("remove", { channel: channel.sid, name });
  });
  return button;
}

/** Everybody the server knows, to complete a name. */
let known = new Set();

async function openAdd() {
  closeMenus(true);
  const channel = state.channels.get(state.open);
  $("add-form").reset();
  show($("add-error"), false);
  show($("add-done"), false);
  $("add-title").textContent = `Add people to ${apart(channel.name)}`;
  $("add-dialog").showModal();
  const answer = await attempt("people");
  known = new Set(answer?.people ?? []);
  const members = new Set(channel.members.map((member) => member.name));
  $("add-names").replaceChildren(...[...known].filter((name) => !members.has(name)).sort(order).map((name) => {
    const option = make("option");
    option.value = name;
    return option;
  }));
}

$("add").addEventListener("click", openAdd);
$("people-add").addEventListener("click", openAdd);

$("add-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = $("add-name").value.trim();
  show($("add-error"), false);
  show($("add-done"), false);
  try {
    await line.order("add", { channel: state.open, name });
    const later = known.has(name) ? "" : ` Nobody of that name has been here yet; whoever comes in under exactly that name sees the channel.`;
    say($("add-done"), `${apart(name)} was added.${later}`);
    $("add-name").value = "";
  } catch (error) {
    say($("add-error"), `${apart(name)}: ${error.message}`);
  }
  $("add-name").focus();
});

function showPeople(isShown) {
  state.wantsPeople = isShown;
  show($("people"), isShown);
  $("people-button").setAttribute("aria-expanded", String(isShown));
  save("people", isShown ? "yes" : "no");
}

$("people-button").addEventListener("click", () => {
  showPeople($("people").hidden);
  if (!$("people").hidden && innerWidth <= 1000) $("people-close").focus();
});
$("people-close").addEventListener("click", () => {
  showPeople(false);
  $("people-button").focus();
});

// ---------------------------------------------------------------- messages

function renderMessages() {
  const channel = state.channels.get(state.open);
  const focused = $("messages").contains(document.activeElement)
    ? Number(document.activeElement.closest(".message")?.dataset.index ?? -1) : null;
  const sorted = [...state.messages.values()].sort((a, b) => a.index - b.index);
  const items = [];
  let before = null;
  for (const message of sorted) {
    items.push(...dividers(message, before), messageItem(message, before));
    before = message;
  }
  $("messages").replaceChildren(...items);
  show($("earlier"), state.hasMore);
  show($("beginning"), channel && channel.joined && !state.hasMore);
  if (channel) $("beginning").textContent = sorted.length ? `This is the beginning of ${apart(channel.name)}.` : !state.isLoaded ? "Loading…" : `No messages in ${apart(channel.name)} yet. Say hello!`;
  if (focused === null) return;
  // The same message, or the one that has taken its place.
  const near = sorted.find((message) => message.index >= focused) ?? sorted.at(-1);
  ($("messages").querySelector(`.message[data-index="${near?.index}"] .more`) ?? $("text")).focus();
}

function dividers(message, before) {
  const items = [];
  if (!before || day(before.at) !== day(message.at)) items.push(make("li", "day", day(message.at)));
  if (message.index === state.firstNew && before) items.push(make("li", "day new", "New"));
  return items;
}

function isFirstOfGroup(message, before) {
  return !before || before.author !== message.author || message.at - before.at > GROUP_FOR
    || day(before.at) !== day(message.at) || message.index === state.firstNew;
}

function messageItem(message, before) {
  const item = make("li", "message");
  item.dataset.index = message.index;
  const isForMe = message.author !== state.me && message.text.toLowerCase().includes(`@${state.me.toLowerCase()}`);
  item.classList.toggle("mention", isForMe);
  item.classList.toggle("first", isFirstOfGroup(message, before));
  const avatar = make("span", "avatar");
  avatar.setAttribute("aria-hidden", "true");
  dress(avatar, message.author);
  const head = make("div", "head");
  head.append(make("span", "author", message.author), time(message.at, "time"));
  const content = make("div", "content");
  // Read out with each line, also where the author is not shown again.
  if (!item.classList.contains("first")) content.append(make("span", "unseen", `${message.author}: `));
  const words = make("div", "words");
  words.dir = "auto";
  const body = make("span", "body");
  body.append(...linked(message.text));
  words.append(body);
  if (message.edited) words.append(make("span", "edited", "(edited)"));
  content.append(words);
  for (const file of message.files ?? []) content.append(make("div", "file", `📎 ${file}`));
  const reactions = reactionChips(message);
  if (reactions) content.append(reactions);
  item.append(avatar, head, content, time(message.at, "side-time"), moreButton(message));
  return item;
}

/** Replaces one message where it stands. */
function renderMessage(message) {
  const old = $("messages").querySelector(`.message[data-index="${message.index}"]`);
  if (!old) return;
  const before = [...state.messages.keys()].filter((index) => index < message.index);
  const item = messageItem(message, state.messages.get(Math.max(...before)) ?? null);
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(item);
  if (hadFocus) item.querySelector(".more")?.focus();
}

function addMessage(message) {
  if (state.messages.has(message.index)) return;
  const wasAtEnd = isAtEnd();
  const newest = Math.max(-1, ...state.messages.keys());
  state.messages.set(message.index, message);
  if (message.index < newest) {
    renderMessages();
  } else {
    const before = state.messages.get(newest) ?? null;
    $("messages").append(...dividers(message, before), messageItem(message, before));
    show($("beginning"), !state.hasMore);
    const channel = state.channels.get(state.open);
    $("beginning").textContent = `This is the beginning of ${apart(channel.name)}.`;
  }
  if (wasAtEnd || message.author === state.me) scrollToEnd();
  else show($("latest"), true);
  markRead();
}

function moreButton(message) {
  const button = make("button", "icon more");
  button.type = "button";
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-label", `Actions for the message by ${message.author} at ${clock(message.at)}`);
  button.append($("talk-menu-button").firstElementChild.cloneNode(true));
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    openActions(message, button);
  });
  return button;
}

function reactionChips(message) {
  const entries = Object.entries(message.reactions ?? {}).filter(([, people]) => Array.isArray(people) && people.length > 0);
  if (entries.length === 0) return null;
  const row = make("div", "reactions");
  for (const [reaction, people] of entries) {
    const chip = make("button", "reaction");
    chip.type = "button";
    chip.setAttribute("aria-pressed", String(people.includes(state.me)));
    chip.setAttribute("aria-label", `${reaction} from ${people.join(", ")}`);
    chip.title = people.join(", ");
    chip.append(make("span", "", reaction), make("span", "", String(people.length)));
    chip.addEventListener("click", () => react(message, reaction));
    row.append(chip);
  }
  return row;
}

function react(message, reaction) {
  return attempt("react", { channel: state.open, message: message.sid, reaction });
}

/** The text with its web addresses made links; everything stays text. */
function linked(text) {
  return text.split(/(https?:\/\/[^\s<>"]+[^\s<>".,;:!?'()\]])/g).map((piece, place) => {
    if (place % 2 === 0) return document.createTextNode(piece);
    const link = make("a", "", piece);
    link.href = piece;
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    return link;
  });
}

async function loadEarlier({ takesFocus = false } = {}) {
  if (!state.hasMore || state.isLoading || state.messages.size === 0) return;
  state.isLoading = true;
  const sid = state.open;
  try {
    const page = await line.order("page", { channel: sid, before: Math.min(...state.messages.keys()) });
    if (state.open !== sid) return;
    const box = $("scroll");
    const fromEnd = box.scrollHeight - box.scrollTop;
    for (const message of page.messages) state.messages.set(message.index, message);
    state.hasMore = page.more;
    $("messages").setAttribute("aria-live", "off");
    renderMessages();
    box.scrollTop = box.scrollHeight - fromEnd;
    if (takesFocus) {
      // To the newest of those that came, right above where one was reading.
      const index = page.messages.at(-1)?.index;
      const item = $("messages").querySelector(`.message[data-index="${index}"]`);
      if (item) item.tabIndex = -1;
      (item ?? box).focus();
    }
    setTimeout(() => $("messages").setAttribute("aria-live", "polite"), 500);
  } catch (error) {
    if (!(error instanceof Lost)) toast(error.message);
  } finally {
    state.isLoading = false;
  }
}

$("earlier").addEventListener("click", () => loadEarlier({ takesFocus: true }));
$("scroll").addEventListener("scroll", () => {
  closeMenus();
  if ($("scroll").scrollTop < 80) loadEarlier();
  if (isAtEnd()) {
    show($("latest"), false);
    markRead();
  }
}, { passive: true });
$("latest").addEventListener("click", () => {
  scrollToEnd();
  $("text").focus();
});

// A touch on a message shows its button.
$("messages").addEventListener("click", (event) => {
  const item = event.target.closest(".message");
  for (const other of $("messages").querySelectorAll(".active")) if (other !== item) other.classList.remove("active");
  if (!event.target.closest("a, button")) item?.classList.toggle("active");
});

function isAtEnd() {
  const box = $("scroll");
  return box.scrollHeight - box.scrollTop - box.clientHeight < 60;
}

function scrollToEnd() {
  $("scroll").scrollTop = $("scroll").scrollHeight;
  show($("latest"), false);
}

function markRead() {
  const channel = state.channels.get(state.open);
  if (!channel?.joined || document.hidden || !isAtEnd() || state.messages.size === 0) return;
  const newest = Math.max(...state.messages.keys());
  if (channel.unread > 0) {
    channel.unread = 0;
    renderChannels();
  }
  if (newest <= (channel.read ?? -1)) return;
  channel.read = newest;
  // Not at once for each of many messages.
  clearTimeout(markRead.timer);
  markRead.timer = setTimeout(() => {
    line.order("read", { channel: channel.sid, index: channel.read }).catch(() => {});
  }, 250);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  markRead();
  if (!line.socket) line.connect();
});

// ---------------------------------------------------------------- writing

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (!text) return;
  const sid = state.open;
  const editing = state.editing?.message;
  if (editing) {
    stopEditing();
  } else {
    $("text").value = "";
    grow();
  }
  keepDraft();
  if (text !== editing?.text) unsent.add(sid, text, editing?.sid ?? null);
});

$("text").addEventListener("input", () => {
  grow();
  keepDraft();
  const now = Date.now();
  if (!$("text").value || state.editing || now - (state.saidTyping ?? 0) < 4000) return;
  state.saidTyping = now;
  line.order("typing", { channel: state.open }).catch(() => {});
});

$("text").addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    $("composer").requestSubmit();
    state.saidTyping = 0;
  } else if (event.key === "Escape" && state.editing) {
    stopEditing();
    keepDraft();
  } else if (event.key === "ArrowUp" && !$("text").value) {
    const own = [...state.messages.values()].filter((message) => message.author === state.me);
    if (own.length === 0) return;
    event.preventDefault();
    edit(own.reduce((last, message) => (message.index > last.index ? message : last)));
  }
});

function grow() {
  const text = $("text");
  text.style.height = "auto";
  text.style.height = `${Math.min(200, text.scrollHeight)}px`;
}

function edit(message, text = message.text) {
  // What stood in the box comes back after the edit.
  state.editing = { message, before: state.editing ? state.editing.before : $("text").value };
  show($("editing"), true);
  $("text").value = text;
  grow();
  keepDraft();
  $("text").focus();
}

function stopEditing() {
  if (!state.editing) return;
  $("text").value = state.editing.before;
  state.editing = null;
  show($("editing"), false);
  grow();
}

$("edit-cancel").addEventListener("click", () => {
  stopEditing();
  keepDraft();
  $("text").focus();
});

function stopTyping(channel, name) {
  if (state.typing.get(channel)?.delete(name)) renderTyping();
}

function renderTyping() {
  const people = state.typing.get(state.open) ?? new Map();
  for (const [name, until] of people) if (until < Date.now()) people.delete(name);
  const names = [...people.keys()];
  const text = names.length === 0 ? ""
    : names.length === 1 ? `${apart(names[0])} is typing…`
    : names.length === 2 ? `${apart(names[0])} and ${apart(names[1])} are typing…`
    : "Several people are typing…";
  if ($("typing").textContent !== text) $("typing").textContent = text;
}

setInterval(renderTyping, 1000);

// ---------------------------------------------------------------- menus, dialogs, words

let opener = null;

function openActions(message, button) {
  closeMenus();
  const channel = state.channels.get(state.open);
  const isOwn = message.author === state.me;
  opener = button;
  show($("action-edit"), isOwn);
  show($("action-delete"), isOwn || channel.mayModerate);
  $("action-edit").onclick = () => { closeMenus(); edit(state.messages.get(message.index) ?? message); };
  $("action-delete").onclick = async () => {
    closeMenus(true);
    const isSure = await ask("Delete this message?", message.text.slice(0, 200), "Delete");
    if (isSure) await attempt("delete", { channel: channel.sid, message: message.sid });
  };
  $("actions").querySelector(".reactions-row").replaceChildren(...REACTIONS.map((reaction) => {
    const choice = make("button", "", reaction);
    choice.type = "button";
    choice.setAttribute("role", "menuitem");
    choice.setAttribute("aria-label", `React with ${reaction}`);
    choice.addEventListener("click", () => { closeMenus(true); react(message, reaction); });
    return choice;
  }));
  show($("actions"), true);
  const place = button.getBoundingClientRect();
  const menu = $("actions").getBoundingClientRect();
  const top = place.bottom + menu.height + 8 > innerHeight ? place.top - menu.height - 4 : place.bottom + 4;
  $("actions").style.top = `${Math.max(8, top)}px`;
  $("actions").style.left = `${Math.max(8, Math.min(place.right, innerWidth - 8) - menu.width)}px`;
  $("actions").querySelector("[role=menuitem]").focus();
}

$("talk-menu-button").addEventListener("click", (event) => {
  event.stopPropagation();
  const isOpen = !$("talk-menu").hidden;
  closeMenus();
  if (isOpen) return;
  opener = $("talk-menu-button");
  opener.setAttribute("aria-expanded", "true");
  show($("talk-menu"), true);
  $("talk-menu").querySelector("[role=menuitem]:not([hidden])").focus();
});

function closeMenus(givesFocusBack = false) {
  if ($("actions").hidden && $("talk-menu").hidden) return;
  show($("actions"), false);
  show($("talk-menu"), false);
  $("talk-menu-button").setAttribute("aria-expanded", "false");
  if (givesFocusBack) opener?.focus();
  opener = null;
}

document.addEventListener("click", (event) => {
  if (!event.target.closest(".menu")) closeMenus();
});

document.addEventListener("keydown", (event) => {
  const menu = [$("actions"), $("talk-menu")].find((candidate) => !candidate.hidden);
  if (!menu) {
    if (event.key === "Escape" && !$("people").hidden && innerWidth <= 1000) $("people-close").click();
    return;
  }
  const items = [...menu.querySelectorAll("[role=menuitem]:not([hidden])")];
  const place = items.indexOf(document.activeElement);
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    closeMenus(true);
  } else if (event.key in steps) {
    event.preventDefault();
    items[(place + steps[event.key] + items.length) % items.length]?.focus();
  }
});

for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

function ask(title, text, yes) {
  $("sure-title").textContent = title;
  $("sure-text").textContent = text;
  $("sure-yes").textContent = yes;
  $("sure").returnValue = "no";
  $("sure").showModal();
  return new Promise((resolve) => {
    $("sure").addEventListener("close", () => resolve($("sure").returnValue === "yes"), { once: true });
  });
}

function toast(text, isError = true) {
  say($("toast"), text);
  $("toast").classList.toggle("bad", isError);
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => show($("toast"), false), 5000);
}

function say(element, text) {
  element.textContent = text;
  show(element, true);
}

function show(element, isShown) {
  element.hidden = !isShown;
}

function make(tag, className = "", text = null) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== null) {
    element.textContent = text;
    // People write in both directions.
    element.dir = "auto";
  }
  return element;
}

/** A name inside a sentence, which it must not turn around, whichever way it is written. */
function apart(name) {
  return `\u2068${name}\u2069`;
}

function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

function dress(avatar, name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 1000;
  avatar.className = `avatar hue-${sum % 10}`;
  avatar.textContent = [...name][0]?.toUpperCase() ?? "?";
}

const clockFormat = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dayOfYearFormat = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const momentFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const clock = (at) => clockFormat.format(at);

function day(at) {
  const now = new Date();
  const that = new Date(at);
  if (that.toDateString() === now.toDateString()) return "Today";
  now.setDate(now.getDate() - 1);
  if (that.toDateString() === now.toDateString()) return "Yesterday";
  return (that.getFullYear() === new Date().getFullYear() ? dayFormat : dayOfYearFormat).format(at);
}

function time(at, className) {
  const element = make("time", className, clock(at));
  element.dateTime = new Date(at).toISOString();
  element.title = momentFormat.format(at);
  return element;
}

// The browser may keep nothing for us; then the name is asked for each time.
function save(key, value) {
  try { localStorage.setItem(`steward.${key}`, value); } catch { /* asked again next time */ }
}

function recall(key) {
  try { return localStorage.getItem(`steward.${key}`); } catch { return null; }
}

// ---------------------------------------------------------------- begin

line.wantsIn = recall("name") || null;
$("name").value = line.wantsIn ?? "";
if (line.wantsIn) show($("door"), false);
state.wantsPeople = innerWidth > 1000 && recall("people") !== "no";
$("people-button").setAttribute("aria-expanded", String(state.wantsPeople));
if (!line.wantsIn) $("name").focus();
line.connect();
