"use strict";

// Lists by the keyboard: the Tab key stops once in each, the arrows lead on from there.

/** One stop of the Tab key for a whole list, from where its keys lead on. */
function giveStop(items, chosen) {
  for (const item of items) item.tabIndex = item === chosen ? 0 : -1;
}

/** Where a key leads in a list; nothing for a key that leads nowhere. */
function stepTo(items, key) {
  const place = items.indexOf(document.activeElement);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: items.length - 1 }[key];
  return items[Math.min(Math.max(next, 0), items.length - 1)];
}

function withKeys(event) {
  return !event.ctrlKey && !event.altKey && !event.metaKey && !event.isComposing;
}

/** The channel where the Tab key stops: where one was last, else the open one. */
function giveChannelStop() {
  const buttons = [...document.querySelectorAll(".channels .channel")];
  const at = (sid) => buttons.find((button) => button.dataset.sid === sid);
  giveStop(buttons, at(state.atChannel) ?? at(state.open) ?? buttons[0]);
}

$("lists").addEventListener("focusin", (event) => {
  const button = event.target.closest(".channel");
  if (!button) return;
  state.atChannel = button.dataset.sid;
  giveChannelStop();
});
$("lists").addEventListener("focusout", (event) => {
  // Back to the open one; a list that is drawn anew takes no focus away.
  if (!event.relatedTarget || $("lists").contains(event.relatedTarget)) return;
  state.atChannel = null;
  giveChannelStop();
});

$("lists").addEventListener("keydown", (event) => {
  if (!withKeys(event)) return;
  const buttons = [...document.querySelectorAll(".channels .channel")];
  // A space opens, unless it stands within a name that is being typed.
  const isTyped = event.key.length === 1 && (event.key !== " " || Date.now() - (called.at ?? 0) < 1000);
  const next = stepTo(buttons, event.key) ?? (isTyped ? called(buttons, event.key) : null);
  if (!next) return;
  event.preventDefault();
  next.focus();
});

/** The next channel whose name begins with what was typed within a second. */
function called(buttons, letter) {
  const now = Date.now();
  called.typed = now - (called.at ?? 0) < 1000 ? called.typed + letter.toLowerCase() : letter.toLowerCase();
  called.at = now;
  const place = Math.max(0, buttons.indexOf(document.activeElement));
  const start = called.typed.length === 1 ? place + 1 : place;
  return [...buttons.slice(start), ...buttons.slice(0, start)].find((button) =>
    button.querySelector(".label").textContent.toLowerCase().startsWith(called.typed));
}

$("people-list").addEventListener("keydown", (event) => {
  const buttons = [...$("people-list").querySelectorAll("button")];
  const next = withKeys(event) ? stepTo(buttons, event.key) : null;
  if (!next) return;
  event.preventDefault();
  giveStop(buttons, next);
  next.focus();
});

/** The message where the Tab key stops: where one was last, else the newest. Its links and buttons are reached by arrows. */
function giveMessageStop() {
  const items = [...$("messages").querySelectorAll(".message")];
  const at = items.find((item) => Number(item.dataset.index) === state.atMessage);
  giveStop(items, at ?? items.at(-1));
  for (const inner of $("messages").querySelectorAll("a, button")) inner.tabIndex = -1;
}

$("messages").addEventListener("focusin", (event) => {
  const item = event.target.closest(".message");
  if (!item) return;
  state.atMessage = Number(item.dataset.index);
  giveMessageStop();
});

$("messages").addEventListener("keydown", (event) => {
  const item = event.target.closest(".message");
  if (!item || !withKeys(event)) return;
  const items = [...$("messages").querySelectorAll(".message")];
  const parts = [item, ...item.querySelectorAll("a, button")];
  const steps = { ArrowRight: 1, ArrowLeft: -1 };
  let next = null;
  if (event.key in steps) {
    next = parts[(parts.indexOf(document.activeElement) + steps[event.key] + parts.length) % parts.length];
  } else if (event.key === "Enter" && event.target === item) {
    event.preventDefault();
    return item.querySelector(".more")?.click();
  } else if (event.key === "Escape") {
    next = $("text");
  } else {
    if (event.target !== item) item.focus();
    next = stepTo(items, event.key);
  }
  if (!next) return;
  event.preventDefault();
  next.focus();
});
