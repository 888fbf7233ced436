// Electron-proton dynamics: gradient flow on L/2, as ew.simulate (earnshaw/dynamics).
//
//   dx_i/dt = -(1/2) grad_i L,    dc_i/dt = -(1/2) dL/dc_i,
//
// by Tsitouras' method of order 5. Units that meet at a cusp become a cluster and share a place; a
// cluster moves with the mean of its members' forces, and rests with a proton in it. Of two clusters
// of n_A and n_B units (a proton makes n infinite), 1/mu = 1/n_A + 1/n_B, whose cusps attract with
// total strength S, margin = S - mu |v_A - v_B| decides whether they stay together.

const TOLERANCES = 100; // a unit has arrived within so many tolerances: see _cusps.py
const FINE = 1e-4; // the largest part of the length over which a cusp's slope changes
const SLACK = 4; // a hold gives way where it is exceeded by so many parts of reach/length
const STEP_OFF = 2; // what is torn off is put down at so many reaches
const SLOWED = 10; // at rest: slower than so many rtol of a unit's own top speed
const FIRST = 0.01; // the first step, as a part of the time that the units' size takes
const HALVINGS = 24; // of the step in which a hold gave way, to find when
const INSTANT = 1e-12; // a part of the time that has passed which is too short to take steps in
const RUSHING = 0.01; // a part of its top speed at which a unit does not come to rest at the origin
const SMALL = 4; // electrons of a cluster of which every cut is kept

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
 * @typedef {{time: number, kind: string, unit: number, partner: number, side: number}} Encounter
 * @typedef {{time: number, x: Float64Array, c: Float64Array, energy: number, bound: Int32Array}} Record
 */

/** Why the flow cannot be run, or "". @param {import("./engine.js").Engine} engine */
export function flowRefusal(engine) {
  const { potential, dim } = engine;
  if (potential.kind === "product" && dim > 1) {
    return "this potential has ridges wherever one coordinate of two units agrees, and units would slide along them: use gradient descent, or the line";
  }
  return "";
}

