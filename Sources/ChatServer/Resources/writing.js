"use strict";

// The box in which one writes, and who else is writing.

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = whole($("text").value.trim());
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
