"use strict";

// Who is in the channel, and who is added to it.

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
  const buttons = [...$("people-list").querySelectorAll("button")];
  giveStop(buttons, buttons.find((button) => button.dataset.name === focused) ?? buttons[0]);
  if (focused === null || focused === undefined) return;
  const again = buttons.find((button) => button.dataset.name === focused);
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
