// The lab itself: what moves (motion.js) and is changed (editing.js), with the stage, the charts and the
// controls around it, in an element of any page.

import { drawCurves } from "./charts.js";
import { Controls } from "./controls.js";
import { Editing } from "./editing.js";
import { drawFunctions } from "./functions.js";
import { BasinMap } from "./map.js";
import { METHODS } from "./methods.js";
import { continueHere, openReplay } from "./replays.js";
import { SCENES, sceneState } from "./scenes.js";
import { Stage } from "./stage.js";
import { parsed, written } from "./state.js";
import { showTime } from "./toolbar.js";
import { showSeen } from "./verdicts.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./motion.js").Options} Options
 */

export class Lab extends Editing {
  /** @param {HTMLElement} root @param {Options} options */
  constructor(root, options) {
    super(options);
    this.ask = options.ask;
    /** @type {number | undefined} when the last frame was drawn */
    this.before = undefined;
    this.charted = 0;
    this.frames = 0;
    this.opened = 0;
    this.controls = new Controls(root, this);
    this.stage = new Stage(this.controls.canvas);
    this.functionsKey = "";
    this.map = new BasinMap(this);
    this.watchTheme();
    this.open(options.text ?? "");
    this.ended = false;
    const turn = (/** @type {number} */ now) => {
      if (this.ended) return;
      this.tick(now);
      requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  }

  end() {
    this.ended = true;
    this.worker.terminate();
  }

  watchTheme() {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      this.dark = this.theme ? this.theme === "dark" : media.matches;
      this.controls.root.dataset.theme = this.dark ? "dark" : "light";
      this.stage.dark = this.dark;
      this.stage.key = "";
      this.charted = 0;
      this.functionsKey = "";
    };
    media.addEventListener("change", apply);
    this.setTheme = (/** @type {string} */ theme) => {
      this.theme = theme;
      apply();
    };
    apply();
  }

  /** Begin with a state from the address, or with the first scene. @param {string} text */
  open(text) {
    if (this.replay) {
      this.openReplay(this.replay);
      if (this.replay.unit === "start") this.continueHere();
      return;
    }
    let state = null;
    if (text && text !== "#") {
      try {
        state = parsed(
          text,
          (potential, stage) => this.tables.entries[potential]?.stages[stage] !== undefined,
          Object.keys(METHODS),
        );
        if (state.potential === "formula") {
          const formula = state.formula;
          this.become(sceneState("five"));
          this.askFormula(formula, state.stage, state);
          return;
        }
      } catch (error) {
        this.complain(`${/** @type {Error} */ (error).message} — showing the first scene instead`);
      }
    }
    if (state) {
      const time = state.time;
      this.become(state);
      this.goTo(time);
    } else this.become(sceneState(SCENES[0].id));
  }

  /** Take a new start. @override @param {State} state @param {{fit?: boolean, keep?: boolean}} [how] */
  become(state, { fit = true, keep = false } = {}) {
    super.become(state, { keep });
    if (this.stage.kind !== state.stage || this.stage.table !== this.table)
      this.stage.become(state.stage, state.dim, this.table);
    this.map.forget();
    this.charted = 0;
    if (fit) this.stage.fit(this.picture());
    this.stage.show.lines = state.lines;
    this.controls.update();
    this.note();
  }

  /** @returns {import("./stage.js").Picture} */
  picture() {
    const now = this.now();
    const { state } = this;
    const ways =
      this.stage.show.trails && this.replay?.unit !== "point"
        ? this.history.filter((record) => record.time <= this.clock)
        : [];
    if (ways.length) ways.push(now);
    const resting =
      this.seen && this.seen.kind !== "not-critical" && this.seen.eigenvalue < 0 && !this.playing;
    return {
      dim: state.dim,
      x: now.x,
      c: now.c,
      bound: now.bound,
      protons: Float64Array.from(state.protons.flat()),
      charges: Float64Array.from(state.charges),
      ways,
      direction: resting ? (this.seen?.direction?.positions ?? null) : null,
      selected: this.selected,
      frozen: state.frozen,
    };
  }

