"use strict";

// Menus, questions and short notices.

const REACTIONS = ["👍", "❤️", "😂", "🎉", "😮", "😢"];

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
