// Descent in steps, beside the flow: each method is a generator of records.
//
//   gd          x <- Pi(x - step grad L)
//   noisy-sgd   x <- Pi(x - step (grad L + n)), n uniform on the unit sphere times `noise`
//   second-gd   gradient steps where the gradient is large, else a step along the softest direction
//   node-wise   one electron at a time climbs log|C|, C of what is left; then all weights are refitted

import { Flow } from "./flow.js";
import { Random, leastSquares } from "./linear.js";
import { examine } from "./verdict.js";

/**
 * @typedef {import("./flow.js").Record} Record
 * @typedef {{method: string, wrt: string, step: number, noise: number, seed: number, rest?: number,
 *   frozen: boolean[], fixed: boolean[]}} Plan
 */

export const METHODS = {
  flow: "gradient flow",
  gd: "gradient descent",
  "noisy-sgd": "noisy SGD",
  "second-gd": "second-order descent",
  "node-wise": "node-wise learning",
};

const CLIMB = 400; // steps of one climb
const GROWTH = 1.5; // of the length of a step of a climb, after a gain
const CUT = 0.5; // without
const SETTLED = 1e-9; // a step this short, relative to the size of things, ends a climb
const SOFT = 1e-6; // eta and gamma of second-order descent

/** A run: `next()` gives records until it returns null; `stop` says why it ended. */
export class Steps {
  /** @param {import("./engine.js").Engine} engine @param {Float64Array} x @param {Float64Array} c
   * @param {Plan} plan */
  constructor(engine, x, c, plan) {
    this.engine = engine;
    this.plan = plan;
    this.x = Float64Array.from(x);
    this.c = Float64Array.from(c);
    this.time = 0;
    this.stop = "";
    /** @type {import("./flow.js").Encounter[]} */
    this.events = [];
    this.held = new Int32Array(c.length).fill(-1); // the proton that a unit was put on
    this.sides = new Int8Array(c.length).fill(1); // -1 on the proton's antipode
    this.random = new Random(plan.seed);
    this.moving = plan.wrt !== "weights";
    this.charging = plan.wrt !== "positions";
    const start = {
      gd: gradientSteps,
      "noisy-sgd": gradientSteps,
      "second-gd": secondSteps,
      "node-wise": climbs,
    };
    /** @type {Generator<void, string>} */
    this.steps = start[/** @type {"gd"} */ (plan.method)](this);
  }

  /** @returns {Record | null} */
  next() {
    if (this.stop) return null;
    const { done, value } = this.steps.next();
    if (done) {
      this.stop = value;
      return null;
    }
    this.time += 1;
    if (!this.x.every(Number.isFinite) || !this.c.every(Number.isFinite)) {
      this.stop = "diverged";
      return null;
    }
    const { energy } = this.engine.gradient(this.x, this.c);
    const bound = Int32Array.from(this.held);
    return { time: this.time, x: this.x.slice(), c: this.c.slice(), energy, bound };
  }

  /** The gradient of what may move. */
  gradient() {
    const found = this.engine.gradient(this.x, this.c);
    const d = this.engine.dim;
    for (let i = 0; i < this.c.length; i++) {
      if (!this.charging || this.plan.fixed[i]) found.weights[i] = 0;
      if (!this.moving || this.plan.frozen[i]) found.positions.fill(0, i * d, (i + 1) * d);
    }
    return found;
  }

  /** @param {{positions: Float64Array, weights: Float64Array}} along @param {number} part */
  move(along, part) {
    for (let n = 0; n < this.x.length; n++) this.x[n] += part * along.positions[n];
    for (let i = 0; i < this.c.length; i++) this.c[i] += part * along.weights[i];
    this.engine.project(this.x);
  }
}

/** Gradient descent, and with noise SGD. @param {Steps} run @returns {Generator<void, string>} */
function* gradientSteps(run) {
  const noisy = run.plan.method === "noisy-sgd";
  for (;;) {
    const slope = run.gradient();
    if (noisy) {
      const noise = [...slope.positions, ...slope.weights].map(() => run.random.normal());
      const size = Math.hypot(...noise) / run.plan.noise || 1;
      for (let n = 0; n < run.x.length; n++)
        if (slope.positions[n]) slope.positions[n] += noise[n] / size;
      for (let i = 0; i < run.c.length; i++)
        if (slope.weights[i]) slope.weights[i] += noise[run.x.length + i] / size;
    } else if (Math.hypot(...slope.positions, ...slope.weights) < 1e-12) return "equilibrium";
    run.move(slope, -run.plan.step);
    yield;
  }
}

