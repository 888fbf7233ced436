// Dot-product units s(X.x) whose activation has corners: Phi(x, y) = E[s(X.x) s(X.y)] by quadrature.
//
// A series in Hermite's polynomials converges too slowly here. Only the part of X in the plane of x
// and y matters; there, in polar coordinates X = R (cos h, sin h) with x along the first axis and t
// the angle to y,
//
//   Phi = (1/2 pi) int dh int R exp(-R^2/2) s(r R cos h) s(q R cos(h - t)) dR.
//
// Both arguments keep their signs between the angles at which one of them is 0, and corners at other
// places c are met at R = c/(r cos h) and c/(q cos(h - t)): cut there, and where the two cross, every
// panel is smooth, and Gauss and Legendre's rule gives its digits. The gradient in x is
// E[X s'(X.x) s(X.y)], the mixed part E[X X^T s' s'], and the Hessian E[X X^T s'' s] with a line for
// each corner, along which s'' is a delta times the jump of s'. s itself must not jump.

import { Pieces } from "./pieces.js";
import { gauss } from "./series.js";

const WIDTH = 1 / 8; // of a cell, on whose edges corners must lie
const DEGREE = 10; // of the polynomials of a cell
const KEPT = 300; // lengths whose own energy is kept
const END = 9; // R beyond which exp(-R^2/2) is 0
const FINE = [0, 0.06, 0.25, 0.75, 1.6, 2.8, 4.4, 6.4, END]; // distances from a corner
const LINE = gauss(10); // on a line

/** Panels of radii and of the parts of a sector. Where corners are at 0 only, the ends of a sector
 * and small radii need care; others are cut, and the angle has more to do. */
const PLAIN = {
  radii: FINE,
  along: gauss(8),
  turns: [0, 0.02, 0.08, 0.22, 0.5, 0.78, 0.92, 0.98, 1],
  around: gauss(8),
};
const CUT = {
  radii: [0, 1.5, 3.5, 6, END],
  along: gauss(9),
  turns: [0, 0.02, 0.08, 0.22, 0.5, 0.78, 0.92, 0.98, 1],
  around: gauss(13),
};

/** s, s' and s'' as polynomials on cells of one width: quicker than `Pieces`. */
class Cells {
  /** @param {Pieces} pieces of s, s' and s'' */
  constructor(pieces) {
    this.low = pieces.low;
    this.high = pieces.high;
    this.count = Math.round((this.high - this.low) / WIDTH);
    const size = DEGREE + 1;
    this.rows = new Float64Array(this.count * 3 * size);
    // Newton's divided differences at Chebyshev's nodes of [0, 1], then powers.
    const nodes = Array.from(
      { length: size },
      (_, i) => (1 - Math.cos(((i + 0.5) * Math.PI) / size)) / 2,
    );
    const values = [0, 1, 2].map(() => new Float64Array(size));
    for (let cell = 0; cell < this.count; cell++) {
      for (let i = 0; i < size; i++) {
        const f = pieces.at(this.low + (cell + nodes[i]) * WIDTH);
        for (let n = 0; n < 3; n++) values[n][i] = f[n];
      }
      for (let n = 0; n < 3; n++) this.rows.set(powers(nodes, values[n]), (cell * 3 + n) * size);
    }
    this.s = 0;
    this.first = 0;
    this.second = 0;
  }

  /** s, s' and, if asked, s'' at a point; beyond the ends, along the tangent.
   * @param {number} at @param {boolean} hessian */
  at(at, hessian) {
    let x = at;
    if (x < this.low) x = this.low;
    else if (x > this.high) x = this.high;
    const place = (x - this.low) / WIDTH;
    let cell = place | 0;
    if (cell >= this.count) cell = this.count - 1;
    const u = place - cell;
    const rows = this.rows;
    const from = cell * 3 * (DEGREE + 1);
    let s = 0;
    let first = 0;
    for (let n = DEGREE; n >= 0; n--) {
      s = s * u + rows[from + n];
      first = first * u + rows[from + DEGREE + 1 + n];
    }
    this.s = s + first * (at - x);
    this.first = first;
    if (!hessian) return;
    let second = 0;
    for (let n = DEGREE; n >= 0; n--) second = second * u + rows[from + 2 * (DEGREE + 1) + n];
    this.second = x === at ? second : 0;
  }

