// The field under the charges of the plane and the sphere, as an image that is made anew only when
// something has changed: coarser, and not in every frame, while pictures follow each other quickly.

import { Shades, levelsOf, potentialAt } from "./field.js";

const CELLS = [5, 8, 11]; // pixels of a cell of the field: the first for which there is little work
const WORK = { rough: 350_000, still: 2_000_000 }; // charges times cells of one picture
const SHARE = 0.3; // of the time that making images may take while pictures follow each other
const FAINT = 0.3; // the part by which levels follow the field from one quick picture to the next

/**
 * @typedef {{dim: number, positions: Float64Array, values: Float64Array}} Sources
 * @typedef {{key: string, cell: number, left: number, top: number, columns: number, rows: number,
 *   points: Float64Array, mask: Float32Array | null}} Grid
 */

export class FieldLayer {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.surface = document.createElement("canvas");
    this.shades = new Shades();
    /** @type {Grid | null} */
    this.grid = null;
    this.dark = false;
    this.fine = 0;
    this.lookup = stage.lookup;
    /** @type {Float64Array} */
    this.positions = new Float64Array(0); // of the charges that the image is of
    /** @type {Float64Array} */
    this.charges = new Float64Array(0);
    /** @type {number[] | null} */
    this.levels = null;
    /** @type {Float32Array} */
    this.values = new Float32Array(0);
    this.rested = 0; // when there is time for the next
  }

  /** @param {CanvasRenderingContext2D} g @param {Sources} sources */
  draw(g, sources) {
    const { stage } = this;
    if (!stage.lookup) return;
    this.refresh(stage.lookup, sources);
    if (!this.grid) return;
    const { left, top, columns, rows, cell } = this.grid;
    g.imageSmoothingEnabled = true;
    g.drawImage(this.surface, left, top, (columns - 1) * cell, (rows - 1) * cell);
  }

  /** Make the image anew where it is old. @param {import("./field.js").Lookup} lookup
   * @param {Sources} sources */
  refresh(lookup, sources) {
    const { stage } = this;
    const { rough, dark } = stage;
    const began = performance.now();
    const mine = this.lookup === lookup && this.dark === dark && this.grid?.key === this.key();
    if (rough && mine && began < this.rested) return;
    const work =
      (stage.width * stage.height * sources.values.length) / WORK[rough ? "rough" : "still"];
    const cell = CELLS.find((side) => work <= side * side) ?? CELLS[CELLS.length - 1];
    const fine = rough ? 2 : cell > 5 ? 8 : 5; // pixels of a cell
    const grid = this.gridOf(sources.dim, cell);
    if (
      mine &&
      fine === this.fine &&
      grid === this.grid &&
      same(sources.positions, this.positions) &&
      same(sources.values, this.charges)
    )
      return;
    const before = mine && rough ? this.levels : null;
    Object.assign(this, { grid, fine, dark, lookup });
    this.positions = sources.positions;
    this.charges = sources.values;
    this.values = potentialAt(lookup, sources.dim, grid.points, sources.positions, sources.values);
    const levels = levelsOf(this.values, lookup.floor(sources.values));
    this.levels = before
      ? levels.map((level, n) => before[n] + FAINT * (level - before[n]))
      : levels;
    const image = this.shades.paint(
      this.values,
      grid.columns,
      grid.rows,
      this.levels,
      dark,
      grid.mask,
      fine,
    );
    if (this.surface.width !== image.width) this.surface.width = image.width;
    if (this.surface.height !== image.height) this.surface.height = image.height;
    this.surface.getContext("2d")?.putImageData(image, 0, 0);
    const now = performance.now();
    this.rested = now + (now - began) * (1 / SHARE - 1);
  }

  key() {
    const { stage } = this;
    const turn = stage.kind === "sphere" ? stage.turn : [];
    return [
      stage.kind,
      stage.width,
      stage.height,
      ...stage.centre,
      stage.span,
      ...turn,
      stage.key,
    ].join();
  }

  /** The points of the field for this view; the same object while the view stays.
   * @param {number} d @param {number} cell @returns {Grid} */
  gridOf(d, cell) {
    const { stage } = this;
    const key = this.key();
    if (this.grid?.key === key && this.grid.cell === cell) return this.grid;
    const sphere = stage.kind === "sphere";
    const [mx, my] = [stage.width / 2, stage.height / 2];
    const reach = sphere ? stage.scale + 2 * cell : Infinity;
    const [left, top] = [Math.max(0, mx - reach), Math.max(0, my - reach)];
    const [columns, rows] = [
      Math.ceil((stage.width - 2 * left) / cell) + 1,
      Math.ceil((stage.height - 2 * top) / cell) + 1,
    ];
    const points = new Float64Array(columns * rows * d);
    const mask = sphere ? new Float32Array(columns * rows) : null;
    for (let r = 0, i = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++, i++) {
        const [px, py] = [left + c * cell, top + r * cell];
        const at = stage.unplace(px, py);
        for (let n = 0; n < d; n++) points[i * d + n] = at[n];
        if (mask) mask[i] = Math.hypot(px - mx, py - my) < reach ? 1 : 0;
      }
    }
    return { key, cell, left, top, columns, rows, points, mask };
  }

  /** The direction in which the field rises at a place of the canvas, from the image's own values.
   * @param {number} px @param {number} py @returns {[number, number]} on the canvas, y up */
  slope(px, py) {
    if (!this.grid) return [0, 0];
    const { left, top, cell, columns, rows } = this.grid;
    const [x, y] = [(px - left) / cell, (py - top) / cell];
    const i = Math.max(0, Math.min(columns - 2, Math.floor(x)));
    const j = Math.max(0, Math.min(rows - 2, Math.floor(y)));
    const [u, v] = [x - i, y - j];
    const at = j * columns + i;
    const [a, b] = [this.values[at], this.values[at + 1]];
    const [c, d] = [this.values[at + columns], this.values[at + columns + 1]];
    return [(1 - v) * (b - a) + v * (d - c), -((1 - u) * (c - a) + u * (d - b))];
  }
}

/** @param {Float64Array} a @param {Float64Array} b */
function same(a, b) {
  if (a.length !== b.length) return false;
  for (let n = 0; n < a.length; n++) if (a[n] !== b[n]) return false;
  return true;
}
