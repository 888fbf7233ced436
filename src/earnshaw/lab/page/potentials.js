// Tables of potentials, made by Python (earnshaw/lab/tables.py), and Phi of two units from them.
//
// A table is piecewise Chebyshev in one variable t: the distance r, or the angle between two
// vectors. Its functions are f, f' (or f'/t, of an angle f'/sin t, where there is no cusp) and f''.
// Of dot-product units that are not homogeneous it is the activation itself (pieces.js,
// series.js; with corners sectors.js).

import { Pieces } from "./pieces.js";
import { Sectors } from "./sectors.js";
import { Series } from "./series.js";

/**
 * @typedef {import("./pieces.js").PackedPieces} PackedPieces
 * @typedef {{name: string, kind: string, on: string, degree: number, cusp: number, opposite: number,
 *   divided: boolean, self: number | null, unbounded: boolean, error: number,
 *   regions: {character: string, low: number, high: number | null, eigenvalue: number | null}[],
 *   pieces: PackedPieces, derivatives?: PackedPieces, kinks?: number[]}} PackedTable
 */

/**
 * What a pair of units does to each other: value, gradient in x, and with `pair` (hessian = true)
 * the second derivatives in (x, x) and (x, y), all in the coordinates of R^d. On the sphere these
 * are Riemannian: tangent at x, and at y.
 */
export class Potential {
  /** @param {PackedTable} table @param {number} dim */
  constructor(table, dim) {
    this.table = table;
    this.dim = dim;
    this.kind = table.kind;
    this.degree = table.degree;
    this.cusp = table.cusp;
    this.opposite = table.opposite;
    this.unbounded = table.unbounded;
    this.own = table.self ?? 0;
    this.sphere = table.kind === "zonal";
    this.pieces = new Pieces(table.pieces);
    const dot = table.kind === "dot";
    this.series = dot && !table.kinks ? new Series(table) : null;
    this.sectors = dot && table.kinks ? new Sectors(table) : null;
    this.sized = table.kind === "dot" || table.kind === "homogeneous"; // Phi(x, x) depends on x
    this.ended = (table.kind === "radial" || table.kind === "product") && this.pieces.high < 64;
    this.value = 0;
    this.gradient = new Float64Array(dim);
    this.second = new Float64Array(dim * dim); // in x, x
    this.mixed = new Float64Array(dim * dim); // in x, y: rows are those of x
    this.a = new Float64Array(dim); // the scratch of the angle
    this.b = new Float64Array(dim);
    this.u = new Float64Array(dim);
    this.v = new Float64Array(dim);
    this.factors = new Float64Array(3 * dim);
  }

  /** Phi, its gradient in x and if asked its second derivatives, for x at X[i], y at Y[j].
   * @param {ArrayLike<number>} X @param {number} i @param {ArrayLike<number>} Y @param {number} j
   * @param {boolean} hessian */
  pair(X, i, Y, j, hessian) {
    const d = this.dim;
    if (this.kind === "radial") this.radial(X, i * d, Y, j * d, hessian);
    else if (this.kind === "product") this.product(X, i * d, Y, j * d, hessian);
    else if (this.series) this.dotted(this.series, X, i * d, Y, j * d, hessian);
    else if (this.sectors) this.sectors.pair(this, X, i * d, Y, j * d, hessian);
    else this.angular(X, i * d, Y, j * d, hessian);
    return this.value;
  }

  /** @param {ArrayLike<number>} X @param {number} p @param {ArrayLike<number>} Y @param {number} q
   * @param {boolean} hessian */
  radial(X, p, Y, q, hessian) {
    const d = this.dim;
    const g = this.gradient;
    let square = 0;
    for (let n = 0; n < d; n++) {
      g[n] = X[p + n] - Y[q + n];
      square += g[n] * g[n];
    }
    const r = Math.sqrt(square);
    if (this.ended && r >= this.pieces.high) {
      this.nothing();
      return;
    }
    const f = this.pieces.at(r);
    this.value = f[0];
    // At a cusp the pair has no force and no stiffness: the mean over all directions of approach.
    const over = this.table.divided ? f[1] : r > 0 ? f[1] / r : 0;
    if (hessian) {
      const bend = r > 0 ? (f[2] - over) / square : 0;
      const H = this.second;
      const M = this.mixed;
      for (let n = 0; n < d; n++) {
        for (let m = 0; m < d; m++) {
          const h = bend * g[n] * g[m] + (n === m ? over : 0);
          H[n * d + m] = h;
          M[n * d + m] = -h;
        }
      }
    }
    for (let n = 0; n < d; n++) g[n] *= over;
  }

  nothing() {
    this.value = 0;
    this.gradient.fill(0);
    this.second.fill(0);
    this.mixed.fill(0);
  }