  /** The jump of s' at a corner. @param {number} corner */
  jump(corner) {
    const size = DEGREE + 1;
    const cell = Math.round((corner - this.low) / WIDTH);
    let left = 0;
    for (let n = 0; n < size; n++) left += this.rows[((cell - 1) * 3 + 1) * size + n];
    return this.rows[(cell * 3 + 1) * size] - left;
  }
}

/** Coefficients of 1, u, u^2, ... of the polynomial through values at nodes.
 * @param {number[]} nodes @param {Float64Array} values */
function powers(nodes, values) {
  const size = nodes.length;
  const slopes = Float64Array.from(values);
  for (let order = 1; order < size; order++)
    for (let i = size - 1; i >= order; i--)
      slopes[i] = (slopes[i] - slopes[i - 1]) / (nodes[i] - nodes[i - order]);
  const found = new Float64Array(size);
  for (let i = size - 1; i >= 0; i--) {
    for (let n = size - 1; n > 0; n--) found[n] = found[n - 1] - nodes[i] * found[n];
    found[0] = slopes[i] - nodes[i] * found[0];
  }
  return found;
}

const density = (/** @type {number} */ z) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

/** Panels from -END to END that are finer near 0 and near some points. @param {number[]} points */
function cuts(points) {
  const edges = [-END, END];
  for (const point of [0, ...points])
    for (const step of FINE) edges.push(point - step, point + step);
  return [...new Set(edges)].filter((z) => z >= -END && z <= END).sort((a, b) => a - b);
}

export class Sectors {
  /** @param {import("./potentials.js").PackedTable} table */
  constructor(table) {
    this.cells = new Cells(new Pieces(table.pieces));
    this.corners = table.kinks ?? [];
    this.jumps = this.corners.map((corner) => this.cells.jump(corner));
    this.aside = this.corners.filter((corner) => corner !== 0);
    this.rule = this.aside.length ? CUT : PLAIN;
    /** radii and their weights, as far as no corner cuts them */
    this.radii = [new Float64Array(0), new Float64Array(0)];
    this.between(this.rule.radii);
    /** @type {Map<number, {own: number, slope: number, bend: number}>} */
    this.kept = new Map();
    /** the sums of the last pair: value, gradient (2), mixed (11, 12, 22, out of the plane), second (the same) */
    this.sums = new Float64Array(11);
  }

  /** h(r) = E[s(r Z)^2], h'/r and h''. @param {number} r */
  of(r) {
    const known = this.kept.get(r);
    if (known) return known;
    if (this.kept.size >= KEPT) this.kept.clear();
    const { cells } = this;
    const edges = cuts(r > 0 ? this.aside.map((corner) => corner / r) : []);
    let [own, first, bend] = [0, 0, 0];
    for (let p = 0; p + 1 < edges.length; p++) {
      const half = (edges[p + 1] - edges[p]) / 2;
      for (let i = 0; i < LINE.nodes.length; i++) {
        const z = edges[p] + half * (1 + LINE.nodes[i]);
        const weight = half * LINE.weights[i] * density(z);
        cells.at(r * z, true);
        own += weight * cells.s * cells.s;
        first += 2 * weight * z * cells.s * cells.first;
        bend += 2 * weight * z * z * (cells.first * cells.first + cells.s * cells.second);
      }
    }
    if (r > 0)
      this.corners.forEach((corner, n) => {
        cells.at(corner, false);
        bend += (2 * this.jumps[n] * cells.s * (corner / r) ** 2 * density(corner / r)) / r;
      });
    const found = { own, slope: r > 0 ? first / r : 0, bend };
    this.kept.set(r, found);
    return found;
  }

