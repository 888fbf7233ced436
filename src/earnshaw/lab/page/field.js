// The potential that a test electron feels, as shades and contours: drawing only, in float32.
//
//   C(x) = sum_j b_j Phi(x, w_j) - sum_i c_i Phi(x, x_i)
//
// on a coarse grid, from a lookup table of Phi that is filled once. Shades are those of the plots
// (earnshaw/plots/_field.py): nine steps on each side of 0, finer near 0.

import { Pieces } from "./pieces.js";
import { Rays } from "./rays.js";

const ENTRIES = 4096; // of the lookup table
const STEPS = 9; // shades on each side of 0
const USUAL = 0.97; // the largest shade begins where all but 3 % of the points are below
const BEND = 1.6; // shades are finer near 0

const RAMPS = {
  light: {
    positive: ["#ffffff", "#fdf0ea", "#fadccf", "#f5bfae", "#eb9b88"],
    negative: ["#ffffff", "#ecf3f9", "#d2e3f1", "#adcde6", "#82b0d5"],
  },
  dark: {
    positive: ["#151922", "#2b2025", "#45282a", "#663330", "#8d4238"],
    negative: ["#151922", "#1a2632", "#1d3549", "#204a69", "#24608c"],
  },
};

/** Phi as a float32 table in a variable that is cheap to find: r, or (1 - rho)/2 of an angle. */
export class Lookup {
  /** @param {import("./potentials.js").PackedTable} table @param {number} reach the largest r */
  constructor(table, reach) {
    this.kind = table.kind;
    this.degree = table.degree;
    this.rays = table.kind === "dot" ? new Rays(table) : null;
    const pieces = new Pieces(table.pieces);
    this.values = new Float32Array(ENTRIES + 2);
    this.slopes = new Float32Array(ENTRIES + 2); // f', for the basin map
    const angular = table.kind === "zonal" || table.kind === "homogeneous";
    this.reach = angular ? 1 : reach;
    this.scale = ENTRIES / this.reach;
    for (let i = 0; i < ENTRIES + 2; i++) {
      const at = Math.min(i / this.scale, this.reach);
      // Of an angle the entry is sin(t/2), half the chord: it is linear in t where units meet.
      const t = angular
        ? 2 * Math.asin(Math.min(1, at))
        : Math.max(at, pieces.low, i ? 0 : 0.5 / this.scale);
      const ended = !angular && pieces.high < 64 && t >= pieces.high;
      const f = pieces.at(t);
      this.values[i] = ended ? 0 : f[0];
      this.slopes[i] = ended ? 0 : table.divided ? f[1] * (angular ? Math.sin(t) : t) : f[1];
    }
  }

  /** A field weaker than this is float32's rounding. @param {Float64Array} charges */
  floor(charges) {
    return 1e-4 * Math.max(...charges.map(Math.abs), 0) * Math.abs(this.values[ENTRIES >> 4]);
  }

  /** @param {number} at */
  value(at) {
    const place = at * this.scale;
    if (!(place < ENTRIES)) return this.values[ENTRIES];
    const i = place | 0;
    return this.values[i] + (place - i) * (this.values[i + 1] - this.values[i]);
  }

  /** f' at r. @param {number} at */
  slope(at) {
    const place = at * this.scale;
    if (!(place < ENTRIES)) return this.slopes[ENTRIES];
    const i = place | 0;
    return this.slopes[i] + (place - i) * (this.slopes[i + 1] - this.slopes[i]);
  }
}

/** C at points of R^d. @param {Lookup} lookup @param {number} d
 * @param {Float64Array} points (n d) @param {Float64Array} sources (m d)
 * @param {Float64Array} charges (m) @returns {Float32Array} (n) */
export function potentialAt(lookup, d, points, sources, charges) {
  const count = points.length / d;
  const out = new Float32Array(count);
  const m = charges.length;
  const { kind, values, scale } = lookup;
  if (lookup.rays) return lookup.rays.at(d, points, sources, charges);
  const radial = kind === "radial" && d === 2;
  for (let j = 0; j < m; j++) {
    const q = charges[j];
    if (q === 0) continue;
    if (radial) {
      const a = sources[2 * j];
      const b = sources[2 * j + 1];
      for (let i = 0; i < count; i++) {
        const x = points[2 * i] - a;
        const y = points[2 * i + 1] - b;
        const place = Math.sqrt(x * x + y * y) * scale;
        const at = place < ENTRIES ? place | 0 : ENTRIES;
        out[i] +=
          q * (values[at] + (at < ENTRIES ? place - at : 0) * (values[at + 1] - values[at]));
      }
      continue;
    }
    for (let i = 0; i < count; i++) out[i] += q * phi(lookup, d, points, i * d, sources, j * d);
  }
  return out;
}

/** @param {Lookup} lookup @param {number} d @param {Float64Array} X @param {number} p
 * @param {Float64Array} Y @param {number} q */
