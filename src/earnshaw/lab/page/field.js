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

/** The step of a value: 0 ... 2 STEPS. @param {number} value @param {number[]} levels */
function stepOf(value, levels) {
  const size = Math.abs(value);
  let n = 0;
  while (n < STEPS && size >= levels[n]) n++;
  return value < 0 ? STEPS - n : STEPS + n;
}

/** Shades as an image of the grid, and the contours between the steps.
 * @param {Float32Array} values @param {number} width @param {number} height
 * @param {number[]} levels @param {boolean} dark @param {Float32Array | null} [mask] 0: not shown
 * @param {number} [fine] pixels of the image for each cell of the grid */
export function shades(values, width, height, levels, dark, mask = null, fine = 3) {
  const colours = stepColours(dark);
  const [w, h] = [(width - 1) * fine + 1, (height - 1) * fine + 1];
  const image = new ImageData(w, h);
  const data = new Uint32Array(image.data.buffer);
  const packed = colours.map(([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);
  const steps = new Uint8Array(w * h);
  for (let y = 0; y < h; y++) {
    const gy = Math.min(Math.floor(y / fine), height - 2);
    const v = y / fine - gy;
    for (let x = 0; x < w; x++) {
      const gx = Math.min(Math.floor(x / fine), width - 2);
      const u = x / fine - gx;
      const at = gy * width + gx;
      // bilinear first, steps after: edges of shades are smooth lines
      const top = values[at] + u * (values[at + 1] - values[at]);
      const low = values[at + width] + u * (values[at + width + 1] - values[at + width]);
      const step = stepOf(top + v * (low - top), levels);
      const i = y * w + x;
      steps[i] = step;
      data[i] = mask && !mask[at] ? 0 : packed[step];
    }
  }
  // Contours: a pixel whose neighbour to the right or below is of another step.
  const ink = dark ? 255 : 0;
  for (let y = 0; y < h - 1; y++) {
    for (let x = 0; x < w - 1; x++) {
      const i = y * w + x;
      if ((steps[i] === steps[i + 1] && steps[i] === steps[i + w]) || data[i] === 0) continue;
      const zero =
        (steps[i] - STEPS) * (steps[i + 1] - STEPS) < 0 ||
        (steps[i] - STEPS) * (steps[i + w] - STEPS) < 0;
      const part = zero ? 0.35 : 0.1;
      for (let n = 0; n < 3; n++) {
        const place = 4 * i + n;
        image.data[place] = Math.round(image.data[place] * (1 - part) + ink * part);
      }
    }
  }
  return image;
}
