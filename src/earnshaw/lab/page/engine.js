// The loss E[(f - g)^2] of a student among a teacher's units, as an energy of charges:
//
//   L = sum_ij c_i c_j Phi(x_i, x_j) - 2 sum_ij c_i b_j Phi(x_i, w_j) + sum_ij b_i b_j Phi(w_i, w_j),
//
// with gradient and Hessian in float64. Where Phi is unbounded, without self-energies and the
// constant, as the library's objective "without-constants". Nothing here knows of the page.

import { Potential } from "./potentials.js";

/**
 * @typedef {{dim: number, protons: Float64Array, charges: Float64Array,
 *   electrons: Float64Array, weights: Float64Array}} Charges
 *   positions row by row, (m d) and (k d); `weights` in natural sign
 */

export class Engine {
  /** @param {import("./potentials.js").PackedTable} table @param {number} dim
   * @param {ArrayLike<number>} protons @param {ArrayLike<number>} charges */
  constructor(table, dim, protons, charges) {
    this.potential = new Potential(table, dim);
    this.dim = dim;
    this.sphere = table.on === "sphere";
    this.protons = Float64Array.from(protons);
    this.charges = Float64Array.from(charges);
    this.bare = table.unbounded;
    this.constant = this.bare ? 0 : this.teacherEnergy();
  }

  /** b.K b */
  teacherEnergy() {
    const m = this.charges.length;
    let total = 0;
    for (let i = 0; i < m; i++) {
      total += this.charges[i] ** 2 * this.potential.alone(this.protons, i, false);
      for (let j = 0; j < i; j++) {
        const value = this.potential.pair(this.protons, i, this.protons, j, false);
        total += 2 * this.charges[i] * this.charges[j] * value;
      }
    }
    return total;
  }

  /** L, and its gradient in positions (k d) and weights (k): tangent on the sphere.
   * @param {Float64Array} x @param {Float64Array} c
   * @returns {{energy: number, positions: Float64Array, weights: Float64Array}} */
  gradient(x, c) {
    const { potential, dim: d } = this;
    const k = c.length;
    const positions = new Float64Array(k * d);
    const weights = new Float64Array(k);
    let energy = this.constant;
    for (let i = 0; i < k; i++) {
      if (!this.bare) {
        const own = potential.alone(x, i, false);
        energy += c[i] * c[i] * own;
        weights[i] += 2 * c[i] * own;
        for (let n = 0; n < d; n++) positions[i * d + n] += c[i] * c[i] * potential.gradient[n];
      }
      for (let j = 0; j < i; j++) {
        const value = potential.pair(x, i, x, j, false);
        energy += 2 * c[i] * c[j] * value;
        weights[i] += 2 * c[j] * value;
        weights[j] += 2 * c[i] * value;
        const both = 2 * c[i] * c[j];
        for (let n = 0; n < d; n++) positions[i * d + n] += both * potential.gradient[n];
        if (potential.kind === "radial" || potential.kind === "product") {
          for (let n = 0; n < d; n++) positions[j * d + n] -= both * potential.gradient[n];
        } else {
          potential.pair(x, j, x, i, false);
          for (let n = 0; n < d; n++) positions[j * d + n] += both * potential.gradient[n];
        }
      }
      for (let j = 0; j < this.charges.length; j++) {
        const value = potential.pair(x, i, this.protons, j, false);
        const b = this.charges[j];
        energy -= 2 * c[i] * b * value;
        weights[i] -= 2 * b * value;
        for (let n = 0; n < d; n++) positions[i * d + n] -= 2 * c[i] * b * potential.gradient[n];
      }
    }
    return { energy, positions, weights };
  }

