// Small dense linear algebra and random numbers: what the engine needs, and no more.

/** Eigenvalues and eigenvectors of a symmetric matrix (n, n), smallest first: Householder's
 * tridiagonal form, then QL with implicit shifts (EISPACK's tred2 and tql2).
 * @param {Float64Array} matrix row by row; not changed @param {number} n
 * @returns {{values: Float64Array, vectors: Float64Array}} vectors[i n + j] is entry i of vector j */
export function eigen(matrix, n) {
  const V = Float64Array.from(matrix);
  const d = new Float64Array(n);
  const e = new Float64Array(n);
  for (let j = 0; j < n; j++) d[j] = V[(n - 1) * n + j];
  for (let i = n - 1; i > 0; i--) {
    let scale = 0;
    let h = 0;
    for (let k = 0; k < i; k++) scale += Math.abs(d[k]);
    if (scale === 0) {
      e[i] = d[i - 1];
      for (let j = 0; j < i; j++) {
        d[j] = V[(i - 1) * n + j];
        V[i * n + j] = 0;
        V[j * n + i] = 0;
      }
    } else {
      for (let k = 0; k < i; k++) {
        d[k] /= scale;
        h += d[k] * d[k];
      }
      let f = d[i - 1];
      let g = Math.sqrt(h);
      if (f > 0) g = -g;
      e[i] = scale * g;
      h -= f * g;
      d[i - 1] = f - g;
      for (let j = 0; j < i; j++) e[j] = 0;
      for (let j = 0; j < i; j++) {
        f = d[j];
        V[j * n + i] = f;
        g = e[j] + V[j * n + j] * f;
        for (let k = j + 1; k <= i - 1; k++) {
          g += V[k * n + j] * d[k];
          e[k] += V[k * n + j] * f;
        }
        e[j] = g;
      }
      f = 0;
      for (let j = 0; j < i; j++) {
        e[j] /= h;
        f += e[j] * d[j];
      }
      const hh = f / (h + h);
      for (let j = 0; j < i; j++) e[j] -= hh * d[j];
      for (let j = 0; j < i; j++) {
        f = d[j];
        g = e[j];
        for (let k = j; k <= i - 1; k++) V[k * n + j] -= f * e[k] + g * d[k];
        d[j] = V[(i - 1) * n + j];
        V[i * n + j] = 0;
      }
    }
    d[i] = h;
  }
  for (let i = 0; i < n - 1; i++) {
    V[(n - 1) * n + i] = V[i * n + i];
    V[i * n + i] = 1;
    const h = d[i + 1];
    if (h !== 0) {
      for (let k = 0; k <= i; k++) d[k] = V[k * n + i + 1] / h;
      for (let j = 0; j <= i; j++) {
        let g = 0;
        for (let k = 0; k <= i; k++) g += V[k * n + i + 1] * V[k * n + j];
        for (let k = 0; k <= i; k++) V[k * n + j] -= g * d[k];
      }
    }
    for (let k = 0; k <= i; k++) V[k * n + i + 1] = 0;
  }
  for (let j = 0; j < n; j++) {
    d[j] = V[(n - 1) * n + j];
    V[(n - 1) * n + j] = 0;
  }
  if (n > 0) V[n * n - 1] = 1;
  e[0] = 0;
  for (let i = 1; i < n; i++) e[i - 1] = e[i];
  if (n > 0) e[n - 1] = 0;
  let f = 0;
  let largest = 0;
  for (let l = 0; l < n; l++) {
    largest = Math.max(largest, Math.abs(d[l]) + Math.abs(e[l]));
    let m = l;
    while (m < n - 1 && Math.abs(e[m]) > 2.2e-16 * largest) m++;
    for (let turn = 0; m > l && turn < 60; turn++) {
      let g = d[l];
      let p = (d[l + 1] - g) / (2 * e[l]);
      let r = Math.hypot(p, 1);
      if (p < 0) r = -r;
      d[l] = e[l] / (p + r);
      d[l + 1] = e[l] * (p + r);
      const dl1 = d[l + 1];
      let h = g - d[l];
      for (let i = l + 2; i < n; i++) d[i] -= h;
      f += h;
      p = d[m];
      let c = 1;
      let c2 = 1;
      let c3 = 1;
      const el1 = e[l + 1];
      let s = 0;
      let s2 = 0;
      for (let i = m - 1; i >= l; i--) {
        c3 = c2;
        c2 = c;
        s2 = s;
        g = c * e[i];
        h = c * p;
        r = Math.hypot(p, e[i]);
        e[i + 1] = s * r;
        s = e[i] / r;
        c = p / r;
        p = c * d[i] - s * g;
        d[i + 1] = h + s * (c * g + s * d[i]);
        for (let k = 0; k < n; k++) {
          h = V[k * n + i + 1];
          V[k * n + i + 1] = s * V[k * n + i] + c * h;
          V[k * n + i] = c * V[k * n + i] - s * h;
        }
      }
      p = (-s * s2 * c3 * el1 * e[l]) / dl1;
      e[l] = s * p;
      d[l] = c * p;
      if (Math.abs(e[l]) <= 2.2e-16 * largest) break;
    }
    d[l] += f;
    e[l] = 0;
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => d[i] - d[j]);
  const vectors = new Float64Array(n * n);
  for (let j = 0; j < n; j++) for (let i = 0; i < n; i++) vectors[i * n + j] = V[i * n + order[j]];
  return { values: Float64Array.from(order, (i) => d[i]), vectors };
}

/** The c of least norm with A c = y for a symmetric A (n, n) that may be singular.
 * @param {Float64Array} A @param {Float64Array} y @param {number} n */
export function leastSquares(A, y, n) {
  const { values, vectors } = eigen(A, n);
  const floor = n * 2.2e-16 * Math.max(...values.map(Math.abs), 0);
  const c = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    if (Math.abs(values[j]) <= floor) continue;
    let part = 0;
    for (let i = 0; i < n; i++) part += vectors[i * n + j] * y[i];
    for (let i = 0; i < n; i++) c[i] += (part / values[j]) * vectors[i * n + j];
  }
  return c;
}

/** Random numbers from a seed (mulberry32): the same in every browser. */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }
  /** In [0, 1). */
  uniform() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  /** Normal, of mean 0 and variance 1. */
  normal() {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }
}
