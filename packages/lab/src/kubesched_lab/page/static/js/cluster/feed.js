// The page's server: requests with the token, and the stream of changes, which restarts when it breaks.

const QUIET = 30_000; // milliseconds without a heartbeat after which the connection counts as lost
const LONGEST_WAIT = 10_000;
const TOKEN = /^#token=(.+)$/;

/** The token of the address, which it is taken out of; kept for this tab. */
export function takeToken() {
  const found = TOKEN.exec(location.hash);
  if (found) {
    sessionStorage.setItem("token", decoded(found[1]));
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem("token") || "";
}

/** If the address is opened in a tab that has the page already, only its fragment with the token changes. */
window.addEventListener("hashchange", () => TOKEN.test(location.hash) && location.reload());

/** A part of an address as text; a malformed link must not keep the page from starting. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A refused request; `status` is the HTTP status. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Events of a text/event-stream: feed(text) gives those that are complete. An event of many pieces is joined once. */
export class EventText {
  constructor() {
    this.parts = [];
    this.end = ""; // the last characters, which may begin an empty line
  }

  feed(text) {
    this.parts.push(text);
    const seen = this.end + text;
    this.end = seen.slice(-3);
    if (!/\n\r?\n/.test(seen)) return [];
    const blocks = this.parts.join("").split(/\r?\n\r?\n/);
    this.parts = [blocks.pop()];
    this.end = this.parts[0].slice(-3);
    return blocks.map(eventOf).filter((event) => event.data !== "");
  }
}

function eventOf(block) {
  const event = { event: "message", id: "", data: "" };
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
    if (field === "data") data.push(value);
    else if (field === "event" || field === "id") event[field] = value;
  }
  event.data = data.join("\n");
  return event;
}

export class Server {
  constructor(token) {
    this.token = token;
  }

  async open(path, signal, asked = {}) {
    const headers = { Authorization: `Bearer ${this.token}`, ...asked.headers };
    const answer = await fetch(path, { ...asked, headers, cache: "no-store", signal });
    if (answer.ok) return answer;
    const text = await answer.text();
    let sentence = `The page's server answered with ${answer.status}.`;
    try {
      sentence = JSON.parse(text).error || sentence;
    } catch {
      // not JSON: the status says enough
    }
    throw new Refused(answer.status, sentence);
  }

  async get(path, signal) {
    return (await this.open(path, signal)).json();
  }

  async post(path, value, signal) {
    const headers = { "Content-Type": "application/json" };
    return (await this.open(path, signal, { method: "POST", headers, body: JSON.stringify(value) })).json();
  }

  async delete(path, signal) {
    return (await this.open(path, signal, { method: "DELETE" })).json();
  }

  /** All but remedies, which take longest to find. */
  pod(namespace, name, signal) {
    return this.get(`/v1/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}?remedies=no`, signal);
  }

  remedies(namespace, name, signal) {
    return this.get(`/v1/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/remedies`, signal);
  }

  node(name, signal) {
    return this.get(`/v1/nodes/${encodeURIComponent(name)}`, signal);
  }
}

/**
 * Follows the cluster for ever: on.cluster(data, broken) at the start, after a break and when another cluster is shown,
 * on.changes(data), on.source(data), on.scheduler(data), on.clock(data), on.gone(sentence) when the server does not answer. Gives up when the token is refused.
 */
export async function follow(server, on) {
  let wait = 500;
  let broken = false;
  for (;;) {
    try {
      const data = await server.get("/v1/cluster");
      on.cluster(data, broken);
      wait = 500;
      broken = false;
      await stream(server, data.seq, on);
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return on.refused();
      broken = true;
      on.gone(error instanceof Refused ? error.message : "The connection to the page's server is lost. Trying again.");
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(LONGEST_WAIT, 2 * wait);
    }
  }
}

/** Reads changes until the server asks to read all again; a stream that ends or falls silent is an error. */
async function stream(server, since, on) {
  const stop = new AbortController();
  let timer = 0;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), QUIET);
  };
  heard();
  try {
    const answer = await server.open(`/v1/changes?since=${since}`, stop.signal);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const text = new EventText();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the stream has ended");
      heard();
      for (const { event, data } of text.feed(value)) {
        if (event === "reset") return;
        if (event === "changes") on.changes(JSON.parse(data));
        if (event === "source") on.source(JSON.parse(data));
        if (event === "scheduler") on.scheduler(JSON.parse(data));
        if (event === "clock") on.clock(JSON.parse(data));
      }
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
