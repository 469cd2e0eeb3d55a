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
  isLoading: false,
  /** The first message that was unread when the channel was opened. */
  firstNew: null,
  editing: null,
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
    socket.onclose = () => {
      if (socket === this.socket) this.lost();
    };
  },

  take(news) {
    if (news.on === "done" || news.on === "error") {
      const order = this.orders.get(news.n);
      this.orders.delete(news.n);
      if (news.on === "done") order?.resolve(news);
      else order?.reject(new Error(news.text));
      return;
    }
    hear[news.on]?.(news);
  },

  lost() {
    this.socket = null;
    for (const order of this.orders.values()) order.reject(new Lost());
    this.orders.clear();
    const wait = Math.min(10000, 400 * 2 ** this.tries) * (0.8 + Math.random() * 0.4);
    this.tries += 1;
    show($("status"), this.tries > 1 || state.me !== "");
    $("status").textContent = "Connection lost. Trying again…";
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
    line.needsSecret = news.secret;
    show($("secret-row"), news.secret);
    if (line.wantsIn) enter();
  },

  pong() {},

  welcome(news) {
    line.tries = 0;
    show($("status"), false);
    const isBack = state.me === news.me;
    state.me = news.me;
    state.channels = new Map(news.channels.map((channel) => [channel.sid, channel]));
    save("name", news.me);
    show($("door"), false);
    show($("app"), true);
    $("me-name").textContent = news.me;
    dress($("me-avatar"), news.me);
    renderChannels();
    const wanted = isBack ? state.open : decodeURIComponent(location.hash.slice(1));
    if (wanted && state.channels.has(wanted)) openChannel(wanted, { keepsPlace: isBack });
    else if (state.open) closeChannel();
  },

  channel({ channel }) {
    const known = state.channels.get(channel.sid);
    if (known) Object.assign(known, channel);
    else refresh(channel.sid);
    renderChannels();
    if (channel.sid === state.open) renderTop();
  },

  gone({ channel }) {
    const name = state.channels.get(channel)?.name;
    state.channels.delete(channel);
    if (channel === state.open) {
      closeChannel();
      toast(`${name} was deleted.`, false);
    }
    renderChannels();
  },

  async mine(news) {
    const known = state.channels.get(news.channel);
    if (!news.joined) {
      if (!known) return;
      known.joined = false;
      if (known.private) state.channels.delete(news.channel);
      renderChannels();
      if (news.channel !== state.open) return;
      if (known.private) closeChannel();
      else showTalk();
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
    known.members.push({ ...member, online: true });
    renderPeople(channel);
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
    if (state.editing?.sid === message.sid) stopEditing();
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
  const secret = $("secret").value || recall("secret") || "";
  line.order("hello", { name: line.wantsIn, secret }).catch((error) => {
    if (error instanceof Lost) return;
    line.wantsIn = null;
    save("secret", "");
    say($("door-error"), error.message);
    show($("door"), true);
    show($("app"), false);
    $(line.needsSecret && /password/.test(error.message) ? "secret" : "name").focus();
  });
  if ($("secret").value) save("secret", $("secret").value);
}

$("door-form").addEventListener("submit", (event) => {
  event.preventDefault();
  show($("door-error"), false);
  line.wantsIn = $("name").value.trim();
  if (line.socket?.readyState === WebSocket.OPEN) enter();
  else line.tries === 0 || line.connect();
});

$("sign-out").addEventListener("click", () => {
  save("name", "");
  location.hash = "";
  location.reload();
});

// ---------------------------------------------------------------- channels

function renderChannels() {
  const all = [...state.channels.values()].sort((a, b) => a.name.localeCompare(b.name));
  const mine = all.filter((channel) => channel.joined);
  const others = all.filter((channel) => !channel.joined);
  fill($("mine"), mine);
  fill($("others"), others);
  show($("mine-empty"), mine.length === 0);
  show($("others-empty"), others.length === 0);
  const unread = mine.reduce((sum, channel) => sum + channel.unread, 0);
  document.title = unread > 0 ? `(${unread}) steward chat` : "steward chat";
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
    const sign = make("span", "sign", channel.private ? "🔒" : "#");
    sign.setAttribute("aria-hidden", "true");
    button.append(sign, make("span", "label", channel.name));
    if (unread > 0) {
      const badge = make("span", "badge", unread > 99 ? "99+" : String(unread));
      badge.append(make("span", "unseen", " unread"));
      button.append(badge);
    } else if (!channel.joined) {
      const count = make("span", "count", String(channel.members.length));
      count.append(make("span", "unseen", " members"));
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
    if (state.open) state.drafts.set(state.open, $("text").value);
    stopEditing();
    state.open = sid;
    $("text").value = state.drafts.get(sid) ?? "";
    grow();
  }
  history.replaceState(null, "", `#${sid}`);
  $("app").dataset.view = "talk";
  if (!keepsPlace) {
    state.messages.clear();
    state.hasMore = false;
    state.firstNew = null;
  }
  showTalk();
  renderChannels();
  if (takesFocus) {
    // A finger's keyboard would cover half of the screen unasked.
    const isTouch = matchMedia("(pointer: coarse)").matches;
    (!channel.joined ? $("join") : isTouch ? $("talk-title") : $("text")).focus();
  }
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
  if (!keepsPlace && channel.unread > 0) {
    state.firstNew = page.messages.find((message) => message.index > read && message.author !== state.me)?.index ?? null;
  }
  renderMessages();
  restoreLost(channel.sid);
  if (wasAtEnd) scrollToEnd();
  markRead();
}

function closeChannel() {
  state.open = null;
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
  $("talk-title").textContent = channel.name;
  show($("leave"), channel.joined);
  show($("destroy"), channel.mayDelete);
  show($("talk-menu-button"), channel.joined || channel.mayDelete);
}

$("back").addEventListener("click", () => {
  const sid = state.open;
  if (sid) state.drafts.set(sid, $("text").value);
  closeChannel();
  document.querySelector(`.channel[data-sid="${sid}"]`)?.focus();
});

$("join").addEventListener("click", async () => {
  if (await attempt("join", { channel: state.open })) $("text").focus();
});

$("leave").addEventListener("click", async () => {
  closeMenus();
  await attempt("leave", { channel: state.open });
});

$("destroy").addEventListener("click", async () => {
  closeMenus();
  const channel = state.channels.get(state.open);
  const isSure = await ask(`Delete ${channel.name}?`, "The channel and all its messages are gone for everybody.", "Delete");
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
  $("people-button").setAttribute("aria-label", `${count} ${count === 1 ? "member" : "members"}`);
  const sorted = [...channel.members].sort((a, b) => b.online - a.online || a.name.localeCompare(b.name));
  $("people-list").replaceChildren(...sorted.map((member) => {
    const item = make("li", "person");
    item.classList.toggle("online", member.online);
    const avatar = make("span", "avatar");
    avatar.setAttribute("aria-hidden", "true");
    dress(avatar, member.name);
    const label = make("span", "label", member.name === state.me ? `${member.name} (you)` : member.name);
    label.append(make("span", "unseen", member.online ? ", online" : ", offline"));
    item.append(avatar, label);
    if (member.admin) item.append(make("span", "tag", "admin"));
    return item;
  }));
}

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
  if (channel) $("beginning").textContent = sorted.length ? `This is the beginning of ${channel.name}.` : `No messages in ${channel.name} yet. Say hello!`;
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
  item.classList.toggle("first", isFirstOfGroup(message, before));
  const avatar = make("span", "avatar");
  avatar.setAttribute("aria-hidden", "true");
  dress(avatar, message.author);
  const head = make("div", "head");
  head.append(make("span", "author", message.author), time(message.at, "time"));
  const content = make("div", "content");
  // Read out with each line, also where the author is not shown again.
  if (!item.classList.contains("first")) content.append(make("span", "unseen", `${message.author}: `));
  const body = make("span", "body");
  body.append(...linked(message.text));
  content.append(body);
  if (message.edited) content.append(make("span", "edited", "(edited)"));
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
    $("beginning").textContent = `This is the beginning of ${channel.name}.`;
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

async function loadEarlier() {
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
    setTimeout(() => $("messages").setAttribute("aria-live", "polite"), 500);
  } catch (error) {
    if (!(error instanceof Lost)) toast(error.message);
  } finally {
    state.isLoading = false;
  }
}

$("earlier").addEventListener("click", loadEarlier);
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

/** What was under way when the line broke, to be given back if it did not arrive. */
const lostTexts = [];

$("composer").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (!text) return;
  const sid = state.open;
  const editing = state.editing;
  $("text").value = "";
  state.drafts.delete(sid);
  stopEditing();
  grow();
  try {
    if (editing) await line.order("edit", { channel: sid, message: editing.sid, text });
    else await line.order("say", { channel: sid, text });
  } catch (error) {
    if (error instanceof Lost && !editing) lostTexts.push({ sid, text, after: state.channels.get(sid)?.next ?? 0 });
    else giveBack(sid, text);
    toast(error.message);
  }
});