/** SecondGD. @param {Steps} run @returns {Generator<void, string>} */
function* secondSteps(run) {
  const { engine, plan } = run;
  for (;;) {
    const slope = settled(run);
    const size = Math.hypot(...slope.positions, ...slope.weights);
    const before = { x: run.x.slice(), c: run.c.slice() };
    if (size >= SOFT) {
      let part = plan.step;
      for (let turn = 0; turn < 40; turn++, part /= 2) {
        run.move(slope, -part);
        if (engine.gradient(run.x, run.c).energy <= slope.energy - 0.25 * part * size * size) break;
        run.x = before.x.slice();
        run.c = before.c.slice();
      }
      if (run.x.every((value, n) => value === before.x[n])) return "no-decrease";
      yield;
      continue;
    }
    const seen = examine(engine, run.x, run.c, plan);
    if (!(seen.eigenvalue < -SOFT) || !seen.direction) return "converged";
    let better = false;
    for (let part = 0.5; part > 1e-7 && !better; part /= 2) {
      for (const sign of [1, -1]) {
        run.x = before.x.slice();
        run.c = before.c.slice();
        run.move(seen.direction, sign * part);
        better = engine.gradient(run.x, run.c).energy < slope.energy;
        if (better) break;
      }
    }
    if (!better) return "no-decrease";
    yield;
  }
}

/** The gradient where electrons that a step would carry past a cusp that pulls them are on it, and
 * have none while they are held: the pull 2 c b K is more than the force of all else.
 * @param {Steps} run */
function settled(run) {
  const { engine, plan } = run;
  const { dim: d, charges, potential } = engine;
  const cusped = run.moving && !potential.unbounded && potential.kind !== "homogeneous";
  for (let turn = 0; ; turn++) {
    const slope = run.gradient();
    let bound = turn > run.c.length; // one may let go as another is put there: not for ever
    for (let i = 0; cusped && i < run.c.length; i++) {
      const own = slope.positions.subarray(i * d, (i + 1) * d);
      const force = Math.hypot(...own);
      if (run.held[i] !== -1) {
        const cusp = run.sides[i] > 0 ? potential.cusp : potential.opposite;
        if (force <= 2 * run.c[i] * charges[run.held[i]] * cusp) own.fill(0);
        else run.held[i] = -1;
        continue;
      }
      if (plan.frozen[i] || bound) continue;
      for (let j = 0; j < charges.length && !bound; j++)
        for (const side of potential.opposite ? [1, -1] : [1])
          bound ||= sits(run, i, j, side, plan.step * force, slope.energy);
    }
    if (!bound || turn > run.c.length) return slope;
  }
}

/** Put unit i on proton j, or on its antipode, if that is within `reach`, no way up, and holds it.
 * @param {Steps} run @param {number} i @param {number} j @param {number} side
 * @param {number} reach @param {number} energy @returns {boolean} */
function sits(run, i, j, side, reach, energy) {
  const { engine } = run;
  const { dim: d, charges, protons, potential } = engine;
  const pull = 2 * run.c[i] * charges[j] * (side > 0 ? potential.cusp : potential.opposite);
  if (!(pull > 0)) return false;
  const before = run.x.slice(i * d, (i + 1) * d);
  const home = Float64Array.from(before, (_, n) => side * protons[j * d + n]);
  if (Math.hypot(...before.map((value, n) => value - home[n])) > reach) return false;
  run.x.set(home, i * d);
  const there = engine.gradient(run.x, run.c);
  const force = Math.hypot(...there.positions.subarray(i * d, (i + 1) * d));
  if (there.energy > energy || force > pull) {
    run.x.set(before, i * d);
    return false;
  }
  run.held[i] = j;
  run.sides[i] = side;
  run.events.push({ time: run.time + 1, kind: "bind", unit: i, partner: j, side });
  return true;
}

