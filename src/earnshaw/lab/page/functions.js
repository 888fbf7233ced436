// sigma and Phi drawn; and for dot-product units of two inputs, teacher, student and difference as
// functions of the input.

import { drawCurves } from "./charts.js";
import { Pieces } from "./pieces.js";
import { Series } from "./series.js";
import { stepColours } from "./field.js";

const SIDE = 72; // pixels of a map
const TERMS = 200; // of the series that draws Phi
const INPUTS = 3; // |x_1|, |x_2| up to which it goes

/** @param {import("./controls.js").Controls} controls
 * @param {{table: import("./potentials.js").PackedTable, activation: {pieces: import("./pieces.js").PackedPieces} | null,
 *   profile: number[] | null,
 *   state: import("./state.js").State, x: Float64Array, c: Float64Array, dark: boolean}} about */
export function drawFunctions(controls, { table, activation, profile, state, x, c, dark }) {
  const drawn = drawnOn.get(controls);
  if (drawn?.table !== table || drawn.dark !== dark || drawn.width !== controls.phi.clientWidth) {
    drawnOn.set(controls, { table, dark, width: controls.phi.clientWidth });
    drawGraphs(controls, { table, activation, profile, dark });
  }
  const maps = Boolean(activation) && state.dim === 2 && table.kind !== "radial";
  controls.mapRow.hidden = !maps;
  if (!maps || !activation) return;
  const sigma = new Pieces(activation.pieces);
  const f = networkMap(sigma, state.protons.flat(), state.charges);
  const g = networkMap(sigma, x, c);
  const limit = Math.max(...f.map(Math.abs), 1e-9);
  paintMap(controls.maps[0].canvas, f, limit, dark);
  paintMap(controls.maps[1].canvas, g, limit, dark);
  paintMap(
    controls.maps[2].canvas,
    f.map((value, i) => value - g[i]),
    limit,
    dark,
  );
}

/** @type {WeakMap<object, {table: object, dark: boolean, width: number}>} what is drawn already */
const drawnOn = new WeakMap();

/** sigma and Phi. @param {import("./controls.js").Controls} controls
 * @param {{table: import("./potentials.js").PackedTable, activation: {pieces: import("./pieces.js").PackedPieces} | null,
 *   profile: number[] | null, dark: boolean}} about */
function drawGraphs(controls, { table, activation, profile, dark }) {
  controls.sigma.hidden = !activation && !profile;
  if (profile) {
    const points = /** @type {[number, number][]} */ (
      profile.map((value, i) => [0.02 + (3.98 * i) / (profile.length - 1), value])
    );
    drawCurves(controls.sigma, [{ points, colour: "ink" }], {
      dark,
      x: "|x − w|",
      y: "h, of σ = h(x − w)/√p",
    });
  }
  if (activation) {
    const sigma = new Pieces(activation.pieces);
    const points = /** @type {[number, number][]} */ (
      Array.from({ length: 241 }, (_, i) => [i / 30 - 4, sigma.at(i / 30 - 4)[0]])
    );
    drawCurves(controls.sigma, [{ points, colour: "ink" }], { dark, x: "x", y: "σ(x)" });
  }
  const angular = table.kind === "zonal" || table.kind === "homogeneous";
  const dot = table.kind === "dot";
  const phi = dot ? null : new Pieces(table.pieces);
  const row = dot ? new Series(table).plain(1, TERMS) : null; // of unit vectors
  const end = angular || dot ? Math.PI : 3.5;
  const start = table.unbounded ? 0.02 : 0;
  const values = /** @type {[number, number][]} */ (
    Array.from({ length: 281 }, (_, i) => {
      const t = start + ((end - start) * i) / 280;
      return [t, row ? Series.sum(row, row, row.length, Math.cos(t)) : (phi?.at(t)[0] ?? 0)];
    })
  );
  drawCurves(controls.phi, [{ points: values, colour: "field" }], {
    dark,
    x: angular || dot ? "angle" : "r",
    y: dot
      ? "Φ of unit vectors"
      : angular
        ? "Φ(angle)"
        : table.kind === "product"
          ? "Φ along an axis"
          : "Φ(r)",
  });
}

/** sum_i c_i sigma(x.w_i) over a square of inputs. @param {Pieces} sigma
 * @param {ArrayLike<number>} places @param {ArrayLike<number>} weights */
function networkMap(sigma, places, weights) {
  const values = new Float64Array(SIDE * SIDE);
  for (let i = 0; i < weights.length; i++) {
    for (let n = 0; n < values.length; n++) {
      const a = ((n % SIDE) / (SIDE - 1)) * 2 * INPUTS - INPUTS;
      const b = INPUTS - (Math.floor(n / SIDE) / (SIDE - 1)) * 2 * INPUTS;
      values[n] += weights[i] * sigma.at(a * places[2 * i] + b * places[2 * i + 1])[0];
    }
  }
  return values;
}

/** @param {HTMLCanvasElement} canvas @param {Float64Array} values @param {number} limit @param {boolean} dark */
function paintMap(canvas, values, limit, dark) {
  const image = new ImageData(SIDE, SIDE);
  const steps = stepColours(dark);
  const middle = (steps.length - 1) / 2;
  values.forEach((value, n) => {
    const size = Math.min(1, Math.abs(value) / limit) ** 0.7 * middle;
    const [r, g, b] = steps[Math.round(middle + Math.sign(value) * size)];
    image.data.set([r, g, b, 255], 4 * n);
  });
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).putImageData(image, 0, 0);
}
