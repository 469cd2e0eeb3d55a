"use strict";

// What the server tells.

const hear = {
  hello(news) {
    line.isOpen = true;
    line.needsSecret = news.secret;
    renderStatus();
    show($("secret-row"), news.secret);
    if (line.wantsIn) enter();
  },

  pong() {},

  trouble({ text }) {
    line.trouble = text;
    unsent.render();
    renderStatus();
  },

  welcome(news) {
    line.tries = 0;
    line.isIn = true;
    line.knocksAs = null;
    show($("door-error"), false);
    const isBack = state.me === news.me;
    state.me = news.me;
    const before = state.channels;
    state.channels = new Map(news.channels.map((channel) => [channel.sid, channel]));
    save("name", news.me);
    if (news.pass) save(`pass.${news.me}`, news.pass);
    $("token").value = "";
    const wasAtDoor = !$("door").hidden || !isBack;
    show($("door"), false);
    show($("app"), true);
    $("me-name").textContent = news.me;
    dress($("me-avatar"), news.me);
    if (!isBack) recallWritten();
    renderChannels();
    const wanted = isBack ? state.open : location.hash.slice(1);
    if (wanted && state.channels.has(wanted)) openChannel(wanted, { keepsPlace: isBack, takesFocus: wasAtDoor });
    else if (state.open) closeChannel();
    if (wasAtDoor) rescueFocus();
    for (const sid of new Set([...unsent.items.map((item) => item.sid), ...state.drafts.keys()])) {
      if (!state.channels.has(sid)) unsent.handBack(sid, before.get(sid)?.name ?? "a channel that is gone");
    }
    unsent.render();
    renderStatus();
    unsent.sendAll();
  },

  channel({ channel }) {
    const known = state.channels.get(channel.sid);
    if (known) Object.assign(known, channel);
    else refresh(channel.sid);
    renderChannels();
    if (channel.sid === state.open) renderTop();
  },

  notice({ channel, text }) {
    if (channel === state.open) toast(text, false);
  },

  gone({ channel }) {
    const name = state.channels.get(channel)?.name ?? "The channel";
    if (channel === state.open) keepDraft();
    state.channels.delete(channel);
    if (channel === state.open) {
      closeChannel();
      toast(`${apart(name)} was deleted.`, false);
    }
    renderChannels();
    rescueFocus();
    unsent.handBack(channel, name);
  },

  async mine(news) {
    const known = state.channels.get(news.channel);
    if (!news.joined) {
      if (!known) return;
      known.joined = false;
      if (news.channel === state.open) keepDraft();
      if (known.private) state.channels.delete(news.channel);
      renderChannels();
      if (news.channel === state.open) {
        if (known.private) closeChannel();
        else showTalk();
        rescueFocus();
      }
      if (known.private) unsent.handBack(news.channel, known.name);
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
    known.members.push({ ...member, online: false });
    renderPeople(channel);
    // Whether they are here is not said with it.
    line.order("look", { channel }).then((answer) => {
      known.members = answer.channel.members;
      renderPeople(channel);
    }).catch(() => {});
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
    unsent.settleAll([message]);
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
    if (state.editing?.message.sid === message.sid) {
      // Its new words are kept, as words of their own.
      const words = [state.editing.before, $("text").value].filter(Boolean).join("\n");
      stopEditing();
      $("text").value = words;
      grow();
      keepDraft();
    }
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