  /** prod_n f(|x_n - y_n|), as `radial` in its arguments.
   * @param {ArrayLike<number>} X @param {number} p @param {ArrayLike<number>} Y @param {number} q
   * @param {boolean} hessian */
  product(X, p, Y, q, hessian) {
    const d = this.dim;
    const F = this.factors;
    let value = 1;
    for (let n = 0; n < d; n++) {
      const gap = X[p + n] - Y[q + n];
      const size = Math.abs(gap);
      const f = this.pieces.at(size);
      const ended = this.ended && size >= this.pieces.high;
      F[3 * n] = ended ? 0 : f[0];
      F[3 * n + 1] = ended ? 0 : this.table.divided ? f[1] * gap : f[1] * Math.sign(gap);
      // On a ridge, where a coordinate agrees, the mean of both sides: no force and no stiffness.
      F[3 * n + 2] = ended || (gap === 0 && !this.table.divided) ? 0 : f[2];
      value *= F[3 * n];
    }
    this.value = value;
    for (let n = 0; n < d; n++) {
      let rest = F[3 * n + 1];
      for (let m = 0; m < d; m++) if (m !== n) rest *= F[3 * m];
      this.gradient[n] = rest;
    }
    if (!hessian) return;
    for (let n = 0; n < d; n++) {
      for (let m = 0; m < d; m++) {
        let h = 1;
        for (let l = 0; l < d; l++) {
          const order = (l === n ? 1 : 0) + (l === m ? 1 : 0);
          h *= F[3 * l + order];
        }
        this.second[n * d + m] = h;
        this.mixed[n * d + m] = -h;
      }
    }
  }

  /** f of the angle between x and y, times |x|^n |y|^n for homogeneous units.
   *
   * With rho the cosine, s the sine, P = f'/sin t, u = y - rho x and v = x - rho y for unit vectors:
   * the gradient is -P u, the Hessian bend u u^T + P rho (1 - x x^T), the mixed part
   * bend u v^T - P (1 - x x^T)(1 - y y^T), bend = (f'' - P rho)/s^2.
   * @param {ArrayLike<number>} X @param {number} p @param {ArrayLike<number>} Y @param {number} q
   * @param {boolean} hessian */
  angular(X, p, Y, q, hessian) {
    const d = this.dim;
    const { a, b, u, v } = this;
    let la = 1;
    let lb = 1;
    if (this.kind === "homogeneous") {
      la = 0;
      lb = 0;
      for (let n = 0; n < d; n++) {
        la += X[p + n] * X[p + n];
        lb += Y[q + n] * Y[q + n];
      }
      la = Math.sqrt(la);
      lb = Math.sqrt(lb);
      if (la === 0 || lb === 0) {
        this.nothing();
        return;
      }
    }
    let minus = 0;
    let plus = 0;
    for (let n = 0; n < d; n++) {
      a[n] = X[p + n] / la;
      b[n] = Y[q + n] / lb;
      minus += (a[n] - b[n]) * (a[n] - b[n]);
      plus += (a[n] + b[n]) * (a[n] + b[n]);
    }
    const t = 2 * Math.atan2(Math.sqrt(minus), Math.sqrt(plus));
    const sine = Math.sqrt(minus * plus) / 2;
    const rho = minus < plus ? 1 - minus / 2 : plus / 2 - 1;
    const f = this.pieces.at(t);
    const F = f[0];
    const P = this.table.divided ? f[1] : sine > 0 ? f[1] / sine : 0;
    const near = minus < plus;
    for (let n = 0; n < d; n++) {
      // y - rho x, from the difference (or the sum) of the vectors: small where it is small
      u[n] = near ? b[n] - a[n] + (minus / 2) * a[n] : b[n] + a[n] - (plus / 2) * a[n];
      v[n] = near ? a[n] - b[n] + (minus / 2) * b[n] : a[n] + b[n] - (plus / 2) * b[n];
    }
    const N = this.degree;
    const plain = this.sphere; // on it lengths are 1, and derivatives tangent
    const scale = N === 0 ? 1 : la ** N * lb ** N;
    this.value = scale * F;
    const first = plain ? 1 : scale / la;
    for (let n = 0; n < d; n++) this.gradient[n] = first * (N * F * a[n] - P * u[n]);
    if (!hessian) return;
    const touching = sine === 0 && !this.table.divided;
    const bend = sine > 0 ? (f[2] - P * rho) / (sine * sine) : 0;
    const H = this.second;
    const M = this.mixed;
    const own = plain ? 1 : scale / (la * la);
    const cross = plain ? 1 : scale / (la * lb);
    for (let n = 0; n < d; n++) {
      for (let m = 0; m < d; m++) {
        const one = n === m ? 1 : 0;
        const tangent = one - a[n] * a[m];
        // (1 - x x^T)(1 - y y^T)
        const both = one - a[n] * a[m] - b[n] * b[m] + rho * a[n] * b[m];
        let h = bend * u[n] * u[m] + P * rho * tangent;
        let g = bend * u[n] * v[m] - P * both;
        if (touching) h = g = 0;
        if (!plain) {
          h += N * (N - 1) * F * a[n] * a[m] + N * F * tangent;
          h -= (N - 1) * P * (a[n] * u[m] + u[n] * a[m]);
          g += N * N * F * a[n] * b[m] - N * P * (a[n] * v[m] + u[n] * b[m]);
        }
        H[n * d + m] = own * h;
        M[n * d + m] = cross * g;
      }
    }
  }

