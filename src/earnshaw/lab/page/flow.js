// Electron-proton dynamics: gradient flow on L/2, as ew.simulate (earnshaw/dynamics).
//
//   dx_i/dt = -(1/2) grad_i L,    dc_i/dt = -(1/2) dL/dc_i,
//
// by Tsitouras' method of order 5, with clusters of units that have met (clusters.js).

import { Clusters } from "./clusters.js";

const TOLERANCES = 100; // a unit has arrived within so many tolerances: see _cusps.py
const FINE = 1e-4; // the largest part of the length over which a cusp's slope changes
const SLACK = 4; // a hold gives way where it is exceeded by so many parts of reach/length
const SLOWED = 10; // at rest: slower than so many rtol of a unit's own top speed
const FIRST = 0.01; // the first step, as a part of the time that the units' size takes
const HALVINGS = 24; // of the step in which a hold gave way, to find when
const RUSHING = 0.01; // a part of its top speed at which a unit does not come to rest at the origin

const A = [
  [161 / 1000],
  [-0.008480655492356989, 0.335480655492357],
  [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
  [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
  [
    5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
    -0.028269050394068383,
  ],
  [
    0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
    2.324710524099774,
  ],
];
const B_ERROR = [
  0.0017800110522257715,
  0.0008164344596567469,
  -0.007880878010261996,
  0.1447110071732629,
  -0.5823571654525553,
  0.45808210592918686,
  -1 / 66,
];

/**
 * @typedef {import("./clusters.js").Encounter} Encounter
 * @typedef {{time: number, x: Float64Array, c: Float64Array, energy: number, bound: Int32Array}} Record
 */

/** Why the flow cannot be run, or "". @param {import("./engine.js").Engine} engine */
export function flowRefusal(engine) {
  const { potential, dim } = engine;
  if (potential.kind === "product" && dim > 1) {
    return "this potential has ridges wherever one coordinate of two units agrees, and units would slide along them: use gradient descent, or the line";
  }
  if (potential.kind === "homogeneous" && potential.degree === 0) {
    return "of this activation only a unit's direction matters, and units would meet along whole rays: use gradient descent, or the circle and the sphere";
  }
  return "";
}

export class Flow extends Clusters {
  /** @param {import("./engine.js").Engine} engine @param {Float64Array} x @param {Float64Array} c
   * @param {{wrt?: string, rtol?: number, atol?: number, horizon?: number, rest?: number,
   *   frozen?: boolean[], fixed?: boolean[]}} options */
  constructor(engine, x, c, options = {}) {
    super(engine, x, c, options.frozen ?? []);
    const { wrt = "positions", rtol = 1e-8, atol = 1e-10, horizon = 1000 } = options;
    this.moving = wrt !== "weights";
    this.charging = wrt !== "positions";
    this.fixed = options.fixed ?? []; // units whose weights stay
    this.tried = 0;
    let size = 0;
    for (const value of [...engine.protons, ...x]) size = Math.max(size, Math.abs(value));
    this.size = size || 1;
    this.rtol = 0;
    this.atol = 0;
    this.slow = 0; // a speed that counts as rest
    this.slowed = 0;
    this.cusped = false;
    this.pointed = false;
    this.measure(rtol, atol, horizon);
    if (options.rest !== undefined) this.slowed = options.rest; // a part of the top speed that is rest
    /** @type {Float64Array | null} the rates at the end of the last step */
    this.slopes = null;
    this.topSpeeds = new Float64Array(this.k);
    this.calm = false; // whether the last look found nothing to settle
    this.joinProtons();
    this.findCuts();
    this.nextStep = 0;
    this.topSpeeds = this.look(this.x, this.c).speeds;
    /** @type {string} why it has stopped, "" while it runs */
    this.stop = "";
  }

  /** Tolerances, and from them the reach of a cusp. @param {number} rtol @param {number} atol
   * @param {number} horizon */
  measure(rtol, atol, horizon) {
    const { potential } = this.engine;
    this.cusped = this.moving && (this.slope !== 0 || this.opposite !== 0);
    this.pointed = potential.kind === "homogeneous" && potential.degree === 1;
    const steepest = Math.max(Math.abs(this.slope), Math.abs(this.opposite));
    const height = Math.abs(potential.own);
    const length = potential.unbounded || !steepest || !height ? Infinity : height / steepest;
    const tolerance = atol + rtol * this.size;
    const shrink = this.cusped ? Math.min(1, (FINE * length) / (TOLERANCES * tolerance)) : 1;
    this.rtol = rtol * shrink;
    this.atol = atol * shrink;
    this.reach = TOLERANCES * tolerance * shrink;
    this.slack =
      (SLACK * this.reach) / (Number.isFinite(length) ? length : Math.max(this.size, this.reach));
    this.slow = (this.atol + this.rtol * this.size) / horizon;
    this.slowed = SLOWED * this.rtol;
  }

  /** Forces, velocities and places. @param {Float64Array} x @param {Float64Array} c */
  motion(x, c) {
    const { engine, k, m, leader, side } = this;
    const d = engine.dim;
    const own = engine.project(Float64Array.from(x));
    const places = new Float64Array((k + m) * d);
    for (let i = 0; i < k + m; i++) {
      const from = leader[i];
      for (let n = 0; n < d; n++) {
        const base = from < k ? own[from * d + n] : engine.protons[(from - k) * d + n];
        places[i * d + n] = side[i] * base;
      }
    }
    const found = engine.gradient(places.slice(0, k * d), c);
    const forces = new Float64Array((k + m) * d);
    const velocities = new Float64Array((k + m) * d);
    const charging = new Float64Array(k);
    if (this.moving) {
      const total = new Float64Array((k + m) * d);
      for (let i = 0; i < k; i++) {
        for (let n = 0; n < d; n++) {
          forces[i * d + n] = -found.positions[i * d + n] / 2;
          total[leader[i] * d + n] += side[i] * forces[i * d + n];
        }
      }
      for (let i = 0; i < k + m; i++) {
        const light = this.lightness(leader[i]);
        if (light === 0) continue;
        for (let n = 0; n < d; n++)
          velocities[i * d + n] = side[i] * total[leader[i] * d + n] * light;
      }
    }
    if (this.charging) {
      for (let i = 0; i < k; i++) charging[i] = this.fixed[i] ? 0 : -found.weights[i] / 2;
    }
    return { energy: found.energy, places, forces, velocities, charging };
  }

  /** Everything that decides what happens next. @param {Float64Array} x @param {Float64Array} c */
  look(x, c) {
    const now = this.motion(x, c);
    const { k } = this;
    const d = this.engine.dim;
    const speeds = new Float64Array(k);
    let still = true;
    for (let i = 0; i < k; i++) {
      let square = 0;
      for (let n = 0; n < d; n++) square += now.velocities[i * d + n] ** 2;
      speeds[i] = Math.max(Math.sqrt(square), Math.abs(now.charging[i]));
      const slow = Math.max(this.slow, this.slowed * this.topSpeeds[i]);
      if (!(speeds[i] <= slow)) still = false;
    }
    const meeting = this.cusped ? this.contact(c, now) : null;
    const parting = this.cusped ? this.widest(c, now) : null;
    let lost = this.engine.potential.unbounded && meeting !== null;
    if (this.pointed) {
      for (let i = 0; i < k; i++) {
        let length = 0;
        let toward = 0;
        for (let n = 0; n < d; n++) {
          length += now.places[i * d + n] ** 2;
          toward -= now.places[i * d + n] * now.velocities[i * d + n];
        }
        length = Math.sqrt(length);
        if (length > 0 && length < this.reach && toward > RUSHING * this.topSpeeds[i] * length)
          lost = true;
      }
    }
    return { ...now, speeds, still, meeting, parting, lost };
  }

  /** All encounters of this instant; then why the run ends here, if it does. */
  settle() {
    for (let turn = 0; turn < 1000; turn++) {
      const seen = this.look(this.x, this.c);
      this.x.set(seen.places.subarray(0, this.x.length));
      if (seen.lost) return "collision";
      if (seen.meeting) this.join(seen.meeting, seen.places);
      else if (seen.parting) this.separate(seen.parting, seen.places);
      else {
        const held = this.k > 0 && this.bound().every((j) => j >= 0);
        if (held && (!this.charging || seen.still)) return "bound";
        return seen.still ? "equilibrium" : "";
      }
      this.nextStep = 0;
      this.tried++;
    }
    return "step-limit";
  }

  /** One accepted step of at most `end`; whether something has happened at its end.
   * @param {number} end */
  step(end) {
    const d = this.engine.dim;
    const count = this.k * d + this.k;
    const from = new Float64Array(count);
    from.set(this.x);
    from.set(this.c, this.k * d);
    const field = (/** @type {Float64Array} */ y) => {
      const now = this.motion(y.subarray(0, this.k * d), y.subarray(this.k * d));
      const rate = new Float64Array(count);
      rate.set(now.velocities.subarray(0, this.k * d));
      rate.set(now.charging, this.k * d);
      return rate;
    };
    if (!this.nextStep) {
      const fastest = Math.max(...this.look(this.x, this.c).speeds);
      this.nextStep = fastest > 0 ? (FIRST * this.size) / fastest : end - this.time;
    }
    const first = this.slopes ?? field(from);
    for (let attempt = 0; attempt < 60; attempt++) {
      const h = Math.min(this.nextStep, end - this.time);
      const stages = [first];
      let to = from;
      for (const row of A) {
        to = Float64Array.from(from);
        for (let s = 0; s < row.length; s++) {
          const part = h * row[s];
          const stage = stages[s];
          for (let n = 0; n < count; n++) to[n] += part * stage[n];
        }
        stages.push(field(to));
      }
      this.tried++;
      let error = 0;
      for (let n = 0; n < count; n++) {
        let off = 0;
        for (let s = 0; s < 7; s++) off += B_ERROR[s] * stages[s][n];
        const allowed = this.atol + this.rtol * Math.max(Math.abs(from[n]), Math.abs(to[n]));
        error = Math.max(error, Math.abs(h * off) / allowed);
      }
      if (!Number.isFinite(error)) error = 1e10;
      const factor = Math.min(10, Math.max(0.2, error > 0 ? 0.9 * error ** -0.2 : 10));
      if (error <= 1) {
        this.put(this.time + h, to.slice(0, this.k * d), to.slice(this.k * d));
        this.nextStep = h * factor;
        this.slopes = this.engine.sphere ? null : stages[6];
        return true;
      }
      this.nextStep = h * Math.min(1, factor);
    }
    return false;
  }

  /** The next record, or null where the motion has ended (`stop` says why). @param {number} end
   * @returns {Record | null} */
  next(end = Infinity) {
    if (this.stop) return null;
    if (!this.calm) {
      this.stop = this.settle();
      if (this.stop) return this.record();
      this.slopes = null;
    }
    if (this.time >= end) {
      this.stop = "time";
      return null;
    }
    const before = { time: this.time, x: this.x.slice(), c: this.c.slice(), next: this.nextStep };
    if (!this.step(end)) {
      this.stop = "diverged";
      return null;
    }
    if (!this.x.every(Number.isFinite) || !this.c.every(Number.isFinite)) {
      this.stop = "diverged";
      this.put(this.time, before.x, before.c);
      return null;
    }
    let seen = this.look(this.x, this.c);
    if (seen.parting) seen = this.findParting(before, seen);
    for (let i = 0; i < this.k; i++)
      this.topSpeeds[i] = Math.max(this.topSpeeds[i], seen.speeds[i]);
    this.x.set(seen.places.subarray(0, this.x.length));
    this.calm = !(seen.meeting || seen.parting || seen.lost || seen.still);
    if (!this.calm) {
      this.stop = this.settle();
      this.slopes = null;
    }
    return this.record();
  }

  /** Halve the last step until the moment at which a hold gave way is known.
   * @param {{time: number, x: Float64Array, c: Float64Array, next: number}} early
   * @param {ReturnType<Flow["look"]>} seen */
  findParting(early, seen) {
    let late = { time: this.time, x: this.x, c: this.c, seen };
    const span = this.time - early.time;
    for (let turn = 0; turn < HALVINGS; turn++) {
      const middle = early.time + (late.time - early.time) / 2;
      if (!(early.time < middle && middle < late.time)) break;
      this.put(early.time, early.x.slice(), early.c.slice());
      this.slopes = null;
      this.nextStep = span;
      while (this.time < middle && this.step(middle));
      const there = this.look(this.x, this.c);
      if (there.parting) late = { time: this.time, x: this.x, c: this.c, seen: there };
      else early = { time: this.time, x: this.x, c: this.c, next: this.nextStep };
    }
    this.put(late.time, late.x, late.c);
    return late.seen;
  }

  /** @returns {Record} */
  record() {
    const { energy } = this.engine.gradient(this.x, this.c);
    return { time: this.time, x: this.x.slice(), c: this.c.slice(), energy, bound: this.bound() };
  }
}
