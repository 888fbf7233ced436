// Dot-product units s(X.x) of any length: Phi(x, y) = E[s(X.x) s(X.y)] as a series.
//
// With r = |x|, q = |y|, rho the cosine between them, h_n Hermite's polynomials normalised to
// E[h_n(Z)^2] = 1 and a_n(r) = E[s(r Z) h_n(Z)],
//
//   Phi = sum_n a_n(r) a_n(q) rho^n,
//
// and any E[s^(i)(X.x) s^(j)(X.y)] is the same sum of the coefficients of the derivatives, which are
// a_n of s^(i): ((n + i)!/n!)^(1/2) a_{n+i}(r)/r^i. By Stein's identity the gradient and the second
// derivatives of Phi are put together from these (Potential.dotted). A unit's coefficients depend on
// its length alone: they are found once, by quadrature over z > 0 of the even and odd parts of s, and
// kept. Near r = 0, where dividing by r^i loses digits, by quadrature of the derivatives themselves.

import { Pieces } from "./pieces.js";

const ORDERS = 5; // s and four derivatives
const MOST = 800; // terms
const SMALL = 1e-11; // a coefficient below this part of the largest counts as the end
const QUIET = 10; // so many of them in a row do
const SHORT = 0.25; // a length at which derivatives are integrated, not divided
const KEPT = 300; // lengths whose coefficients are kept
const POINTS = 20; // of Gauss and Legendre on a panel
const PANELS = [0, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2]; // then every 1/2, to 12
const END = 12;

/** Nodes and weights of Gauss and Legendre on [-1, 1]. @param {number} n */
export function gauss(n) {
  const nodes = new Float64Array(n);
  const weights = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
    let slope = 0;
    for (let turn = 0; turn < 20; turn++) {
      let [now, last] = [1, 0];
      for (let k = 1; k <= n; k++)
        [now, last] = [((2 * k - 1) * x * now - (k - 1) * last) / k, now];
      slope = (n * (x * now - last)) / (x * x - 1);
      x -= now / slope;
    }
    nodes[i] = x;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
}

/** E[f(Z); Z > 0] = sum_m weights[m] f(points[m]), and rows of weights[m] h_n(points[m]). */
class Rule {
  constructor() {
    const edges = [...PANELS];
    for (let at = 1; at <= END; at += 0.5) edges.push(at);
    const { nodes, weights } = gauss(POINTS);
    this.count = (edges.length - 1) * POINTS;
    this.points = new Float64Array(this.count);
    this.weights = new Float64Array(this.count);
    for (let p = 0, m = 0; p + 1 < edges.length; p++) {
      const half = (edges[p + 1] - edges[p]) / 2;
      for (let i = 0; i < POINTS; i++, m++) {
        const z = edges[p] + half * (1 + nodes[i]);
        this.points[m] = z;
        this.weights[m] = (half * weights[i] * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
      }
    }
    /** @type {Float64Array[]} */
    this.rows = [this.weights, this.weights.map((w, m) => w * this.points[m])];
  }

  /** Row n. @param {number} n */
  row(n) {
    while (this.rows.length <= n) {
      const k = this.rows.length - 1;
      const [a, b] = [this.rows[k], this.rows[k - 1]];
      const [root, last] = [1 / Math.sqrt(k + 1), Math.sqrt(k)];
      this.rows.push(a.map((value, m) => (this.points[m] * value - last * b[m]) * root));
    }
    return this.rows[n];
  }
}

/** @type {Rule | null} one for all potentials, made when the first needs it */
let rule = null;

/**
 * @typedef {{orders: Float64Array[], count: number, own: number, slope: number, bend: number}} Coefficients
 *   orders[i][n] is a_n of s^(i), n < count; h = E[s(r Z)^2], h'/r and h''
 */

export class Series {
  /** @param {import("./potentials.js").PackedTable} table */
  constructor(table) {
    this.wide = new Pieces(table.pieces);
    // absent where there are corners, of which only `plain` is asked
    this.derivatives = table.derivatives ? new Pieces(table.derivatives) : this.wide;
    this.rule = rule ??= new Rule();
    this.even = new Float64Array(this.rule.count);
    this.odd = new Float64Array(this.rule.count);
    /** @type {Map<number, Coefficients>} */
    this.kept = new Map();
    /** @type {Map<number, Float64Array>} */
    this.pictured = new Map();
  }

