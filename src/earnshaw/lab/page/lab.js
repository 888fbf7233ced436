// The lab itself: holds the state, the history of the motion and the clock, and connects the worker,
// the stage, the charts and the controls. `start` puts it into an element of any page.

import { drawCurves } from "./charts.js";
import { Controls } from "./controls.js";
import { flowRefusal } from "./flow.js";
import { drawFunctions } from "./functions.js";
import { Engine } from "./engine.js";
import { Random } from "./linear.js";
import { BasinMap } from "./map.js";
import { METHODS } from "./methods.js";
import { SCENES, sceneState } from "./scenes.js";
import { Stage } from "./stage.js";
import { STAGES, emptyState, parsed, rounded, written } from "./state.js";

const LEAD = 0.6; // seconds of play that the worker may be ahead
const KEPT = 4000; // records; then every second of the older half goes
const LOOKS = 120; // milliseconds between two examinations
const REST = 2e-8; // of its top speed: slower is at rest, by the certificate too
const ITERATIONS = 20; // steps of a method for each unit of speed and second

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./flow.js").Record} Record
 * @typedef {import("./stage.js").Picked} Picked
 * @typedef {{entries: {[name: string]: {stages: {[stage: string]: number}, reasons: {[stage: string]: string},
 *   parameters: object, profiles?: {[stage: string]: number[]}, activation: {pieces: import("./pieces.js").PackedPieces} | null}},
 *   tables: import("./potentials.js").PackedTable[]}} Tables
 * @typedef {{title: string, stage: string, dim: number, potential: string, formula: string, words: string, unit: string,
 *   table: import("./potentials.js").PackedTable | null, protons: number[][], charges: number[], times: number[],
 *   positions: number[][][], weights: number[][], energy: number[], bound: number[][] | null, notes: string[] | null,
 *   fit?: {x: string, y: string, dots: [number, number][], curve: [number, number][]}}} Replay
 * @typedef {{tables: Tables, makeWorker: () => Worker, ask: ((what: string, body: object) => Promise<any>) | null,
 *   reason: string, text?: string, replay?: Replay | null, address?: boolean}} Options
 */