function restoreLost(sid) {
  for (const lost of lostTexts.splice(0)) {
    if (lost.sid !== sid) { lostTexts.push(lost); continue; }
    const arrived = [...state.messages.values()].some((message) =>
      message.index >= lost.after && message.author === state.me && message.text === lost.text);
    if (!arrived) giveBack(sid, lost.text);
  }
}

function giveBack(sid, text) {
  if (sid !== state.open) {
    state.drafts.set(sid, text);
  } else if (!$("text").value) {
    $("text").value = text;
    grow();
  }
}

$("text").addEventListener("input", () => {
  grow();
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
    $("text").value = "";
    stopEditing();
    grow();
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

function edit(message) {
  state.editing = message;
  show($("editing"), true);
  $("text").value = message.text;
  grow();
  $("text").focus();
}

function stopEditing() {
  state.editing = null;
  show($("editing"), false);
}

$("edit-cancel").addEventListener("click", () => {
  $("text").value = "";
  stopEditing();
  grow();
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
    : names.length === 1 ? `${names[0]} is typing…`
    : names.length === 2 ? `${names[0]} and ${names[1]} are typing…`
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
    closeMenus();
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
  if (text !== null) element.textContent = text;
  return element;
}

function dress(avatar, name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 1000;
  avatar.className = `avatar hue-${sum % 10}`;
  avatar.textContent = [...name][0]?.toUpperCase() ?? "?";
}

const clockFormat = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const clock = (at) => clockFormat.format(at);

function day(at) {
  const today = dayFormat.format(Date.now());
  const that = dayFormat.format(at);
  return that === today && Date.now() - at < 86400000 ? "Today" : that;
}

function time(at, className) {
  const element = make("time", className, clock(at));
  element.dateTime = new Date(at).toISOString();
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