  /** @override */
  changed() {
    this.controls.update();
    this.note();
  }

  /** @override @param {import("./verdict.js").Seen} seen */
  numbers(seen) {
    this.seen = seen;
    showSeen(this.controls, seen);
  }

  /** @override @param {any} message */
  other(message) {
    if (message.say === "basins") this.map.hear(message);
    else if (message.say === "trouble") this.complain(message.words);
  }

  /** @override @param {string} words */
  complain(words) {
    this.controls.complain(words);
  }

  /** One frame. @param {number} time */
  tick(time) {
    const passed = Math.min(0.1, (time - (this.before ?? time)) / 1000);
    this.before = time;
    this.frames++;
    this.opened ||= performance.now(); // when the first picture was drawn
    if (this.settle()) this.map.forget();
    this.advance(passed);
    this.stage.rough = this.playing || time - this.edited < 300;
    this.stage.draw(this.picture());
    this.look(time);
    showTime(this.controls);
    if (time - this.charted > 150) {
      this.charted = time;
      this.chart();
    }
    this.map.turn();
  }

  chart() {
    const points = /** @type {[number, number][]} */ (
      this.history.map((record) => [record.time, record.energy])
    );
    const known = points.map(([, y]) => y).filter((y) => !Number.isNaN(y));
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const what = this.replay?.unit ?? (this.state.method === "flow" ? "time" : "step");
    drawCurves(this.controls.energy, [{ points, colour: "field" }], {
      dark: this.dark ?? false,
      x: what,
      y: this.table?.unbounded ? "energy (without constants)" : "loss E[(f − g)²]",
      logarithmic: low > -1e-9 * high && high > 50 * low,
      mark: this.clock,
    });
    const fit = this.replay?.fit;
    this.controls.fitCard.hidden = !fit;
    if (fit)
      drawCurves(
        this.controls.fitChart,
        [
          { points: fit.dots, colour: "proton", name: "rows", dots: true },
          { points: fit.curve, colour: "electron", name: "fit" },
        ],
        { dark: this.dark ?? false, x: fit.x, y: fit.y },
      );
    const now = this.now();
    const key = `${this.id} ${now.time} ${this.dark}`;
    if (key !== this.functionsKey && this.controls.functionsOpen && this.replay?.table !== null) {
      this.functionsKey = key;
      const entry = this.tables.entries[this.state.potential];
      drawFunctions(this.controls, {
        table: this.table,
        activation: this.givenActivation ?? entry?.activation ?? null,
        profile: entry?.profiles?.[this.state.stage] ?? null,
        state: this.state,
        x: now.x,
        c: now.c,
        dark: this.dark ?? false,
      });
    }
  }

  /** @param {string} formula @param {string} stage @param {State | null} [then] a state to show with it */
  async askFormula(formula, stage, then = null) {
    if (!this.ask) {
      this.complain(`a formula needs Python: ${this.options.reason}`);
      return;
    }
    this.controls.say("asking Python for the table of the formula …");
    let words = "";
    try {
      const found = await this.ask("formula", { formula, stage });
      words = found.words; // of a potential: which activation has it, or why none
      this.given = found.table;
      this.givenActivation = found.activation;
      if (then) this.become(then);
      else this.change({ potential: "formula", formula });
    } catch (error) {
      this.complain(/** @type {Error} */ (error).message);
    }
    this.controls.say(words);
  }

  /** What a question to Python is about. */
  question() {
    const { stage, potential, formula, protons, charges, wrt } = this.state;
    return { stage, potential, formula, protons, charges, wrt, unbounded: this.table.unbounded };
  }

  /** The state as text for the address. */
  text() {
    return written({ ...this.state, time: this.clock });
  }

  /** Keep the address in step. */
  note() {
    if (this.options.address === false || this.replay) return;
    try {
      history.replaceState(null, "", `#${this.text()}`);
    } catch {
      // a page that may not touch its address
    }
  }

  /** @param {import("./motion.js").Replay} replay */
  openReplay(replay) {
    openReplay(this, replay);
  }

  /** Leave the replay: what is shown becomes a start. */
  continueHere() {
    continueHere(this);
  }
}
