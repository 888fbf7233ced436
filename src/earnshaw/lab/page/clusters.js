// Units that have met at a cusp, and who may leave whom (earnshaw/dynamics/_clusters.py).
//
// Units that meet become a cluster and share a place; a cluster moves with the mean of its members'
// forces, and rests with a proton in it. Of two clusters of n_A and n_B units (a proton makes n
// infinite), 1/mu = 1/n_A + 1/n_B, whose cusps attract with total strength S, margin =
// S - mu |v_A - v_B| decides whether they stay together.

const STEP_OFF = 2; // what is torn off is put down at so many reaches
const INSTANT = 1e-12; // a part of the time that has passed which is too short to take steps in
const SMALL = 4; // electrons of a cluster of which every cut is kept

/**
 * @typedef {{time: number, kind: string, unit: number, partner: number, side: number}} Encounter
 * @typedef {{places: Float64Array, forces: Float64Array, velocities: Float64Array}} Moving
 *   of all particles, electrons first, row by row
 */

export class Clusters {
  /** @param {import("./engine.js").Engine} engine @param {Float64Array} x @param {Float64Array} c
   * @param {boolean[]} frozen units whose positions stay */
  constructor(engine, x, c, frozen) {
    this.engine = engine;
    this.k = c.length;
    this.m = engine.charges.length;
    this.frozen = frozen;
    this.x = Float64Array.from(x);
    this.c = Float64Array.from(c);
    this.time = 0;
    /** @type {Encounter[]} */
    this.events = [];
    this.slope = engine.potential.unbounded ? 1 : engine.potential.cusp; // of the cusp
    this.opposite = engine.potential.opposite; // the same at the antipode
    this.mirrored = this.opposite !== 0;
    this.reach = 0; // the distance at which units have met
    this.slack = 0; // the part by which a force must exceed a hold
    /** @type {{of: number, units: number[]}[]} */
    this.cuts = [];
    this.count = new Float64Array(0);
    this.leader = Int32Array.from({ length: this.k + this.m }, (_, i) => i);
    this.side = new Float64Array(this.k + this.m).fill(1);
  }

  /** Be at another time and state. @param {number} time @param {Float64Array} x
   * @param {Float64Array} c */
  put(time, x, c) {
    Object.assign(this, { time, x, c });
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
   * @param {Moving} now */
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
   * @param {Moving} now */
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
}