/** Node-wise learning: unit by unit up log(C^2/Phi). @param {Steps} run
 * @returns {Generator<void, string>} */
function* climbs(run) {
  const { engine, plan } = run;
  const d = engine.dim;
  const order = Array.from(run.c, (_, i) => i).filter((i) => !plan.frozen[i]);
  for (const i of order) run.c[i] = 0;
  yield;
  for (const unit of order) {
    const others = run.c.slice();
    others[unit] = 0;
    const own = (/** @type {Float64Array} */ point) => {
      const size = engine.potential.sized ? engine.potential.alone(point, 0, false) : 1;
      const { value, gradient } = engine.felt(point, run.x, others, unit);
      return {
        height: Math.log(value * value) - Math.log(Math.abs(size) || 1e-300),
        value,
        gradient,
        size,
      };
    };
    /** @type {Float64Array} */
    let here = run.x.slice(unit * d, (unit + 1) * d);
    let now = own(here);
    let length = 0.2;
    for (let turn = 0; turn < CLIMB && length > SETTLED; turn++) {
      const slope = Array.from(now.gradient, (g) => (2 * g) / now.value);
      if (engine.potential.sized) {
        engine.potential.alone(here, 0, false);
        for (let n = 0; n < d; n++) slope[n] -= engine.potential.gradient[n] / now.size;
      }
      if (engine.sphere) {
        let along = 0;
        for (let n = 0; n < d; n++) along += slope[n] * here[n];
        for (let n = 0; n < d; n++) slope[n] -= along * here[n];
      }
      const size = Math.hypot(...slope);
      if (!(size > 0)) break;
      const tried = engine.project(
        Float64Array.from(here, (value, n) => value + (length * slope[n]) / size),
      );
      const there = own(tried);
      if (there.height > now.height) {
        here = tried;
        now = there;
        length *= GROWTH;
        run.x.set(here, unit * d);
        yield;
      } else length *= CUT;
    }
    snap(run, unit);
    refit(run, order.slice(0, order.indexOf(unit) + 1));
    yield;
  }
  return "placed";
}

/** A unit that climbed up to a cusp sits on the proton. @param {Steps} run @param {number} unit */
function snap(run, unit) {
  const { engine } = run;
  const d = engine.dim;
  if (!engine.potential.cusp) return;
  for (let j = 0; j < engine.charges.length; j++) {
    for (const side of engine.potential.opposite ? [1, -1] : [1]) {
      let square = 0;
      for (let n = 0; n < d; n++)
        square += (run.x[unit * d + n] - side * engine.protons[j * d + n]) ** 2;
      if (Math.sqrt(square) > 1e-6) continue;
      for (let n = 0; n < d; n++) run.x[unit * d + n] = side * engine.protons[j * d + n];
      run.held[unit] = j;
      run.sides[unit] = side;
      run.events.push({ time: run.time + 1, kind: "bind", unit, partner: j, side });
    }
  }
}

/** The best weights of the placed units. @param {Steps} run @param {number[]} placed */
function refit(run, placed) {
  const { engine } = run;
  const d = engine.dim;
  const n = placed.length;
  const K = new Float64Array(n * n);
  const pull = new Float64Array(n);
  const outside = run.c.slice();
  for (const i of placed) outside[i] = 0;
  placed.forEach((i, row) => {
    K[row * n + row] = engine.potential.alone(run.x, i, false);
    placed.forEach((j, column) => {
      if (column < row)
        K[row * n + column] = K[column * n + row] = engine.potential.pair(
          run.x,
          i,
          run.x,
          j,
          false,
        );
    });
    pull[row] = engine.felt(run.x.slice(i * d, (i + 1) * d), run.x, outside).value;
  });
  leastSquares(K, pull, n).forEach((value, row) => {
    if (!run.plan.fixed[placed[row]]) run.c[placed[row]] = value;
  });
}

/** The run that a plan asks for. @param {import("./engine.js").Engine} engine
 * @param {Float64Array} x @param {Float64Array} c @param {Plan} plan @returns {Flow | Steps} */
export function begin(engine, x, c, plan) {
  return plan.method === "flow" ? new Flow(engine, x, c, plan) : new Steps(engine, x, c, plan);
}
