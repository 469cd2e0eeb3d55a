"use strict";

// The last script: all that the others say is known.

line.wantsIn = recall("name") || null;
$("name").value = line.wantsIn ?? "";
if (line.wantsIn) show($("door"), false);
state.wantsPeople = innerWidth > 1000 && recall("people") !== "no";
$("people-button").setAttribute("aria-expanded", String(state.wantsPeople));
if (!line.wantsIn) $("name").focus();
line.connect();