  /** Radii R and weights of int R exp(-R^2/2) ... dR on panels. @param {number[]} edges */
  between(edges) {
    const { nodes, weights } = this.rule.along;
    const count = nodes.length;
    const size = (edges.length - 1) * count;
    if (this.radii[0].length < size) this.radii = [new Float64Array(size), new Float64Array(size)];
    const [radii, parts] = this.radii;
    for (let p = 0, m = 0; p + 1 < edges.length; p++) {
      const half = (edges[p + 1] - edges[p]) / 2;
      for (let i = 0; i < count; i++, m++) {
        const R = edges[p] + half * (1 + nodes[i]);
        radii[m] = R;
        parts[m] = half * weights[i] * R * Math.exp((-R * R) / 2);
      }
    }
  }

  /** The sums of two units of lengths r and q at an angle t. @param {number} r @param {number} q
   * @param {number} t @param {boolean} hessian */
  sum(r, q, t, hessian) {
    const { sums } = this;
    const { turns, around } = this.rule;
    const { nodes, weights } = around;
    sums.fill(0);
    // The half circle from x's right angle, in the order in which the cuts come.
    const start = Math.PI / 2;
    const edges = [start, start + t, start + Math.PI];
    for (const one of this.aside) {
      for (const other of this.aside) {
        const up = other * r - one * q * Math.cos(t);
        const along = one * q * Math.sin(t);
        if (up === 0 && along === 0) continue;
        let crossing = Math.atan2(up, along);
        while (crossing < start) crossing += Math.PI;
        while (crossing >= start + Math.PI) crossing -= Math.PI;
        edges.push(crossing);
      }
    }
    edges.sort((a, b) => a - b);
    for (let e = 0; e + 1 < edges.length; e++) {
      const width = edges[e + 1] - edges[e];
      if (width < 1e-14) continue;
      for (let p = 0; p + 1 < turns.length; p++) {
        const half = (width * (turns[p + 1] - turns[p])) / 2;
        const middle = edges[e] + (width * (turns[p + 1] + turns[p])) / 2;
        for (let i = 0; i < nodes.length; i++)
          this.ray(r, q, t, middle + half * nodes[i], half * weights[i], hessian);
      }
    }
    if (hessian && r > 0) this.lines(r, q, t);
  }

