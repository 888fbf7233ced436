// What kind of point the charges are at, as ew.certify says it (earnshaw/landscape/certificate.py).
//
// Motions are split into those along which L is smooth (of free units, of groups of units in one
// place, of weights) and those of units on a cusp: pulled back with `pull`, torn with `net`. The
// gradient norm is the distance from 0 to Clarke's subdifferential; the smallest eigenvalue is that
// of the Hessian over the smooth motions, across those that rescaling a homogeneous unit makes.

import { eigen } from "./linear.js";
import { theorems } from "./theorems.js";
import { short } from "./words.js";

const COINCIDENT = 1e-8; // closer units are in one place
const RELATIVE = 1e-6; // of the tolerance, to the teacher
const HELD = 1e-6; // a margin smaller than this part of the pull is none
const ROUNDING = 64 * 2.2e-16; // of a loss that is 0

/**
 * @typedef {{kind: string, words: string, loss: number, gradientNorm: number, eigenvalue: number,
 *   margin: number | null, tolerance: number, laplacians: Float64Array, heldBy: Int32Array,
 *   direction: {positions: Float64Array, weights: Float64Array} | null, theorems: import("./theorems.js").Theorem[]}} Seen
 */

/** @param {import("./engine.js").Engine} engine @param {Float64Array} x0 @param {Float64Array} c
 * @param {{wrt: string, frozen: boolean[], fixed: boolean[]}} plan @returns {Seen} */
export function examine(engine, x0, c, plan) {
  const { dim: d, potential } = engine;
  const k = c.length;
  const moving = plan.wrt !== "weights";
  const charging = plan.wrt !== "positions";
  const where = placed(engine, x0, c, moving);
  const x = where.x;
  const size = k * d + k;
  const slope = engine.gradient(x, c);
  const H = engine.hessian(x, c);
  const laplacians = engine.laplacians(H, k);
  const rounding = 1e-13 * H.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (let i = 0; i < k; i++) {
    if (where.heldBy[i] !== -1) laplacians[i] = NaN;
    else if (Math.abs(laplacians[i]) < rounding) laplacians[i] = 0;
  }

  // A basis of the smooth motions, and what is left of the gradient on cusps.
  /** @type {Float64Array[]} */
  const basis = [];
  const net = slope.positions.slice();
  if (moving) {
    for (const group of where.groups) {
      if (group.anchored || group.units.some((i) => plan.frozen[i])) continue;
      for (const direction of directions(engine, x, group.units[0])) {
        const column = new Float64Array(size);
        for (const i of group.units) {
          for (let n = 0; n < d; n++)
            column[i * d + n] = (where.sides[i] * direction[n]) / Math.sqrt(group.units.length);
        }
        basis.push(column);
      }
    }
  }
  let norm = 0;
  for (const column of basis) {
    let part = 0;
    for (let n = 0; n < k * d; n++) part += column[n] * slope.positions[n];
    norm += part * part;
    for (let n = 0; n < k * d; n++) net[n] -= part * column[n];
  }
  let margin = Infinity;
  let loose = -1;
  let repelled = -1;
  for (let i = 0; i < k; i++) {
    if (where.heldBy[i] === -1 || plan.frozen[i]) continue;
    const force = Math.hypot(...net.subarray(i * d, (i + 1) * d));
    const pull = c[i] * where.rates[i];
    norm += Math.max(0, force - Math.abs(pull)) ** 2;
    if (pull < 0) repelled = i;
    if (pull - force < margin) {
      margin = pull - force;
      loose = i;
    }
  }
  if (charging) {
    for (let i = 0; i < k; i++) {
      if (plan.fixed[i]) continue;
      norm += slope.weights[i] ** 2;
      const column = new Float64Array(size);
      column[k * d + i] = 1;
      basis.push(column);
    }
  }
  const gradientNorm = Math.sqrt(norm);
  const soft = softest(engine, H, x, c, basis, moving && charging);
  const tolerance = RELATIVE * scaleOf(engine);
  const seen = {
    loss: isZero(engine, x, c, slope.energy) ? 0 : slope.energy,
    gradientNorm,
    eigenvalue: soft.value,
    direction: soft.direction,
    laplacians,
    heldBy: where.heldBy,
    tolerance,
    margin: Number.isFinite(margin) ? margin : null,
  };
  const verdict = say(engine, x, c, seen, {
    repelled,
    loose,
    free: where.groups.some((g) => !g.anchored),
    moving,
    unsure: where.unsure,
  });
  return {
    ...seen,
    ...verdict,
    theorems: theorems(engine, x, c, slope.weights, { moving, charging, tolerance }),
  };
}