  /** E[s(X.x) s(X.y)]. With [i j] = E[s^(i)(X.x) s^(j)(X.y)] the gradient in x is
   * [20] x + [11] y; its derivatives in x and in y follow by the same rule.
   * @param {Series} series @param {ArrayLike<number>} X @param {number} p
   * @param {ArrayLike<number>} Y @param {number} q @param {boolean} hessian */
  dotted(series, X, p, Y, q, hessian) {
    const d = this.dim;
    let [xx, yy, xy] = [0, 0, 0];
    for (let n = 0; n < d; n++) {
      xx += X[p + n] * X[p + n];
      yy += Y[q + n] * Y[q + n];
      xy += X[p + n] * Y[q + n];
    }
    const size = Math.sqrt(xx) * Math.sqrt(yy);
    const rho = size > 0 ? Math.max(-1, Math.min(1, xy / size)) : 0;
    const [a, b] = [series.of(Math.sqrt(xx)), series.of(Math.sqrt(yy))];
    const count = Math.min(a.count, b.count);
    const [A, B] = [a.orders, b.orders];
    this.value = Series.sum(A[0], B[0], count, rho);
    const own = Series.sum(A[2], B[0], count, rho);
    const cross = Series.sum(A[1], B[1], count, rho);
    for (let n = 0; n < d; n++) this.gradient[n] = own * X[p + n] + cross * Y[q + n];
    if (!hessian) return;
    const e40 = Series.sum(A[4], B[0], count, rho);
    const e31 = Series.sum(A[3], B[1], count, rho);
    const e22 = Series.sum(A[2], B[2], count, rho);
    const e13 = Series.sum(A[1], B[3], count, rho);
    for (let n = 0; n < d; n++) {
      for (let m = 0; m < d; m++) {
        const one = n === m ? 1 : 0;
        const [xn, yn, xm, ym] = [X[p + n], Y[q + n], X[p + m], Y[q + m]];
        this.second[n * d + m] =
          own * one + e40 * xn * xm + e31 * (xn * ym + yn * xm) + e22 * yn * ym;
        this.mixed[n * d + m] =
          cross * one + e22 * xn * ym + e31 * xn * xm + e13 * yn * ym + e22 * yn * xm;
      }
    }
  }

  /** Phi(x, x), its gradient and second derivative in x with both arguments moving.
   * @param {ArrayLike<number>} X @param {number} i @param {boolean} hessian */
  alone(X, i, hessian) {
    this.nothing();
    this.value = this.own;
    if (!this.sized) return this.value;
    const d = this.dim;
    let square = 0;
    for (let n = 0; n < d; n++) square += X[i * d + n] ** 2;
    const kept = this.series ?? this.sectors;
    if (kept) {
      const { own, slope, bend } = kept.of(Math.sqrt(square));
      this.value = own;
      for (let n = 0; n < d; n++) {
        this.gradient[n] = slope * X[i * d + n];
        for (let m = 0; m < d; m++) {
          const ray = square > 0 ? (X[i * d + n] * X[i * d + m]) / square : 0;
          this.second[n * d + m] = slope * ((n === m ? 1 : 0) - ray) + bend * ray;
        }
      }
      return this.value;
    }
    const N = this.degree;
    this.value = this.own * square ** N;
    if (N === 0) return this.value;
    const slope = 2 * N * this.own * (N === 1 ? 1 : square ** (N - 1));
    for (let n = 0; n < d; n++) this.gradient[n] = slope * X[i * d + n];
    if (hessian) {
      for (let n = 0; n < d; n++) {
        for (let m = 0; m < d; m++) {
          const ray = square > 0 ? ((2 * N - 2) * X[i * d + n] * X[i * d + m]) / square : 0;
          this.second[n * d + m] = slope * ((n === m ? 1 : 0) + ray);
        }
      }
    }
    return this.value;
  }
}
