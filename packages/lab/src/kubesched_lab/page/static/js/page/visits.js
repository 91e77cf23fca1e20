// Back and forward of the browser: each visit is a view and what the panel is about. The address stays as it is: no
// visit, and never the token, is written into it.

export class Visits {
  /** `go(visit)` is called when the browser goes back or forward. */
  constructor(go) {
    this.go = go;
    this.going = false;
    window.addEventListener("popstate", () => this.resume());
  }

  /** Go where the browser's history is; a page that was loaded again was somewhere already. */
  resume() {
    if (!history.state) return;
    this.going = true;
    try {
      this.go(history.state);
    } finally {
      this.going = false;
    }
  }

  /** Remember where the user is: {view, kind, key}. */
  note(visit) {
    if (this.going || JSON.stringify(visit) === JSON.stringify(history.state)) return;
    if (history.state) history.pushState(visit, "");
    else history.replaceState(visit, "");
  }
}