  /** Both directions of one angle. @param {number} r @param {number} q @param {number} t
   * @param {number} angle @param {number} part @param {boolean} hessian */
  ray(r, q, t, angle, part, hessian) {
    const { cells, sums, aside } = this;
    const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
    const [a, b] = [r * cosine, q * Math.cos(angle - t)];
    const { radii: panels, along } = this.rule;
    let count = (panels.length - 1) * along.nodes.length;
    if (aside.length) {
      const edges = [...panels];
      for (const corner of aside) {
        for (const slope of [a, b]) {
          const at = Math.abs(corner / slope); // in one of both directions
          if (at < END && !edges.includes(at)) edges.push(at);
        }
      }
      edges.sort((one, other) => one - other);
      this.between(edges);
      count = (edges.length - 1) * along.nodes.length;
    }
    const [radii, parts] = this.radii;
    let [v, g, m, o, h, w] = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < count; i++) {
      const R = radii[i];
      for (let side = 1; side >= -1; side -= 2) {
        const weight = parts[i];
        cells.at(side * R * a, hessian);
        const s = cells.s;
        const s1 = cells.first;
        const s2 = cells.second;
        cells.at(side * R * b, false);
        v += weight * s * cells.s;
        g += weight * side * R * s1 * cells.s;
        if (!hessian) continue;
        const both = weight * s1 * cells.first;
        const bend = weight * s2 * cells.s;
        m += both * R * R;
        o += both;
        h += bend * R * R;
        w += bend;
      }
    }
    part /= 2 * Math.PI;
    sums[0] += part * v;
    sums[1] += part * g * cosine;
    sums[2] += part * g * sine;
    if (!hessian) return;
    sums[3] += part * m * cosine * cosine;
    sums[4] += part * m * cosine * sine;
    sums[5] += part * m * sine * sine;
    sums[6] += part * o;
    sums[7] += part * h * cosine * cosine;
    sums[8] += part * h * cosine * sine;
    sums[9] += part * h * sine * sine;
    sums[10] += part * w;
  }

  /** What the corners of s(X.x) add to the second derivatives. @param {number} r @param {number} q
   * @param {number} t */
  lines(r, q, t) {
    const { cells, sums } = this;
    const [rho, sine] = [Math.cos(t), Math.sin(t)];
    this.corners.forEach((corner, n) => {
      const u = corner / r;
      const height = (this.jumps[n] * density(u)) / r;
      if (Math.abs(height) < 1e-300) return;
      const met = q * sine > 0 ? this.corners.map((c) => (c / q - rho * u) / sine) : [];
      const edges = cuts(met);
      for (let p = 0; p + 1 < edges.length; p++) {
        const half = (edges[p + 1] - edges[p]) / 2;
        for (let i = 0; i < LINE.nodes.length; i++) {
          const z = edges[p] + half * (1 + LINE.nodes[i]);
          cells.at(q * (rho * u + sine * z), false);
          const weight = height * half * LINE.weights[i] * density(z) * cells.s;
          sums[7] += weight * u * u;
          sums[8] += weight * u * z;
          sums[9] += weight * z * z;
          sums[10] += weight;
        }
      }
    });
  }

  /** Phi of x at X[p...] and y at Y[q...] with its derivatives, into a potential's arrays.
   * @param {{dim: number, value: number, gradient: Float64Array, second: Float64Array,
   *   mixed: Float64Array, a: Float64Array, b: Float64Array}} out
   * @param {ArrayLike<number>} X @param {number} p @param {ArrayLike<number>} Y @param {number} q
   * @param {boolean} hessian */
  pair(out, X, p, Y, q, hessian) {
    const { dim: d, a, b } = out;
    const { sums } = this;
    let [r, l] = [0, 0];
    for (let n = 0; n < d; n++) {
      r += X[p + n] * X[p + n];
      l += Y[q + n] * Y[q + n];
    }
    r = Math.sqrt(r);
    l = Math.sqrt(l);
    let [minus, plus] = [0, 0];
    for (let n = 0; n < d; n++) {
      const [x, y] = [X[p + n], Y[q + n]];
      const axis = n === 0 ? 1 : 0;
      a[n] = r > 0 ? x / r : l > 0 ? y / l : axis;
      b[n] = l > 0 ? y / l : a[n];
      minus += (a[n] - b[n]) ** 2;
      plus += (a[n] + b[n]) ** 2;
    }
    const t = 2 * Math.atan2(Math.sqrt(minus), Math.sqrt(plus));
    const sine = Math.sqrt(minus * plus) / 2;
    for (let n = 0; n < d; n++) {
      const across =
        minus < plus ? b[n] - a[n] + (minus / 2) * a[n] : b[n] + a[n] - (plus / 2) * a[n];
      b[n] = sine > 0 ? across / sine : 0;
    }
    this.sum(r, l, t, hessian);
    out.value = sums[0];
    for (let n = 0; n < d; n++) out.gradient[n] = sums[1] * a[n] + sums[2] * b[n];
    if (!hessian) return;
    for (const [into, at] of /** @type {[Float64Array, number][]} */ ([
      [out.mixed, 3],
      [out.second, 7],
    ])) {
      const [e11, e12, e22, e0] = sums.subarray(at, at + 4);
      for (let n = 0; n < d; n++) {
        for (let m = 0; m < d; m++) {
          const rest = (n === m ? 1 : 0) - a[n] * a[m] - b[n] * b[m];
          into[n * d + m] =
            e11 * a[n] * a[m] + e12 * (a[n] * b[m] + b[n] * a[m]) + e22 * b[n] * b[m] + e0 * rest;
        }
      }
    }
  }
}