  /** The coefficients of a unit of length r. @param {number} r @returns {Coefficients} */
  of(r) {
    const known = this.kept.get(r);
    if (known) return known;
    if (this.kept.size >= KEPT) this.kept.clear();
    const found = r < SHORT ? this.ofShort(r) : this.ofLong(r);
    this.kept.set(r, found);
    return found;
  }

  /** The first a_n of s itself, for pictures. @param {number} r @param {number} most */
  plain(r, most) {
    let found = this.pictured.get(r);
    if (!found) {
      if (this.pictured.size >= KEPT) this.pictured.clear();
      this.split(this.wide, 0, r);
      found = Float64Array.from(this.coefficients(most));
      this.pictured.set(r, found);
    }
    return found;
  }

  /** The even and odd parts at the nodes. @param {Pieces} pieces @param {number} f @param {number} r */
  split(pieces, f, r) {
    const { points, count } = this.rule;
    for (let m = 0; m < count; m++) {
      const right = pieces.at(r * points[m])[f];
      const left = pieces.at(-r * points[m])[f];
      this.even[m] = right + left;
      this.odd[m] = right - left;
    }
  }

  /** E[s(r Z) h_n(Z)] until they have ended, of the parts that `split` found. @param {number} most */
  coefficients(most) {
    const { count } = this.rule;
    const found = [];
    let largest = 0;
    let quiet = 0;
    for (let n = 0; n < most && quiet < QUIET; n++) {
      const row = this.rule.row(n);
      const part = n % 2 ? this.odd : this.even;
      let sum = 0;
      for (let m = 0; m < count; m++) sum += row[m] * part[m];
      found.push(sum);
      largest = Math.max(largest, Math.abs(sum));
      quiet = Math.abs(sum) <= SMALL * largest ? quiet + 1 : 0;
    }
    return found;
  }

  /** @param {number} r @returns {Coefficients} */
  ofLong(r) {
    this.split(this.wide, 0, r);
    const a = this.coefficients(MOST);
    const count = Math.max(1, a.length - ORDERS + 1);
    const orders = Array.from({ length: ORDERS }, (_, i) => {
      const row = new Float64Array(count);
      for (let n = 0; n < count; n++) {
        let factor = 1;
        for (let k = 1; k <= i; k++) factor *= n + k;
        row[n] = ((a[n + i] ?? 0) * Math.sqrt(factor)) / r ** i;
      }
      return row;
    });
    // h = E[s^2], r h' = E[(Z^2 - 1) s^2], r h' + r^2 h'' = E[(Z^4 - 4 Z^2 + 1) s^2]: by parts.
    let [own, first, second] = [0, 0, 0];
    for (let m = 0; m < this.rule.count; m++) {
      const square = (this.even[m] * this.even[m] + this.odd[m] * this.odd[m]) / 2;
      const z = this.rule.points[m] ** 2;
      const part = this.rule.weights[m] * square;
      own += part;
      first += (z - 1) * part;
      second += (z * z - 4 * z + 1) * part;
    }
    return { orders, count, own, slope: first / (r * r), bend: (second - first) / (r * r) };
  }

  /** @param {number} r @returns {Coefficients} */
  ofShort(r) {
    const orders = Array.from({ length: ORDERS }, (_, i) => {
      this.split(this.derivatives, i, r);
      return this.coefficients(MOST);
    });
    const count = Math.min(...orders.map((row) => row.length));
    const [s, s1, s2, s3, s4] = orders;
    let [own, slope, more] = [0, 0, 0];
    for (let n = 0; n < count; n++) {
      own += s[n] * s[n];
      slope += 2 * (s2[n] * s[n] + s1[n] * s1[n]);
      more += 2 * (s4[n] * s[n] + 4 * s3[n] * s1[n] + 3 * s2[n] * s2[n]);
    }
    return {
      orders: orders.map((row) => Float64Array.from(row)),
      count,
      own,
      slope,
      bend: slope + more * r * r,
    };
  }

  /** sum_n A_n B_n rho^n. @param {Float64Array} A @param {Float64Array} B @param {number} count
   * @param {number} rho */
  static sum(A, B, count, rho) {
    let total = 0;
    let power = 1;
    for (let n = 0; n < count && Math.abs(power) > 1e-18; n++) {
      total += A[n] * B[n] * power;
      power *= rho;
    }
    return total;
  }
}
