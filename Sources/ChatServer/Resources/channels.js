"use strict";

// The list of channels, and the one that is open.

function renderChannels() {
  const all = [...state.channels.values()].sort((a, b) => order(a.name, b.name) || a.created - b.created);
  markNamesakes(all);
  const mine = all.filter((channel) => channel.joined);
  const others = all.filter((channel) => !channel.joined);
  fill($("mine"), mine);
  fill($("others"), others);
  giveChannelStop();
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
  const plain = (channel) => channel.name.normalize("NFKC").replace(/\p{Cf}/gu, "").toLowerCase().trim();
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
    state.atMessage = null;
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
  const first = page.messages[0]?.index ?? 0;
  const oldest = Math.min(...state.messages.keys());
  // After a gap that one page does not cover, what was loaded before it would hide the hole.
  const isWhole = keepsPlace && first <= newest + 1;
  if (!isWhole) {
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
  if (isWhole && oldest < first) await refreshEarlier(channel.sid, first, oldest);
}

/** What was loaded before may have been edited or deleted while the line was lost. */
async function refreshEarlier(sid, first, oldest) {
  try {
    while (first > oldest) {
      const page = await line.order("page", { channel: sid, before: first });
      if (state.open !== sid) return;
      const next = page.messages[0]?.index ?? -1;
      for (const index of [...state.messages.keys()]) if (index >= next && index < first) state.messages.delete(index);
      for (const message of page.messages) state.messages.set(message.index, message);
      first = next;
      if (first <= oldest) state.hasMore = page.more;
    }
  } catch (error) {
    if (!(error instanceof Lost)) toast(error.message);
    return;
  }
  const box = $("scroll");
  const fromEnd = box.scrollHeight - box.scrollTop;
  renderMessages();
  box.scrollTop = box.scrollHeight - fromEnd;
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
  (document.querySelector('.channels .channel[tabindex="0"]') ?? $("create")).focus();
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
