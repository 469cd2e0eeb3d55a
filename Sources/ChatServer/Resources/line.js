"use strict";

// What the page knows, and its line to the server.

const state = {
  me: "",
  channels: new Map(),
  open: null,
  /** The messages of the open channel by index, as far as they were loaded. */
  messages: new Map(),
  hasMore: false,
  /** The newest messages of the open channel have come. */
  isLoaded: false,
  isLoading: false,
  /** The first message that was unread when the channel was opened. */
  firstNew: null,
  /** Where the keyboard is, or was last, in the list of channels and in the messages. */
  atChannel: null,
  atMessage: null,
  editing: null,
  /** What stands in the box of each channel: `{ text, edit: { message, text } }`. */
  drafts: new Map(),
  wantsPeople: false,
  typing: new Map(),
};

const line = {
  socket: null,
  number: 0,
  orders: new Map(),
  tries: 0,
  heard: 0,
  timer: 0,
  needsSecret: false,
  wantsIn: null,
  /** The name with which we have knocked, until the server lets it in or not. */
  knocksAs: null,
  /** The number of that order. */
  hello: null,
  /** The server has said hello. */
  isOpen: false,
  /** The server knows who we are and has told us all. */
  isIn: false,
  /** Why the server cannot store anything just now. */
  trouble: null,

  connect() {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/browser`);
    this.socket = socket;
    this.heard = Date.now();
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.heard = Date.now();
      // What one message does wrong must not keep the next ones from being heard.
      try { this.take(JSON.parse(event.data)); } catch (error) { console.error(error); }
    };
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      // A program has shown a token for our name.
      if (event.code === 4001) turnAway(`${event.reason}: choose another one, or come in with a token for it`, "token");
      this.lost();
    };
  },

  take(news) {
    // The answer to a hello has no number: it comes first.
    if (news.on === "welcome") this.orders.delete(this.hello);
    if (news.on === "error" && news.n === undefined) {
      // The server cannot tell which order it could not read.
      for (const order of this.orders.values()) order.reject(new Error(news.text ?? "the server could not read that"));
      this.orders.clear();
      return;
    }
    if (news.on === "done" || news.on === "error") {
      const order = this.orders.get(news.n);
      this.orders.delete(news.n);
      if (news.on === "done") order?.resolve(news);
      else order?.reject(Object.assign(new Error(news.text), { isForNow: news.later === true, needs: news.needs }));
      return;
    }
    hear[news.on]?.(news);
  },

  lost() {
    this.socket = null;
    this.isOpen = false;
    this.isIn = false;
    this.trouble = null;
    this.knocksAs = null;
    for (const order of this.orders.values()) order.reject(new Lost());
    this.orders.clear();
    const wait = Math.min(10000, 400 * 2 ** this.tries) * (0.8 + Math.random() * 0.4);
    this.tries += 1;
    unsent.render();
    renderStatus();
    this.timer = setTimeout(() => this.connect(), wait);
  },

  /** Sends an order; the promise is kept when the server has stored it. */
  order(verb, fields = {}) {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Lost());
    const n = ++this.number;
    this.socket.send(JSON.stringify({ do: verb, n, ...fields }));
    return new Promise((resolve, reject) => this.orders.set(n, { resolve, reject }));
  },

  /** A line that is dead without having said so is noticed by its silence. */
  watch() {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (Date.now() - this.heard > 40000) {
      const socket = this.socket;
      this.lost();
      socket.close();
    } else {
      this.socket.send(JSON.stringify({ do: "ping" }));
    }
  },
};

class Lost extends Error {
  constructor() {
    super("There is no connection just now.");
  }
}

setInterval(() => line.watch(), 15000);
addEventListener("online", () => { if (!line.socket) line.connect(); });

/** One line at the top for what is wrong with the line or the server. */
function renderStatus() {
  const waiting = unsent.items.filter((item) => item.state !== "refused").length;
  let text = "";
  if (!line.isOpen && (line.tries > 1 || state.me !== "")) {
    text = "No connection to the server. Trying again…";
    if (waiting > 0) text += ` ${plural(waiting, "message")} not sent yet.`;
  } else if (line.trouble) {
    text = `${line.trouble[0].toUpperCase()}${line.trouble.slice(1)}`;
  }
  show($("status"), text !== "");
  if ($("status").textContent !== text) $("status").textContent = text;
}

/** Carries out an order and says so when it fails. */
async function attempt(verb, fields) {
  try {
    return await line.order(verb, fields);
  } catch (error) {
    toast(error.message);
    return null;
  }
}