export class Lab {
  /** @param {HTMLElement} root @param {Options} options */
  constructor(root, options) {
    this.options = options;
    this.tables = options.tables;
    this.ask = options.ask;
    this.worker = options.makeWorker();
    this.worker.onmessage = (event) => this.hear(event.data);
    /** @type {State} */
    this.state = emptyState();
    /** @type {Record[]} */
    this.history = [];
    /** @type {import("./flow.js").Encounter[]} */
    this.events = [];
    /** @type {State[]} */
    this.undone = [];
    this.clock = 0;
    this.playing = false;
    this.stop = "";
    this.id = 0;
    /** @type {Picked | null} */
    this.selected = null;
    /** @type {import("./verdict.js").Seen | null} */
    this.seen = null;
    this.dirty = false;
    this.looked = 0;
    this.pace = LOOKS;
    this.edited = 0; // when a hand last moved something
    this.examined = "";
    this.charted = 0;
    this.frames = 0;
    this.opened = 0;
    this.replay = options.replay ?? null;
    /** @type {import("./potentials.js").PackedTable | null} of a formula that the server has tabulated */
    this.given = null;
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
        this.controls.complain(
          `${/** @type {Error} */ (error).message} — showing the first scene instead`,
        );
      }
    }
    if (state) {
      const time = state.time;
      this.become(state);
      this.goTo(time);
    } else this.become(sceneState(SCENES[0].id));
  }

  /** @returns {import("./potentials.js").PackedTable} */
  get table() {
    if (this.replay) return this.replay.table ?? this.tables.tables[0]; // without a table nothing of it is shown
    const { potential, stage } = this.state;
    if (potential === "formula" && this.given) return this.given;
    return this.tables.tables[this.tables.entries[potential].stages[stage]];
  }

  /** Take a new start. @param {State} state @param {{fit?: boolean, keep?: boolean}} [how] */
  become(state, { fit = true, keep = false } = {}) {
    if (keep) {
      this.undone.push(this.state);
      if (this.undone.length > 100) this.undone.shift();
    }
    const changed =
      state.stage !== this.state.stage ||
      state.potential !== this.state.potential ||
      this.stage.table !== this.table;
    this.state = { ...state, time: 0 };
    if (
      this.selected &&
      this.selected.index >=
        (this.selected.what === "electron" ? state.electrons : state.protons).length
    )
      this.selected = null;
    if (changed || this.stage.table !== this.table)
      this.stage.become(state.stage, state.dim, this.table);
    this.begin();
    if (fit) this.stage.fit(this.picture());
    this.stage.show.lines = state.lines;
    this.controls.update();
    this.note();
  }

  /** Start the worker on the present start. */
  begin() {
    const { state } = this;
    const x = Float64Array.from(state.electrons.flat());
    const c = Float64Array.from(state.weights);
    this.id += 1;
    this.clock = 0;
    this.stop = "";
    this.events = [];
    this.seen = null;
    this.examined = "";
    this.history = [{ time: 0, x, c, energy: NaN, bound: new Int32Array(c.length).fill(-1) }];
    const refusal =
      state.method === "flow" ? flowRefusal(new Engine(this.table, state.dim, [], [])) : "";
    if (refusal) this.state.method = "gd";
    this.refusal = refusal;
    this.worker.postMessage({
      do: "begin",
      id: this.id,
      table: this.table,
      dim: state.dim,
      protons: Float64Array.from(state.protons.flat()),
      charges: Float64Array.from(state.charges),
      x,
      c,
      plan: this.plan(),
    });
    this.map.forget();
  }

  plan() {
    const { method, wrt, step, noise, seed, frozen, fixed } = this.state;
    return { method, wrt, step, noise, seed, rest: REST, frozen: [...frozen], fixed: [...fixed] };
  }

  /** @param {any} message */
  hear(message) {
    if (message.id !== this.id) return;
    if (message.say === "begun") {
      this.history[0].energy = message.energy;
      this.history[0].bound = message.bound;
      this.charted = 0;
    } else if (message.say === "records") {
      for (const record of message.records) this.history.push(record);
      this.events.push(...message.events);
      if (message.stop) this.stop = message.stop;
      if (this.history.length > KEPT) {
        const half = this.history.length >> 1;
        this.history = this.history.filter((_, n) => n === 0 || n > half || n % 2 === 0);
      }
    } else if (message.say === "seen") {
      this.seen = message.seen;
      this.pace = Math.max(LOOKS, 5 * message.took);
      this.controls.showSeen(message.seen);
      const stopping =
        this.state.stopWhen === "rest"
          ? message.seen.kind !== "not-critical"
          : this.state.stopWhen === "minimum" && /minimum/.test(message.seen.kind);
      if (this.playing && stopping) this.pause();
    } else if (message.say === "basins") this.map.hear(message);
    else if (message.say === "trouble") this.controls.complain(message.words);
  }

  /** How much time a second of play is. */
  get rate() {
    if (this.replay) return this.replayRate ?? 1;
    return this.state.speed * (this.state.method === "flow" ? 1 : ITERATIONS);
  }

  get last() {
    return this.history[this.history.length - 1];
  }

  /** The state at the time of the clock, between two records. @returns {Record} */
  now() {
    const { history, clock } = this;
    let low = 0;
    let high = history.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (history[middle].time <= clock) low = middle;
      else high = middle - 1;
    }
    const [a, b] = [history[low], history[Math.min(low + 1, history.length - 1)]];
    const part = b.time > a.time ? Math.min(1, (clock - a.time) / (b.time - a.time)) : 0;
    if (part === 0 || (!this.replay && this.state.method !== "flow") || a.x.length !== b.x.length)
      return a;
    const mix = (/** @type {Float64Array} */ from, /** @type {Float64Array} */ to) =>
      from.map((value, n) => value + part * (to[n] - value));
    const x = mix(a.x, b.x);
    if (this.state.stage === "circle" || this.state.stage === "sphere") {
      const d = this.state.dim;
      for (let i = 0; i < x.length; i += d) {
        const length = Math.hypot(...x.subarray(i, i + d)) || 1;
        for (let n = 0; n < d; n++) x[i + n] /= length;
      }
    }
    return {
      time: clock,
      x,
      c: mix(a.c, b.c),
      energy: a.energy + part * (b.energy - a.energy),
      bound: a.bound,
    };
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

  /** One frame. @param {number} time */
  tick(time) {
    const passed = Math.min(0.1, (time - (this.before ?? time)) / 1000);
    this.before = time;
    this.frames++;
    this.opened ||= performance.now(); // when the first picture was drawn
    if (this.dirty) {
      this.dirty = false;
      this.begin();
    }
    if (this.playing) {
      this.clock += passed * this.rate;
      if (!this.replay)
        this.worker.postMessage({ do: "until", time: this.clock + LEAD * this.rate });
      const { last } = this;
      if (this.clock >= last.time) {
        this.clock = last.time;
        if (this.stop || this.replay) this.pause();
      }
    }
    if (this.target !== undefined) {
      if (this.last.time >= this.target || this.stop) {
        this.clock = Math.min(this.target, this.last.time);
        this.target = undefined;
      } else this.worker.postMessage({ do: "until", time: this.target });
    }
    this.stage.rough = this.playing || this.dirty || time - this.edited < 300;
    this.stage.draw(this.picture());
    this.look(time);
    this.controls.showTime();
    if (time - this.charted > 150) {
      this.charted = time;
      this.chart();
    }
    this.map.turn();
  }

  /** Ask the worker for the numbers of what is shown. @param {number} time */
  look(time) {
    if (time - this.looked < this.pace || this.replay?.table === null) return;
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
    const key = `${this.id} ${now.time} ${this.state.wrt}`;
    if (key === this.examined) return;
    this.examined = key;
    this.looked = time;
    this.worker.postMessage({
      do: "examine",
      id: this.id,
      time: now.time,
      x: now.x,
      c: now.c,
      plan: this.plan(),
    });
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

  play() {
    if (this.clock >= this.last.time && (this.stop || this.replay)) this.clock = 0;
    this.playing = true;
    this.controls.update();
  }

  pause() {
    this.playing = false;
    this.controls.update();
    this.note();
  }

  /** Go to a time, computing what is missing. @param {number} time */
  goTo(time) {
    if (time <= this.last.time || this.replay) this.clock = Math.min(time, this.last.time);
    else this.target = time;
    this.note();
  }

  rewind() {
    this.playing = false;
    this.clock = 0;
    this.target = undefined;
    this.controls.update();
    this.note();
  }

  /** One record further. */
  stepOnce() {
    this.playing = false;
    const next = this.history.find((record) => record.time > this.clock);
    if (next) this.clock = next.time;
    else if (!this.stop && !this.replay)
      this.target = this.clock + (this.state.method === "flow" ? 1e-9 : 1);
    this.controls.update();
    this.note();
  }

  /** What is shown becomes the start, with a change. @param {(state: State) => void} change
   * @param {{fit?: boolean, keep?: boolean, quick?: boolean}} [how] */
  edit(change, { fit = false, keep = true, quick = false } = {}) {
    if (this.replay) {
      this.controls.complain("this is a replay: “continue from here” makes it a start of your own");
      return;
    }
    const now = this.now();
    const d = this.state.dim;
    const state = structuredClone(this.state);
    if (this.clock > 0) {
      state.electrons = Array.from({ length: now.c.length }, (_, i) => [
        ...now.x.subarray(i * d, (i + 1) * d),
      ]);
      state.weights = [...now.c];
    }
    change(state);
    if (quick) {
      this.edited = performance.now();
      if (keep) this.undone.push(this.state);
      this.state = state;
      this.state.time = 0;
      this.playing = false;
      this.dirty = true;
      this.history = [
        {
          time: 0,
          x: Float64Array.from(state.electrons.flat()),
          c: Float64Array.from(state.weights),
          energy: NaN,
          bound: new Int32Array(state.weights.length).fill(-1),
        },
      ];
      this.clock = 0;
      this.controls.update();
      this.note();
    } else this.become(state, { fit, keep });
  }

  undo() {
    const before = this.undone.pop();
    if (before) this.become(before, { fit: false });
  }

  /** New random electrons from the seed. @param {number} seed */
  redraw(seed) {
    this.edit(
      (state) => {
        state.seed = seed;
        state.electrons = drawn(state.stage, state.electrons.length || state.protons.length, seed);
        if (state.weights.length !== state.electrons.length) {
          state.weights = state.electrons.map(() => 1);
          state.frozen = state.electrons.map(() => false);
          state.fixed = state.electrons.map(() => false);
        }
      },
      { fit: false },
    );
  }

  /** @param {Picked} who @param {ArrayLike<number>} place @param {boolean} keep for undo */
  moveCharge({ what, index }, place, keep) {
    this.edit(
      (state) => {
        let to = Array.from(place, rounded);
        if (state.stage === "circle" || state.stage === "sphere") {
          const length = Math.hypot(...Array.from(place)) || 1;
          to = Array.from(place, (value) => value / length);
        }
        (what === "electron" ? state.electrons : state.protons)[index] = to;
      },
      { quick: true, keep },
    );
  }

  /** @param {Picked} who @param {number} by */
  charge({ what, index }, by) {
    this.edit(
      (state) => {
        const weights = what === "electron" ? state.weights : state.charges;
        weights[index] = Math.max(-10, Math.min(10, Math.round((weights[index] + by) * 100) / 100));
      },
      { quick: true },
    );
  }

  /** @param {"electron" | "proton"} what @param {number[] | null} [place] */
  add(what, place = null) {
    const places = what === "electron" ? this.state.electrons : this.state.protons;
    if (places.length >= 64) {
      this.controls.complain("there are 64 of them already, which is as many as the lab moves");
      return;
    }
    this.edit(
      (state) => {
        const [spots, weights] =
          what === "electron" ? [state.electrons, state.weights] : [state.protons, state.charges];
        const flat = state.stage === "plane" || state.stage === "line" || state.stage === "space";
        spots.push(
          place
            ? place.map(flat ? rounded : Number)
            : drawn(state.stage, 1, state.seed + spots.length + 17)[0],
        );
        weights.push(1);
        if (what === "electron") {
          state.frozen.push(false);
          state.fixed.push(false);
        }
      },
      { fit: false },
    );
    this.selected = { what, index: places.length };
    this.controls.update();
  }

  remove() {
    const who = this.selected;
    if (!who) return;
    if (who.what === "proton" && this.state.protons.length === 1) {
      this.controls.complain("one proton must stay");
      return;
    }
    this.selected = null;
    this.edit(
      (state) => {
        for (const list of who.what === "electron"
          ? [state.electrons, state.weights, state.frozen, state.fixed]
          : [state.protons, state.charges])
          list.splice(who.index, 1);
      },
      { fit: false },
    );
  }

  /** Another stage or potential; charges keep their number. @param {Partial<State>} change */
  change(change) {
    const state = structuredClone(this.state);
    const before = state.stage;
    Object.assign(state, change);
    if (state.stage !== before) {
      state.dim = STAGES[state.stage];
      const at = (/** @type {number} */ count, /** @type {number} */ seed) =>
        drawn(state.stage, count, seed);
      state.protons = at(state.protons.length, state.seed + 1000);
      state.electrons = at(state.electrons.length, state.seed);
    }
    if (state.potential !== "formula") {
      state.formula = "";
      this.given = null;
      this.givenActivation = undefined;
      if (this.tables.entries[state.potential]?.stages[state.stage] === undefined)
        state.potential =
          Object.keys(this.tables.entries).find(
            (name) => this.tables.entries[name].stages[state.stage] !== undefined,
          ) ?? "gaussian";
    }
    state.scene = "";
    this.become(state, { keep: true, fit: state.stage !== before });
  }

  /** @param {string} formula @param {string} stage @param {State | null} [then] a state to show with it */
  async askFormula(formula, stage, then = null) {
    if (!this.ask) {
      this.controls.complain(`a formula needs Python: ${this.options.reason}`);
      return;
    }
    try {
      const found = await this.ask("formula", { formula, stage });
      this.given = found.table;
      this.givenActivation = found.activation;
      if (then) this.become(then);
      else this.change({ potential: "formula", formula });
    } catch (error) {
      this.controls.complain(/** @type {Error} */ (error).message);
    }
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

  /** @param {Replay} replay */
  openReplay(replay) {
    this.replay = replay;
    const state = emptyState();
    Object.assign(state, {
      stage: replay.stage,
      dim: replay.dim,
      potential: replay.potential,
      protons: replay.protons,
      charges: replay.charges,
    });
    state.electrons = replay.positions[0];
    state.weights = replay.weights[0];
    state.frozen = state.weights.map(() => false);
    state.fixed = state.weights.map(() => false);
    this.state = state;
    this.stage.become(state.stage, state.dim, this.table);
    this.stage.show.field = replay.table !== null;
    this.begin();
    this.history = replay.times.map((time, n) => ({
      time,
      x: Float64Array.from(replay.positions[n].flat()),
      c: Float64Array.from(replay.weights[n]),
      energy: replay.energy[n],
      bound: Int32Array.from(replay.bound?.[n] ?? replay.weights[n].map(() => -1)),
    }));
    this.replayRate = Math.max(this.last.time, 1e-9) / 12;
    this.stage.fit({
      ...this.picture(),
      x: Float64Array.from(this.history.flatMap((record) => [...record.x])),
    });
    this.controls.update();
  }

  /** Leave the replay: what is shown becomes a start. */
  continueHere() {
    const now = this.now();
    const d = this.state.dim;
    const { replay } = this;
    if (!replay?.table) return;
    const state = structuredClone(this.state);
    state.electrons = Array.from({ length: now.c.length }, (_, i) => [
      ...now.x.subarray(i * d, (i + 1) * d),
    ]);
    state.weights = [...now.c];
    state.frozen = state.weights.map(() => false);
    state.fixed = state.weights.map(() => false);
    const known = this.tables.entries[state.potential]?.stages[state.stage] !== undefined;
    if (!known) {
      this.given = replay.table;
      state.potential = "formula";
      state.formula = replay.formula;
    }
    this.replay = null;
    if (!state.electrons.length && state.dim === STAGES[state.stage]) {
      state.electrons = drawn(state.stage, state.protons.length, state.seed);
      state.weights = state.electrons.map(() => 1);
      state.frozen = state.electrons.map(() => false);
      state.fixed = [...state.frozen];
    }
    this.become(state, { fit: replay.unit === "start" });
  }
}

/** Random places on a stage. @param {keyof typeof STAGES} stage @param {number} count @param {number} seed */
export function drawn(stage, count, seed) {
  const random = new Random(seed);
  const d = STAGES[stage];
  return Array.from({ length: count }, () => {
    const place = Array.from({ length: d }, () => 1.3 * random.normal());
    if (stage !== "circle" && stage !== "sphere") return place.map(rounded);
    const length = Math.hypot(...place) || 1;
    return place.map((value) => value / length);
  });
}
