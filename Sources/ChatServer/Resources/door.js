"use strict";

// How a person comes in, and out.

function enter() {
  const name = line.wantsIn;
  if (line.knocksAs !== null) {
    if (line.knocksAs === name) return say($("door-error"), "The server has not answered yet.");
    // A line knocks with one name.
    const socket = line.socket;
    line.lost();
    line.tries = 0;
    line.connect();
    return socket.close();
  }
  line.knocksAs = name;
  const secret = $("secret").value || recall("secret") || "";
  line.order("hello", { name, secret, token: $("token").value.trim(), pass: recall(`pass.${name}`) ?? "" }).catch((error) => {
    if (error instanceof Lost) return;
    line.knocksAs = null;
    if (error.needs === "secret") save("secret", "");
    turnAway(error.message, error.needs);
  });
  line.hello = line.number;
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
  line.wantsIn = whole($("name").value.trim());
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
