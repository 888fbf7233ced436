// Time: the worker that computes the motion, the history of it, and the clock that goes through it.

import { Engine } from "./engine.js";
import { flowRefusal } from "./flow.js";
import { emptyState } from "./state.js";

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

export class Motion {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.tables = options.tables;
    this.worker = options.makeWorker();
    this.worker.onmessage = (event) => this.hear(event.data);
    /** @type {State} */
    this.state = emptyState();
    /** @type {Record[]} */
    this.history = [];
    /** @type {import("./flow.js").Encounter[]} */
    this.events = [];
    this.clock = 0;
    this.playing = false;
    this.stop = "";
    this.refusal = ""; // why there is no flow
    this.id = 0; // of the run; what the worker says of others is not heard
    this.stepping = false; // whether the target is the next record
    /** @type {number | undefined} a time to go to, when it has been computed */
    this.target = undefined;
    /** @type {import("./verdict.js").Seen | null} */
    this.seen = null;
    this.looked = 0;
    this.pace = LOOKS;
    this.examined = ""; // what has been looked at
    this.replay = options.replay ?? null;
    this.replayRate = 1; // how much of its time a second of play is
    /** @type {import("./potentials.js").PackedTable | null} of a formula that Python has tabulated */
    this.given = null;
  }

  /** @returns {import("./potentials.js").PackedTable} */
  get table() {
    if (this.replay) return this.replay.table ?? this.tables.tables[0]; // without a table nothing of it is shown
    const { potential, stage } = this.state;
    if (potential === "formula" && this.given) return this.given;
    return this.tables.tables[this.tables.entries[potential].stages[stage]];
  }

  /** Something has changed that the page shows; the lab says how. */
  changed() {}

  /** The numbers of a state have come. @param {import("./verdict.js").Seen} seen */
  numbers(seen) {
    this.seen = seen;
  }

  /** The worker says something else. @param {any} message */
  other(message) {
    void message;
  }

  /** The history is that of the start alone. */
  startAgain() {
    const { electrons, weights } = this.state;
    const start = {
      time: 0,
      x: Float64Array.from(electrons.flat()),
      c: Float64Array.from(weights),
      energy: NaN,
      bound: new Int32Array(weights.length).fill(-1),
    };
    this.history = [start];
    this.clock = 0;
    return start;
  }

  /** Start the worker on the present start. */
  begin() {
    const { state } = this;
    this.id += 1;
    this.stop = "";
    this.events = [];
    this.seen = null;
    this.examined = "";
    const { x, c } = this.startAgain();
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
    } else if (message.say === "records") {
      for (const record of message.records) this.history.push(record);
      this.events.push(...message.events);
      if (message.stop) this.stop = message.stop;
      if (this.history.length > KEPT) {
        const half = this.history.length >> 1;
        this.history = this.history.filter((_, n) => n === 0 || n > half || n % 2 === 0);
      }
    } else if (message.say === "seen") {
      this.pace = Math.max(LOOKS, 5 * message.took);
      this.numbers(message.seen);
      const { kind } = message.seen;
      const stopping =
        this.state.stopWhen === "rest"
          ? kind !== "not-critical"
          : this.state.stopWhen === "minimum" && /minimum/.test(kind);
      if (this.playing && stopping) this.pause();
    } else this.other(message);
  }

  /** How much time a second of play is. */
  get rate() {
    if (this.replay) return this.replayRate;
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

  /** Ask the worker for the numbers of what is shown. @param {number} time */
  look(time) {
    if (time - this.looked < this.pace || this.replay?.table === null) return;
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

  play() {
    if (this.clock >= this.last.time && (this.stop || this.replay)) this.clock = 0;
    this.playing = true;
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  /** Go to a time, computing what is missing. @param {number} time */
  goTo(time) {
    this.stepping = false;
    if (time <= this.last.time || this.replay) this.clock = Math.min(time, this.last.time);
    else this.target = time;
    this.changed();
  }

  rewind() {
    this.playing = false;
    this.clock = 0;
    this.target = undefined;
    this.stepping = false;
    this.changed();
  }

  /** One record further. */
  stepOnce() {
    this.playing = false;
    const next = this.history.find((record) => record.time > this.clock);
    if (next) this.clock = next.time;
    else if (!this.stop && !this.replay) {
      this.target = this.clock + (this.state.method === "flow" ? 1e-9 : 1);
      this.stepping = this.state.method === "flow"; // however long its step is
    }
    this.changed();
  }

  /** Let time pass. @param {number} passed seconds */
  advance(passed) {
    if (this.playing) {
      this.clock += passed * this.rate;
      if (!this.replay)
        this.worker.postMessage({ do: "until", time: this.clock + LEAD * this.rate });
      if (this.clock >= this.last.time) {
        this.clock = this.last.time;
        if (this.stop || this.replay) this.pause();
      }
    }
    if (this.target === undefined) return;
    if (this.last.time >= this.target || this.stop) {
      const { target } = this;
      const end = this.history.find((record) => record.time >= target) ?? this.last;
      this.clock = this.stepping ? end.time : Math.min(target, this.last.time);
      this.target = undefined;
      this.stepping = false;
    } else this.worker.postMessage({ do: "until", time: this.target });
  }
}
