"use strict";

// The messages of the open channel.

const GROUP_FOR = 5 * 60 * 1000;

function renderMessages() {
  const channel = state.channels.get(state.open);
  const active = document.activeElement;
  const focused = $("messages").contains(active) ? Number(active.closest(".message")?.dataset.index ?? -1) : null;
  const isInside = !active?.classList.contains("message");
  const sorted = [...state.messages.values()].sort((a, b) => a.index - b.index);
  const items = [];
  let before = null;
  for (const message of sorted) {
    items.push(...dividers(message, before), messageItem(message, before));
    before = message;
  }
  $("messages").replaceChildren(...items);
  giveMessageStop();
  show($("earlier"), state.hasMore);
  show($("beginning"), channel && channel.joined && !state.hasMore);
  if (channel) $("beginning").textContent = sorted.length ? `This is the beginning of ${apart(channel.name)}.` : !state.isLoaded ? "Loading…" : `No messages in ${apart(channel.name)} yet. Say hello!`;
  if (focused === null) return;
  // The same message, or the one that has taken its place.
  const near = sorted.find((message) => message.index >= focused) ?? sorted.at(-1);
  const item = $("messages").querySelector(`.message[data-index="${near?.index}"]`);
  ((isInside ? item?.querySelector(".more") : item) ?? $("text")).focus();
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

/** One message that cannot be shown must not take the others with it. */
function messageItem(message, before) {
  try {
    return fullItem(message, before);
  } catch (error) {
    console.error(error);
    const item = make("li", "message first");
    item.dataset.index = message.index;
    const content = make("div", "content");
    content.append(make("span", "quiet", "A message that this page cannot show."));
    item.append(content);
    return item;
  }
}

function fullItem(message, before) {
  const item = make("li", "message");
  item.dataset.index = message.index;
  item.setAttribute("aria-label", `${message.author}, ${clock(message.at)}: ${message.text}`);
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
  const focused = document.activeElement;
  const hadFocus = old.contains(focused);
  old.replaceWith(item);
  giveMessageStop();
  if (hadFocus) (focused === old ? item : item.querySelector(".more") ?? item).focus();
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
    giveMessageStop();
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
  if (!state.hasMore || !state.isLoaded || state.isLoading) return;
  state.isLoading = true;
  const sid = state.open;
  try {
    // Where all were deleted that were loaded, the newest of those that are left.
    const before = state.messages.size > 0 ? Math.min(...state.messages.keys()) : undefined;
    const page = await line.order("page", { channel: sid, before });
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
      (item ?? $("text")).focus();
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