/** Tangent directions at a unit. @param {import("./engine.js").Engine} engine
 * @param {Float64Array} x @param {number} i */
function directions(engine, x, i) {
  const d = engine.dim;
  const axes = Array.from({ length: d }, (_, n) =>
    Float64Array.from({ length: d }, (_, m) => (n === m ? 1 : 0)),
  );
  if (!engine.sphere) return axes;
  const at = x.subarray(i * d, (i + 1) * d);
  /** @type {Float64Array[]} */
  const found = [];
  // Gram and Schmidt, the axis nearest to x last.
  const order = [...axes.keys()].sort((n, m) => Math.abs(at[n]) - Math.abs(at[m]));
  for (const n of order.slice(0, d - 1)) {
    const vector = axes[n];
    for (const other of [at, ...found]) {
      let part = 0;
      for (let m = 0; m < d; m++) part += vector[m] * other[m];
      for (let m = 0; m < d; m++) vector[m] -= part * other[m];
    }
    const length = Math.hypot(...vector);
    found.push(vector.map((value) => value / length));
  }
  return found;
}

/** Who shares a place, put there exactly, and how strongly cusps pull: rates per weight.
 * @param {import("./engine.js").Engine} engine @param {Float64Array} x0 @param {Float64Array} c
 * @param {boolean} moving */
function placed(engine, x0, c, moving) {
  const { dim: d, potential } = engine;
  const k = c.length;
  const m = engine.charges.length;
  const x = Float64Array.from(x0);
  const sides = new Float64Array(k).fill(1);
  const heldBy = new Int32Array(k).fill(-1);
  const rates = new Float64Array(k);
  const place = new Int32Array(k).fill(-1);
  const cusped =
    moving && !potential.unbounded && (potential.cusp !== 0 || potential.opposite !== 0);
  // Where only directions matter, units meet along rays.
  const aligned = potential.kind === "homogeneous" && potential.degree === 0;
  const length = (/** @type {ArrayLike<number>} */ Y, /** @type {number} */ j) => {
    let square = 0;
    for (let n = 0; n < d; n++) square += Y[j * d + n] ** 2;
    return Math.sqrt(square) || 1;
  };
  const apart = (
    /** @type {number} */ i,
    /** @type {ArrayLike<number>} */ Y,
    /** @type {number} */ j,
    /** @type {number} */ side,
  ) => {
    const scale = aligned ? length(x, i) / length(Y, j) : 1;
    let square = 0;
    for (let n = 0; n < d; n++) square += (x[i * d + n] - side * scale * Y[j * d + n]) ** 2;
    return Math.sqrt(square) / (aligned ? length(x, i) : 1);
  };
  /** Put unit i where j is, or on its ray. @param {number} i @param {ArrayLike<number>} Y
   * @param {number} j @param {number} side */
  const put = (i, Y, j, side) => {
    const scale = aligned ? length(x, i) / length(Y, j) : 1;
    for (let n = 0; n < d; n++) x[i * d + n] = side * scale * Y[j * d + n];
  };
  /** @type {Map<number, number[]>} */
  const groups = new Map();
  for (let i = 0; i < k; i++) {
    if (cusped) {
      for (const side of potential.opposite ? [1, -1] : [1]) {
        for (let j = 0; j < m && place[i] < 0; j++) {
          if (engine.charges[j] !== 0 && apart(i, engine.protons, j, side) <= COINCIDENT) {
            place[i] = j;
            sides[i] = side;
            put(i, engine.protons, j, side);
          }
        }
        for (let j = 0; j < i && place[i] < 0; j++) {
          if (place[j] >= m && apart(i, x, j, side) <= COINCIDENT) {
            place[i] = place[j];
            sides[i] = side * sides[j];
            put(i, x, j, side);
          }
        }
      }
    }
    if (place[i] < 0) place[i] = m + i;
    groups.set(place[i], [...(groups.get(place[i]) ?? []), i]);
  }
  for (const units of groups.values()) {
    const home = place[units[0]];
    for (const i of units) {
      let rate = 0;
      if (home < m) {
        for (let j = 0; j < m; j++) {
          for (const side of potential.opposite ? [1, -1] : [1]) {
            if (apart(i, engine.protons, j, side) <= COINCIDENT)
              rate += 2 * engine.charges[j] * (side > 0 ? potential.cusp : potential.opposite);
          }
        }
      }
      for (const l of units)
        if (l !== i)
          rate -= 2 * c[l] * (sides[l] === sides[i] ? potential.cusp : potential.opposite);
      if (aligned) rate /= length(x, i); // the slope is in the angle
      rates[i] = rate;
      if (cusped && (home < m || units.length > 1) && rate !== 0 && c[i] !== 0)
        heldBy[i] = home < m ? home : -2 - (units.find((l) => l !== i) ?? 0);
    }
  }
  // Each of several units of one place may be held, and all of them together not.
  const unsure = cusped && [...groups.values()].some((units) => units.length > 1);
  return {
    x,
    sides,
    heldBy,
    rates,
    unsure,
    groups: [...groups.values()].map((units) => ({
      units,
      anchored: place[units[0]] < m && units.some((i) => heldBy[i] !== -1),
    })),
  };
}