  /** The Hessian in the coordinates of R^d, then weights: (n, n) row by row, n = k d + k. On the
   * sphere it is Riemannian, and 0 along x.
   * @param {Float64Array} x @param {Float64Array} c @returns {Float64Array} */
  hessian(x, c) {
    const { potential, dim: d } = this;
    const k = c.length;
    const size = k * d + k;
    const H = new Float64Array(size * size);
    const at = (/** @type {number} */ i, /** @type {number} */ n) => (i * d + n) * size;
    for (let i = 0; i < k; i++) {
      const w = k * d + i;
      if (!this.bare) {
        const own = potential.alone(x, i, true);
        H[w * size + w] += 2 * own;
        for (let n = 0; n < d; n++) {
          H[at(i, n) + w] += 2 * c[i] * potential.gradient[n];
          for (let m = 0; m < d; m++) {
            H[at(i, n) + i * d + m] += c[i] * c[i] * potential.second[n * d + m];
          }
        }
      }
      for (let j = 0; j < k; j++) {
        if (j === i) continue;
        const value = potential.pair(x, i, x, j, true);
        H[w * size + k * d + j] += 2 * value;
        for (let n = 0; n < d; n++) {
          H[at(i, n) + w] += 2 * c[j] * potential.gradient[n];
          H[at(i, n) + k * d + j] += 2 * c[i] * potential.gradient[n];
          for (let m = 0; m < d; m++) {
            H[at(i, n) + i * d + m] += 2 * c[i] * c[j] * potential.second[n * d + m];
            H[at(i, n) + j * d + m] += 2 * c[i] * c[j] * potential.mixed[n * d + m];
          }
        }
      }
      for (let j = 0; j < this.charges.length; j++) {
        potential.pair(x, i, this.protons, j, true);
        const b = this.charges[j];
        for (let n = 0; n < d; n++) {
          H[at(i, n) + w] -= 2 * b * potential.gradient[n];
          for (let m = 0; m < d; m++) {
            H[at(i, n) + i * d + m] -= 2 * c[i] * b * potential.second[n * d + m];
          }
        }
      }
    }
    for (let row = 0; row < k * d; row++) {
      for (let w = k * d; w < size; w++) H[w * size + row] = H[row * size + w];
    }
    return H;
  }

  /** The Laplacian of L in each electron alone, (k): the traces of its blocks of the Hessian.
   * @param {Float64Array} H @param {number} k */
  laplacians(H, k) {
    const d = this.dim;
    const size = k * d + k;
    return Float64Array.from({ length: k }, (_, i) => {
      let trace = 0;
      for (let n = 0; n < d; n++) trace += H[(i * d + n) * (size + 1)];
      return trace;
    });
  }

  /** C(x) = sum_j b_j Phi(x, w_j) - sum_i c_i Phi(x, x_i) of all charges but `except`, with its
   * gradient: what a further unit would feel.
   * @param {Float64Array} point @param {Float64Array} x @param {Float64Array} c
   * @param {number} [except] */
  felt(point, x, c, except = -1) {
    const { potential, dim: d } = this;
    const gradient = new Float64Array(d);
    let value = 0;
    let size = 0;
    const add = (/** @type {number} */ charge) => {
      value += charge * potential.value;
      size += Math.abs(charge * potential.value);
      for (let n = 0; n < d; n++) gradient[n] += charge * potential.gradient[n];
    };
    for (let j = 0; j < this.charges.length; j++) {
      potential.pair(point, 0, this.protons, j, false);
      add(this.charges[j]);
    }
    for (let i = 0; i < c.length; i++) {
      if (i === except) continue;
      potential.pair(point, 0, x, i, false);
      add(-c[i]);
    }
    return { value, gradient, size };
  }

  /** Put every electron back on the sphere. @param {Float64Array} x */
  project(x) {
    if (!this.sphere) return x;
    const d = this.dim;
    for (let i = 0; i < x.length; i += d) {
      let length = 0;
      for (let n = 0; n < d; n++) length += x[i + n] * x[i + n];
      length = Math.sqrt(length);
      if (length === 0) x[i] = 1;
      else for (let n = 0; n < d; n++) x[i + n] /= length;
    }
    return x;
  }
}
