// Piecewise Chebyshev functions of one variable, as Python packs them (earnshaw/lab/tables.py).

/**
 * @typedef {{edges: string, coefficients: string, functions: number, error: number}} PackedPieces
 */

const TERMS = 20;

/** @param {string} text @returns {Float64Array} the float64 numbers that base64 text holds */
export function unpacked(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Float64Array(bytes.buffer);
}

/** Piecewise Chebyshev functions of one variable. */
export class Pieces {
  /** @param {PackedPieces} packed */
  constructor(packed) {
    this.edges = unpacked(packed.edges);
    this.coefficients = unpacked(packed.coefficients);
    this.count = packed.functions;
    this.low = this.edges[0];
    this.high = this.edges[this.edges.length - 1];
    /** the values of the last call */
    this.out = new Float64Array(this.count);
    this.piece = 0;
  }

  /** All functions at t, into `out`; beyond the ends, the values there. @param {number} t */
  at(t) {
    const edges = this.edges;
    let piece = this.piece;
    if (t < edges[piece] || t >= edges[piece + 1]) {
      let low = 0;
      let high = edges.length - 2;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (t >= edges[middle]) low = middle;
        else high = middle - 1;
      }
      this.piece = piece = low;
    }
    const a = edges[piece];
    const b = edges[piece + 1];
    const x = Math.max(-1, Math.min(1, (2 * t - a - b) / (b - a)));
    const c = this.coefficients;
    const twice = 2 * x;
    for (let f = 0; f < this.count; f++) {
      const start = (piece * this.count + f) * TERMS;
      let next = 0;
      let last = 0;
      for (let n = TERMS - 1; n > 0; n--) {
        const here = c[start + n] + twice * next - last;
        last = next;
        next = here;
      }
      this.out[f] = c[start] + x * next - last;
    }
    return this.out;
  }
}
