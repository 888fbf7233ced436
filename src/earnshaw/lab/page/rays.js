// The field of dot-product units in R^1 and R^2, for pictures: C on circles around the origin.
//
//   C(r, phi) = sum_n a_n(r) G_n(phi),    G_n(phi) = sum_j b_j a_n(q_j) cos(phi - phi_j)^n,
//
// with the coefficients of series.js, few of them; between circles and angles, linear.

import { Series } from "./series.js";

const TERMS = 100; // enough for a picture
const CIRCLES = 72;
const ANGLES = 144;
const FARTHEST = 24; // the last circle; circles are closer near the origin: r = FARTHEST (i/n)^2

export class Rays {
  /** @param {import("./potentials.js").PackedTable} table */
  constructor(table) {
    this.series = new Series(table);
    /** @type {Float64Array | null} a_n of each circle, made when the first picture needs it */
    this.circles = null;
    this.values = new Float32Array((CIRCLES + 1) * (ANGLES + 1));
    this.sums = new Float64Array(ANGLES * TERMS);
  }

  make() {
    const rows = new Float64Array((CIRCLES + 1) * TERMS);
    for (let i = 0; i <= CIRCLES; i++) {
      rows.set(this.series.plain(FARTHEST * (i / CIRCLES) ** 2, TERMS), i * TERMS);
    }
    return rows;
  }

  /** C at points (n d). @param {number} d @param {Float64Array} points
   * @param {Float64Array} sources @param {Float64Array} charges @returns {Float32Array} */
  at(d, points, sources, charges) {
    const out = new Float32Array(points.length / d);
    if (d > 2) return out;
    this.circles ??= this.make();
    const angles = d === 1 ? 2 : ANGLES;
    const { sums, values, circles } = this;
    sums.fill(0);
    for (let j = 0; j < charges.length; j++) {
      if (charges[j] === 0) continue;
      const [a, b] = [sources[j * d], d === 2 ? sources[j * d + 1] : 0];
      const row = this.series.plain(Math.hypot(a, b), TERMS);
      const turn = Math.atan2(b, a);
      for (let l = 0; l < angles; l++) {
        const cosine = Math.cos((2 * Math.PI * l) / angles - turn);
        let power = charges[j];
        for (let n = 0; n < row.length && Math.abs(power) > 1e-12; n++) {
          sums[l * TERMS + n] += row[n] * power;
          power *= cosine;
        }
      }
    }
    for (let i = 0; i <= CIRCLES; i++) {
      for (let l = 0; l < angles; l++) {
        let total = 0;
        for (let n = 0; n < TERMS; n++) total += circles[i * TERMS + n] * sums[l * TERMS + n];
        values[i * (ANGLES + 1) + l] = total;
      }
      values[i * (ANGLES + 1) + angles] = values[i * (ANGLES + 1)];
    }
    for (let p = 0; p < out.length; p++) {
      const [x, y] = [points[p * d], d === 2 ? points[p * d + 1] : 0];
      const place = Math.min(
        CIRCLES - 1e-6,
        CIRCLES * Math.sqrt(Math.sqrt(x * x + y * y) / FARTHEST),
      );
      const i = place | 0;
      const angle = (Math.atan2(y, x) / (2 * Math.PI) + 1) * angles;
      const l = Math.floor(angle) % angles;
      const [u, v] = [place - i, angle - Math.floor(angle)];
      const at = i * (ANGLES + 1) + l;
      const near = values[at] + v * (values[at + 1] - values[at]);
      const far = values[at + ANGLES + 1] + v * (values[at + ANGLES + 2] - values[at + ANGLES + 1]);
      out[p] = near + u * (far - near);
    }
    return out;
  }
}