function phi(lookup, d, X, p, Y, q) {
  if (lookup.kind === "radial") {
    let square = 0;
    for (let n = 0; n < d; n++) square += (X[p + n] - Y[q + n]) ** 2;
    return lookup.value(Math.sqrt(square));
  }
  if (lookup.kind === "product") {
    let value = 1;
    for (let n = 0; n < d; n++) value *= lookup.value(Math.abs(X[p + n] - Y[q + n]));
    return value;
  }
  let dot = 0;
  let x = 0;
  let y = 0;
  for (let n = 0; n < d; n++) {
    dot += X[p + n] * Y[q + n];
    x += X[p + n] ** 2;
    y += Y[q + n] ** 2;
  }
  const size = Math.sqrt(x * y);
  if (size === 0) return 0;
  const chord = Math.sqrt(Math.max(0, (1 - dot / size) / 2));
  return (lookup.degree ? size ** lookup.degree : 1) * lookup.value(Math.min(chord, 1));
}

/** Levels of the shades for these values; what is below `floor` is rounding, not a field.
 * @param {Float32Array} values @param {number} [floor] @returns {number[]} */
export function levelsOf(values, floor = 0) {
  const sizes = [];
  const stride = Math.max(1, Math.floor(values.length / 2000));
  for (let i = 0; i < values.length; i += stride)
    if (Number.isFinite(values[i])) sizes.push(Math.abs(values[i]));
  sizes.sort((a, b) => a - b);
  const limit = Math.max(
    floor,
    sizes[Math.floor(USUAL * (sizes.length - 1))] || sizes[sizes.length - 1] || 1,
  );
  return Array.from({ length: STEPS }, (_, i) => limit * ((i + 1) / STEPS) ** BEND);
}

/** @param {string} hex */
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Colours of the steps, 2 STEPS + 1 of them, negative first. @param {boolean} dark */
export function stepColours(dark) {
  const { positive, negative } = RAMPS[dark ? "dark" : "light"];
  const blend = (/** @type {string[]} */ ramp, /** @type {number} */ part) => {
    const place = part * (ramp.length - 1);
    const i = Math.min(Math.floor(place), ramp.length - 2);
    const [a, b] = [rgb(ramp[i]), rgb(ramp[i + 1])];
    return a.map((value, n) => Math.round(value + (place - i) * (b[n] - value)));
  };
  const sides = Array.from({ length: STEPS }, (_, i) => (i + 1) / STEPS);
  return [
    ...sides.map((part) => blend(negative, part)).reverse(),
    blend(positive, 0),
    ...sides.map((part) => blend(positive, part)),
  ];
}

const FINE = 4096; // entries of the table from |value| to its step

/** Shades and contours as images, into buffers that are kept from one picture to the next. */
export class Shades {
  constructor() {
    this.image = new ImageData(1, 1);
    this.steps = new Uint8Array(1);
    this.stepOf = new Uint8Array(FINE + 1);
    this.dark = false;
    /** @type {Uint32Array[]} colours of the steps: plain, on a contour, on that of 0 */
    this.inks = inks(false);
  }

  /** An image of the grid. @param {Float32Array} values @param {number} width
   * @param {number} height @param {number[]} levels @param {boolean} dark
   * @param {Float32Array | null} [mask] 0: not shown @param {number} [fine] pixels of a cell */
  paint(values, width, height, levels, dark, mask = null, fine = 3) {
    const [w, h] = [(width - 1) * fine + 1, (height - 1) * fine + 1];
    if (this.image.width !== w || this.image.height !== h) {
      this.image = new ImageData(w, h);
      this.steps = new Uint8Array(w * h);
    }
    if (dark !== this.dark) {
      this.dark = dark;
      this.inks = inks(dark);
    }
    const { steps, stepOf } = this;
    const [plain, contour, zero] = this.inks;
    const top = levels[STEPS - 1];
    const scale = FINE / top;
    for (let i = 0, n = 0; i <= FINE; i++) {
      while (n < STEPS && i >= levels[n] * scale) n++;
      stepOf[i] = n;
    }
    const data = new Uint32Array(this.image.data.buffer);
    for (let y = 0, i = 0; y < h; y++) {
      const gy = Math.min((y / fine) | 0, height - 2);
      const v = y / fine - gy;
      for (let gx = 0; gx < width - 1; gx++) {
        const at = gy * width + gx;
        const left = values[at] + v * (values[at + width] - values[at]);
        const right = values[at + 1] + v * (values[at + width + 1] - values[at + 1]);
        const hidden = mask !== null && !mask[at];
        const last = gx === width - 2 ? fine + 1 : fine;
        for (let u = 0; u < last; u++, i++) {
          // linear first, steps after: edges of shades are smooth lines
          const value = left + ((right - left) * u) / fine;
          const size = Math.abs(value) * scale;
          const n = stepOf[size < FINE ? size | 0 : FINE];
          const step = value < 0 ? STEPS - n : STEPS + n;
          steps[i] = step;
          if (hidden) {
            data[i] = 0;
            continue;
          }
          const before = gx || u ? steps[i - 1] : step;
          const above = y ? steps[i - w] : step;
          data[i] =
            step === before && step === above
              ? plain[step]
              : (step - STEPS) * (before - STEPS) < 0 || (step - STEPS) * (above - STEPS) < 0
                ? zero[step]
                : contour[step];
        }
      }
    }
    return this.image;
  }
}

/** @param {boolean} dark @returns {Uint32Array[]} */
function inks(dark) {
  const ink = dark ? 255 : 0;
  return [0, 0.1, 0.35].map((part) =>
    Uint32Array.from(stepColours(dark), (colour) => {
      const [r, g, b] = colour.map((value) => Math.round(value * (1 - part) + ink * part));
      return (255 << 24) | (b << 16) | (g << 8) | r;
    }),
  );
}