/** The smallest eigenvalue over the basis, and its direction.
 * @param {import("./engine.js").Engine} engine @param {Float64Array} H @param {Float64Array} x
 * @param {Float64Array} c @param {Float64Array[]} basis @param {boolean} both */
function softest(engine, H, x, c, basis, both) {
  const n = basis.length;
  const d = engine.dim;
  const size = c.length * (d + 1);
  if (!n) return { value: Infinity, direction: null };
  const small = new Float64Array(n * n);
  let largest = 0;
  const columns = basis.map((column) => {
    const product = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      if (column[i] === 0) continue;
      for (let j = 0; j < size; j++) product[j] += H[j * size + i] * column[i];
    }
    return product;
  });
  for (let a = 0; a < n; a++) {
    for (let b = 0; b <= a; b++) {
      let sum = 0;
      for (let i = 0; i < size; i++) sum += basis[b][i] * columns[a][i];
      small[a * n + b] = small[b * n + a] = sum;
      largest = Math.max(largest, Math.abs(sum));
    }
  }
  if (both && engine.potential.kind === "homogeneous") {
    // Along x_i -> t x_i, c_i -> c_i / t^n nothing changes: taken out, and made stiff.
    const N = engine.potential.degree;
    for (let i = 0; i < c.length; i++) {
      const orbit = basis.map((column) => {
        let part = -N * c[i] * column[c.length * d + i];
        for (let m = 0; m < d; m++) part += x[i * d + m] * column[i * d + m];
        return part;
      });
      const length = Math.hypot(...orbit);
      if (!length) continue;
      const o = orbit.map((part) => part / length);
      const pushed = o.map((_, a) => o.reduce((sum, part, b) => sum + small[a * n + b] * part, 0));
      const along = o.reduce((sum, part, a) => sum + part * pushed[a], 0);
      for (let a = 0; a < n; a++)
        for (let b = 0; b < n; b++)
          small[a * n + b] +=
            (along + 10 * largest) * o[a] * o[b] - o[a] * pushed[b] - pushed[a] * o[b];
    }
  }
  const { values, vectors } = eigen(small, n);
  const positions = new Float64Array(c.length * d);
  const weights = new Float64Array(c.length);
  for (let a = 0; a < n; a++) {
    const part = vectors[a * n];
    for (let i = 0; i < positions.length; i++) positions[i] += part * basis[a][i];
    for (let i = 0; i < weights.length; i++) weights[i] += part * basis[a][positions.length + i];
  }
  return { value: values[0], direction: { positions, weights } };
}

/** s min(1, s) Phi: s the teacher's largest weight, Phi the largest Phi(w, w).
 * @param {import("./engine.js").Engine} engine */
function scaleOf(engine) {
  const s = Math.max(...engine.charges.map(Math.abs));
  let power = 0;
  for (let j = 0; j < engine.charges.length; j++)
    power = Math.max(power, Math.abs(engine.potential.alone(engine.protons, j, false)));
  const known = s > 0 && power > 0 && !engine.potential.unbounded;
  return known ? s * Math.min(1, s) * power : 1;
}

