// The papers' theorems on harmonic potentials, each hypothesis looked at: what fails is shown too, so
// that it can be seen what a potential lacks.

import { short } from "./words.js";

/**
 * @typedef {{says: string, holds: boolean, here: string}} Hypothesis
 * @typedef {{theorem: string, source: string, hypotheses: Hypothesis[], guarantees: string}} Theorem
 */

/** @param {import("./engine.js").Engine} engine @param {Float64Array} x @param {Float64Array} c
 * @param {Float64Array} slopes dL/dc
 * @param {{moving: boolean, charging: boolean, tolerance: number}} how @returns {Theorem[]} */
export function theorems(engine, x, c, slopes, { moving, charging, tolerance }) {
  if (!c.length) return [];
  const { regions } = engine.potential.table;
  const nearest = distances(engine, x, c.length);
  const motion = { says: "positions may move", holds: moving, here: "" };
  const harmonic = regions.length > 0 && regions.every((one) => one.character === "harmonic");
  const apart = nearest.every((r) => r > 0);
  const earnshaw = {
    theorem: "Earnshaw’s theorem",
    source: "EPD Thm 3.3, Full Thm 3.4",
    hypotheses: [
      {
        says: "Φ is harmonic off coincidence",
        holds: harmonic,
        here: harmonic ? "" : character(engine.potential.table),
      },
      motion,
      {
        says: "no two charges coincide",
        holds: apart,
        here: apart ? "" : "an electron sits on a charge",
      },
    ],
    guarantees:
      "no rest off the protons that is a strict minimum: every Laplacian is 0, so some direction goes down",
  };
  if (harmonic) return [earnshaw];
  const screened = regions.find((one) => one.character === "lambda-harmonic");
  const off = nearest.map((r) => screened !== undefined && r >= screened.low && r > 0);
  const count = off.filter(Boolean).length;
  const best = charging && slopes.every((s) => Math.abs(s) <= tolerance);
  const screening = {
    theorem: "No local minimum off the cores",
    source: "EPD Thm 3.9, Full Thm 3.6",
    hypotheses: [
      {
        says: "Φ is λ-harmonic between some electron and all other charges",
        holds: count > 0,
        here: screened
          ? `${count} of ${c.length} electrons are off every core, of radius ${short(screened.low)}`
          : character(engine.potential.table),
      },
      motion,
      {
        says: "each weight is the best",
        holds: best,
        here: charging ? "" : "weights are fixed here",
      },
      {
        says: "the charge of such an electron is not 0",
        holds: off.some((is, i) => is && c[i] !== 0),
        here: "",
      },
    ],
    guarantees:
      "Earnshaw: no rest off the protons, because the Laplacian of each free electron is negative",
  };
  return screened ? [screening] : [earnshaw, screening];
}

/** What Φ is instead of harmonic. @param {import("./potentials.js").PackedTable} table */
function character({ regions, kind }) {
  if (!regions.length)
    return kind === "zonal"
      ? "on the sphere it is a function of the angle, and known as none of both"
      : "it depends on lengths and angles: subharmonic for some pairs, superharmonic for others";
  return regions
    .map(({ character: what, low, high }) =>
      high === null
        ? `${what} beyond ${short(low)}`
        : `${what} from ${short(low)} to ${short(high)}`,
    )
    .join(", ");
}

/** From each electron to the nearest other charge. @param {import("./engine.js").Engine} engine
 * @param {Float64Array} x @param {number} k */
function distances(engine, x, k) {
  const d = engine.dim;
  return Array.from({ length: k }, (_, i) => {
    let least = Infinity;
    for (let j = 0; j < engine.charges.length; j++)
      least = Math.min(least, gap(x, i, engine.protons, j, d));
    for (let j = 0; j < k; j++) if (j !== i) least = Math.min(least, gap(x, i, x, j, d));
    return least;
  });
}

/** @param {ArrayLike<number>} X @param {number} i @param {ArrayLike<number>} Y @param {number} j
 * @param {number} d */
function gap(X, i, Y, j, d) {
  let square = 0;
  for (let n = 0; n < d; n++) square += (X[i * d + n] - Y[j * d + n]) ** 2;
  return Math.sqrt(square);
}
