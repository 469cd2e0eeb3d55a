"use strict";

// Words, names and times as the page shows them. What people write is only ever put into the document as text.

const $ = (id) => document.getElementById(id);

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

/** The text without halves of characters, which a cut can leave and which cannot be sent. */
function whole(text) {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
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
  if (Number.isNaN(that.getTime())) return "";
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