/** The verdict and its words. @param {import("./engine.js").Engine} engine @param {Float64Array} x
 * @param {Float64Array} c @param {Omit<Seen, "kind" | "words" | "theorems">} seen
 * @param {{repelled: number, loose: number, free: boolean, moving: boolean, unsure: boolean}} cusps */
function say(engine, x, c, seen, { repelled, loose, free, moving, unsure }) {
  const bound = seen.heldBy.filter((j) => j !== -1).length;
  if (!c.length) return { kind: "empty", words: "no electrons: add one with a double click" };
  if (!Number.isFinite(seen.loss))
    return { kind: "inconclusive", words: "the energy is infinite: two charges are in one place" };
  const zero = isZero(engine, x, c, seen.loss);
  if (zero)
    return {
      kind: bound ? "cusp-minimum" : "minimum",
      words: `global minimum: the loss is 0 to rounding, and no loss is less${bound ? `; ${held(bound)}` : ""}`,
    };
  if (seen.gradientNorm > seen.tolerance)
    return {
      kind: "not-critical",
      words: `not at rest: the gradient is ${short(seen.gradientNorm)}${bound ? `; ${held(bound)}` : ""}`,
    };
  if (repelled >= 0)
    return {
      kind: "strict-saddle",
      words: `strict saddle: electron ${repelled + 1} sits on a cusp that repels it, and falls in every direction`,
    };
  const { eigenvalue, margin, tolerance, direction } = seen;
  if (eigenvalue < -tolerance) {
    const d = engine.dim;
    const parts = Array.from(c, (_, i) =>
      Math.hypot(...(direction?.positions.subarray(i * d, (i + 1) * d) ?? [])),
    );
    const most = parts.indexOf(Math.max(...parts));
    const who =
      parts.filter((part) => part > 0.3 * parts[most]).length > 1
        ? "these electrons can fall together along the arrows"
        : `electron ${most + 1} can fall this way`;
    return {
      kind: "strict-saddle",
      words: `strict saddle: ${parts[most] > 0.1 ? who : "a change of weights goes down"} (eigenvalue ${short(eigenvalue)})`,
    };
  }
  if (unsure)
    return {
      kind: "inconclusive",
      words: "at rest, but several electrons share a place: ask Python whether they hold together",
    };
  if (margin !== null && margin <= HELD)
    return {
      kind: "degenerate",
      words: `at the edge: electron ${loose + 1} is held by nothing to spare`,
    };
  if (!(eigenvalue > tolerance) && (free || !moving))
    return {
      kind: "degenerate",
      words: `degenerate: the smallest eigenvalue is 0 to ${short(tolerance)}, and decides nothing`,
    };
  if (bound)
    return {
      kind: "cusp-minimum",
      words: `cusp-minimum: ${bound === c.length ? "every electron is" : held(bound) + ","} held with margin ${short(margin ?? 0)}${Number.isFinite(eigenvalue) ? `, eigenvalue ${short(eigenvalue)}` : ""}${engine.bare ? "" : `; the loss is ${short(seen.loss)}`}`,
    };
  return {
    kind: "minimum",
    words: `local minimum: the smallest eigenvalue is ${short(eigenvalue)}; the loss is ${short(seen.loss)}`,
  };
}

/** Whether a loss is 0 to rounding. @param {import("./engine.js").Engine} engine
 * @param {Float64Array} x @param {Float64Array} c @param {number} loss */
function isZero(engine, x, c, loss) {
  return !engine.bare && Math.abs(loss) <= ROUNDING * sizeOf(engine, x, c);
}

/** @param {number} count */
const held = (count) => (count === 1 ? "one electron is bound" : `${count} electrons are bound`);

/** (sum_i |c_i| Phi_ii^(1/2) + the same of b)^2. @param {import("./engine.js").Engine} engine
 * @param {Float64Array} x @param {Float64Array} c */
function sizeOf(engine, x, c) {
  const { potential, charges, protons } = engine;
  let total = 0;
  c.forEach((weight, i) => {
    total += Math.abs(weight) * Math.sqrt(Math.abs(potential.alone(x, i, false)));
  });
  charges.forEach((weight, j) => {
    total += Math.abs(weight) * Math.sqrt(Math.abs(potential.alone(protons, j, false)));
  });
  return total * total;
}
