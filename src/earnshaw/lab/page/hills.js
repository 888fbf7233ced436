// The ground that an electron of charge 1 climbs in the plane, for basin maps of any potential:
//
//   U(x) = C(x) - Phi(x, x)/2,    dx/dt = grad U(x),
//
// on a grid, with its gradient and its peaks, where electrons end. Of potentials of the distance
// Phi(x, x) is a constant; of dot-product units it grows with |x|, and keeps them near the origin.

import { potentialAt } from "./field.js";
import { Potential } from "./potentials.js";

const SIDE = 200; // cells of the grid along the longer side
const MARGIN = 0.5; // of the box, beyond each of its sides
const LENGTHS = 160; // at which Phi(x, x) is found
const MOST = 100; // peaks
const TOP = 12; // cells between peaks that are one place

/**
 * @typedef {{columns: number, rows: number, left: number, bottom: number, cell: number,
 *   slopes: Float32Array, peaks: Float64Array, groups: Int16Array, places: number[][],
 *   pace: number}} Hill
 *   `slopes` (rows columns 2), the lowest row first; `peaks` (n 2), each of a group: the flat top of
 *   a hill has several, and is one of the `places`, its highest point; `pace` is
 *   the time that crossing the box takes
 */

/** @param {import("./field.js").Lookup} lookup @param {import("./potentials.js").PackedTable} table
 * @param {Float64Array} sources @param {Float64Array} charges
 * @param {number[]} box left, top, right, bottom @returns {Hill} */
export function hillOf(lookup, table, sources, charges, box) {
  const [width, height] = [box[2] - box[0], box[1] - box[3]];
  const cell = ((1 + 2 * MARGIN) * Math.max(width, height)) / SIDE;
  const columns = Math.ceil(((1 + 2 * MARGIN) * width) / cell) + 1;
  const rows = Math.ceil(((1 + 2 * MARGIN) * height) / cell) + 1;
  const left = box[0] - MARGIN * width;
  const bottom = box[3] - MARGIN * height;
  const points = new Float64Array(2 * rows * columns);
  for (let n = 0; n < rows * columns; n++) {
    points[2 * n] = left + (n % columns) * cell;
    points[2 * n + 1] = bottom + Math.floor(n / columns) * cell;
  }
  const values = potentialAt(lookup, 2, points, sources, charges);
  const own = ownEnergy(table, points);
  for (let n = 0; n < values.length; n++) values[n] -= own(n) / 2;
  const slopes = new Float32Array(2 * rows * columns);
  /** @type {{at: [number, number], height: number}[]} */
  const peaks = [];
  for (let j = 1; j + 1 < rows; j++) {
    for (let i = 1; i + 1 < columns; i++) {
      const n = j * columns + i;
      slopes[2 * n] = (values[n + 1] - values[n - 1]) / (2 * cell);
      slopes[2 * n + 1] = (values[n + columns] - values[n - columns]) / (2 * cell);
      let [below, above] = [0, 0];
      for (const step of [1, columns - 1, columns, columns + 1]) {
        for (const other of [values[n + step], values[n - step]]) {
          if (other < values[n]) below++;
          else if (other > values[n]) above++;
        }
      }
      if (!above && below > 4)
        peaks.push({ at: [points[2 * n], points[2 * n + 1]], height: values[n] });
    }
  }
  peaks.sort((a, b) => b.height - a.height);
  peaks.splice(MOST);
  /** @type {number[][]} */
  const places = [];
  const groups = Int16Array.from(peaks, ({ at }) => {
    const known = places.findIndex(
      (place) => Math.hypot(place[0] - at[0], place[1] - at[1]) < TOP * cell,
    );
    return known >= 0 ? known : places.push(at) - 1;
  });
  let speed = 0;
  for (let n = 0; n < slopes.length; n += 2) speed += Math.hypot(slopes[n], slopes[n + 1]);
  const pace = (width * rows * columns) / Math.max(speed, 1e-9);
  const flat = Float64Array.from(peaks.flatMap(({ at }) => at));
  return { columns, rows, left, bottom, cell, slopes, peaks: flat, groups, places, pace };
}

/** Phi(x, x) of each point. @param {import("./potentials.js").PackedTable} table
 * @param {Float64Array} points @returns {(n: number) => number} */
function ownEnergy(table, points) {
  const potential = new Potential(table, 2);
  if (!potential.sized) return () => 0;
  let farthest = 0;
  for (let n = 0; n < points.length; n += 2)
    farthest = Math.max(farthest, Math.hypot(points[n], points[n + 1]));
  const known = Float64Array.from({ length: LENGTHS + 2 }, (_, i) =>
    potential.alone([(i * farthest) / LENGTHS, 0], 0, false),
  );
  return (n) => {
    const place = (Math.hypot(points[2 * n], points[2 * n + 1]) / farthest) * LENGTHS;
    const i = Math.floor(place);
    return known[i] + (place - i) * (known[i + 1] - known[i]);
  };
}

/** grad U at a place, into `out`; false outside the grid. @param {Hill} hill @param {number} x
 * @param {number} y @param {number[]} out */
export function slopeAt(hill, x, y, out) {
  const [u, v] = [(x - hill.left) / hill.cell, (y - hill.bottom) / hill.cell];
  const [i, j] = [Math.floor(u), Math.floor(v)];
  if (!(i >= 1 && j >= 1 && i + 2 < hill.columns && j + 2 < hill.rows)) return false;
  const [a, b] = [u - i, v - j];
  for (let part = 0; part < 2; part++) {
    const at = 2 * (j * hill.columns + i) + part;
    const up = at + 2 * hill.columns;
    const near = hill.slopes[at] + a * (hill.slopes[at + 2] - hill.slopes[at]);
    const far = hill.slopes[up] + a * (hill.slopes[up + 2] - hill.slopes[up]);
    out[part] = near + b * (far - near);
  }
  return true;
}