export class Flow {
  /** @param {import("./engine.js").Engine} engine @param {Float64Array} x @param {Float64Array} c
   * @param {{wrt?: string, rtol?: number, atol?: number, horizon?: number, rest?: number,
   *   frozen?: boolean[], fixed?: boolean[]}} options */
  constructor(engine, x, c, options = {}) {
    const { wrt = "positions", rtol = 1e-8, atol = 1e-10, horizon = 1000 } = options;
    this.engine = engine;
    this.k = c.length;
    this.m = engine.charges.length;
    this.moving = wrt !== "weights";
    this.charging = wrt !== "positions";
    this.frozen = options.frozen ?? []; // units whose positions stay
    this.fixed = options.fixed ?? []; // units whose weights stay
    this.x = Float64Array.from(x);
    this.c = Float64Array.from(c);
    this.time = 0;
    this.tried = 0;
    /** @type {Encounter[]} */
    this.events = [];
    let size = 0;
    for (const value of [...engine.protons, ...x]) size = Math.max(size, Math.abs(value));
    this.size = size || 1;
    this.slope = 0; // of the cusp at coincidence, and at the antipode
    this.opposite = 0;
    this.rtol = 0;
    this.atol = 0;
    this.reach = 0; // the distance at which units have met
    this.slack = 0; // the part by which a force must exceed a hold
    this.slow = 0; // a speed that counts as rest
    this.slowed = 0;
    this.cusped = false;
    this.mirrored = false;
    this.pointed = false;
    this.measure(rtol, atol, horizon);
    if (options.rest !== undefined) this.slowed = options.rest; // a part of the top speed that is rest
    /** @type {{of: number, units: number[]}[]} */
    this.cuts = [];
    this.count = new Float64Array(0);
    /** @type {Float64Array | null} the rates at the end of the last step */
    this.slopes = null;
    this.topSpeeds = new Float64Array(this.k);
    this.calm = false; // whether the last look found nothing to settle
    this.leader = Int32Array.from({ length: this.k + this.m }, (_, i) => i);
    this.side = new Float64Array(this.k + this.m).fill(1);
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
    this.slope = potential.unbounded ? 1 : potential.cusp;
    this.opposite = potential.opposite;
    this.cusped = this.moving && (this.slope !== 0 || this.opposite !== 0);
    this.mirrored = this.opposite !== 0;
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

  /** Protons at one place, or at antipodes of a mirrored cusp, are one cluster. */
  joinProtons() {
    const { k, m } = this;
    const d = this.engine.dim;
    const w = this.engine.protons;
    for (let j = 0; j < m; j++) {
      for (let i = 0; i < j; i++) {
        let same = true;
        let opposite = this.mirrored;
        for (let n = 0; n < d; n++) {
          same = same && w[i * d + n] === w[j * d + n];
          opposite = opposite && w[i * d + n] === -w[j * d + n];
        }
        if (same || opposite) {
          this.leader[k + j] = this.leader[k + i];
          this.side[k + j] = this.side[k + i] * (same ? 1 : -1);
          break;
        }
      }
    }
  }

  /** @param {number} leader all particles at its place */
  members(leader) {
    const found = [];
    for (let i = 0; i < this.leader.length; i++) if (this.leader[i] === leader) found.push(i);
    return found;
  }

  /** New leaders from labels that agree within a cluster: its first proton, else first electron.
   * @param {Int32Array} labels */
  relabel(labels) {
    const { k } = this;
    for (const label of new Set(labels)) {
      const together = [];
      for (let i = 0; i < labels.length; i++) if (labels[i] === label) together.push(i);
      const first = together.find((i) => i >= k) ?? together[0];
      const sign = this.side[first];
      for (const i of together) {
        this.leader[i] = first;
        this.side[i] *= sign;
      }
    }
    this.findCuts();
  }

  /** Who may leave whom. */
  findCuts() {
    this.cuts = [];
    this.count = new Float64Array(this.leader.length);
    for (let i = 0; i < this.leader.length; i++) this.count[this.leader[i]]++;
    for (const of of new Set(this.leader)) {
      if (this.count[of] < 2) continue;
      const electrons = this.members(of).filter((i) => i < this.k);
      const held = of >= this.k;
      const free = held ? electrons : electrons.slice(1);
      if (electrons.length <= SMALL) {
        for (let set = 1; set < 1 << free.length; set++) {
          this.cuts.push({ of, units: free.filter((_, bit) => set & (1 << bit)) });
        }
      } else {
        for (const unit of electrons) this.cuts.push({ of, units: [unit] });
        if (held) this.cuts.push({ of, units: electrons });
      }
    }
  }

  /** 1/n of the cluster that a particle leads; 0 with a proton, or a frozen unit, in it.
   * @param {number} leader */
  lightness(leader) {
    if (leader >= this.k) return 0;
    if (this.frozen.length && this.members(leader).some((i) => this.frozen[i])) return 0;
    return 1 / this.count[leader];
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

  /** S of two clusters at x = side y, from charges and oriented charges.
   * @param {number} q @param {number} o @param {number} q2 @param {number} o2 @param {number} side */
  strength(q, o, q2, o2, side) {
    const even = (this.slope + this.opposite) / 2;
    const odd = (this.slope - this.opposite) / 2;
    return -even * q * q2 - side * odd * o * o2;
  }

  /** @param {number} i @param {Float64Array} c the charge of a particle */
  charge(i, c) {
    return i < this.k ? c[i] : -this.engine.charges[i - this.k];
  }

  /** Charges and oriented charges of the clusters, by leader. @param {Float64Array} c */
  totals(c) {
    const total = new Float64Array(this.leader.length);
    const oriented = new Float64Array(this.leader.length);
    for (let i = 0; i < this.leader.length; i++) {
      total[this.leader[i]] += this.charge(i, c);
      oriented[this.leader[i]] += this.side[i] * this.charge(i, c);
    }
    return { total, oriented };
  }

  /** The nearest pair within reach that stays together. @param {Float64Array} c
   * @param {ReturnType<Flow["motion"]>} now */
  contact(c, now) {
    const { k, m, leader, side: turned } = this;
    const d = this.engine.dim;
    const { total, oriented } = this.totals(c);
    let best = null;
    let nearest = Infinity;
    for (let e = 0; e < k; e++) {
      const le = leader[e];
      const lightE = this.lightness(le);
      for (let p = 0; p < k + m; p++) {
        const lp = leader[p];
        if (lp === le) continue;
        for (let side = 1; side >= (this.mirrored ? -1 : 1); side -= 2) {
          let square = 0;
          for (let n = 0; n < d; n++)
            square += (now.places[e * d + n] - side * now.places[p * d + n]) ** 2;
          const distance = Math.sqrt(square);
          if (distance >= nearest) continue;
          if (!this.engine.potential.unbounded && distance >= this.reach) continue;
          const pull = this.strength(
            total[le],
            turned[e] * oriented[le],
            total[lp],
            turned[p] * oriented[lp],
            side,
          );
          if (!(pull > 0)) continue;
          const both = lightE + this.lightness(lp);
          let apart = 0;
          let rest = 0;
          for (let n = 0; n < d; n++) {
            const gap = now.places[e * d + n] - side * now.places[p * d + n];
            const speed = now.velocities[e * d + n] - side * now.velocities[p * d + n];
            apart += speed * speed;
            rest +=
              (speed / (both > 0 ? both : 1) + (distance > 0 ? (pull * gap) / distance : 0)) ** 2;
          }
          const met = this.engine.potential.unbounded
            ? distance < Math.max(this.reach, INSTANT * this.time * Math.sqrt(apart))
            : pull - Math.sqrt(rest) > 0 && both > 0;
          if (met) {
            nearest = distance;
            best = { unit: e, partner: p, side };
          }
        }
      }
    }
    return best;
  }

  /** The cut whose force exceeds its hold the most, or null. @param {Float64Array} c
   * @param {ReturnType<Flow["motion"]>} now */
  widest(c, now) {
    if (!this.cuts.length) return null;
    const d = this.engine.dim;
    const { total, oriented } = this.totals(c);
    let best = null;
    let most = 0;
    for (const cut of this.cuts) {
      let q = 0;
      let o = 0;
      const tear = new Float64Array(d);
      if (cut.units.some((i) => this.frozen[i])) continue;
      for (const i of cut.units) {
        q += c[i];
        o += this.side[i] * c[i];
        for (let n = 0; n < d; n++) tear[n] += this.side[i] * now.forces[i * d + n];
      }
      let size = 0;
      for (let n = 0; n < d; n++) {
        tear[n] -= cut.units.length * this.side[cut.of] * now.velocities[cut.of * d + n];
        size += tear[n] ** 2;
      }
      size = Math.sqrt(size);
      const hold = this.strength(q, o, total[cut.of] - q, oriented[cut.of] - o, 1);
      const excess = size - (1 + this.slack) * hold;
      if (excess > most) {
        most = excess;
        best = { cut, tear, size };
      }
    }
    return best;
  }

  /** Two particles and their clusters get one place: a proton's, else the mean of all units.
   * @param {{unit: number, partner: number, side: number}} met @param {Float64Array} places */
  join({ unit, partner, side }, places) {
    const d = this.engine.dim;
    const { k } = this;
    if (this.leader[unit] >= k) [unit, partner] = [partner, unit];
    const moved = this.members(this.leader[unit]);
    const kept = this.members(this.leader[partner]);
    const turn = this.side[unit] * this.side[partner] * side;
    const target = Array.from({ length: d }, (_, n) => side * places[partner * d + n]);
    if (this.leader[partner] < k) {
      const all = moved.length + kept.length;
      for (let n = 0; n < d; n++) {
        target[n] = (moved.length * places[unit * d + n] + kept.length * target[n]) / all;
      }
      const on = this.engine.project(Float64Array.from(target));
      target.splice(0, d, ...on);
    }
    const labels = Int32Array.from(this.leader);
    for (const i of moved) {
      this.side[i] *= turn;
      labels[i] = labels[partner];
    }
    this.relabel(labels);
    for (const i of this.members(this.leader[unit])) {
      if (i >= k) continue;
      const sign = this.side[i] * this.side[unit];
      for (let n = 0; n < d; n++) this.x[i * d + n] = sign * target[n];
    }
    this.tell(["bind", "merge"], moved, kept);
  }

  /** The electrons of a cut are put out of reach of the rest, along the force on them.
   * @param {{cut: {of: number, units: number[]}, tear: Float64Array, size: number}} parting
   * @param {Float64Array} places */
  separate({ cut, tear, size }, places) {
    const d = this.engine.dim;
    const { k } = this;
    const whole = this.members(cut.of);
    const staying = whole.filter((i) => !cut.units.includes(i));
    const share = cut.of >= k ? 1 : staying.length / whole.length;
    this.x.set(places.subarray(0, k * d));
    for (const i of whole) {
      if (i >= k) continue;
      const part = cut.units.includes(i) ? share : share - 1;
      for (let n = 0; n < d; n++) {
        this.x[i * d + n] += (part * this.side[i] * STEP_OFF * this.reach * tear[n]) / size;
      }
    }
    this.tell(["release", "split"], cut.units, staying);
    const labels = Int32Array.from(this.leader);
    for (const i of cut.units) labels[i] = labels.length;
    this.relabel(labels);
    this.engine.project(this.x);
  }

  /** One event for each unit, with the proton of the others, or else the first of them.
   * @param {string[]} kinds @param {number[]} units @param {number[]} others */
  tell(kinds, units, others) {
    const { k } = this;
    const partner = others.find((i) => i >= k) ?? others[0];
    const [kind, name] = partner >= k ? [kinds[0], partner - k] : [kinds[1], partner];
    for (const unit of units) {
      const side = this.side[unit] * this.side[partner];
      this.events.push({ time: this.time, kind, unit, partner: name, side });
    }
  }

  /** The proton of each electron, or -1. */
  bound() {
    return Int32Array.from({ length: this.k }, (_, i) => Math.max(this.leader[i] - this.k, -1));
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
        this.x = to.slice(0, this.k * d);
        this.c = to.slice(this.k * d);
        this.time += h;
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
      this.x = before.x;
      this.c = before.c;
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
      this.time = early.time;
      this.x = early.x.slice();
      this.c = early.c.slice();
      this.slopes = null;
      this.nextStep = span;
      while (this.time < middle && this.step(middle));
      const there = this.look(this.x, this.c);
      if (there.parting) late = { time: this.time, x: this.x, c: this.c, seen: there };
      else early = { time: this.time, x: this.x, c: this.c, next: this.nextStep };
    }
    this.time = late.time;
    this.x = late.x;
    this.c = late.c;
    return late.seen;
  }

  /** @returns {Record} */
  record() {
    const { energy } = this.engine.gradient(this.x, this.c);
    return { time: this.time, x: this.x.slice(), c: this.c.slice(), energy, bound: this.bound() };
  }
}
