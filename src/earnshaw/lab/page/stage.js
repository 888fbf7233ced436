// The stage: charges, their field, their ways and the softest direction, on one canvas.
//
// A view turns positions into places on the canvas and back. The line has the potential drawn above
// it, the circle around it; the sphere is seen from outside and can be turned; of R^d, d > 2, the
// two directions along which the charges spread most are seen.

import { Lookup, levelsOf, potentialAt, shades, stepColours } from "./field.js";
import { eigen } from "./linear.js";
import { MARGIN, drawArrows, drawCharges, drawTrails, line } from "./marks.js";

export const COLOURS = {
  light: {
    ink: "#1f2430",
    pale: "#8a90a0",
    grid: "#e6e8ec",
    paper: "#ffffff",
    electron: "#2166ac",
    proton: "#c8362f",
    astray: "#d98200",
    field: "#6a51a3",
    edge: "#ffffff",
  },
  dark: {
    ink: "#e7e9ee",
    pale: "#8a90a0",
    grid: "#2a303c",
    paper: "#151922",
    electron: "#6fb1ea",
    proton: "#f0776c",
    astray: "#ffb444",
    field: "#b3a2e0",
    edge: "#151922",
  },
};

const CELLS = [5, 8, 11]; // pixels of a cell of the field: the first for which there is little work
const FAR = 3; // electrons this many times farther out than protons are not fitted into the view
const WORK = { rough: 350_000, still: 2_000_000 }; // charges times cells of one picture

/**
 * @typedef {{dim: number, x: Float64Array, c: Float64Array, bound: Int32Array, protons: Float64Array,
 *   charges: Float64Array, ways: {x: Float64Array}[], direction: Float64Array | null,
 *   selected: Picked | null, frozen: boolean[]}} Picture
 * @typedef {{what: "electron" | "proton", index: number}} Picked
 */

export class Stage {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.kind = "plane";
    this.dark = false;
    this.centre = [0, 0];
    this.span = 3; // half of the shorter side, in the units of positions
    this.turn = [1, 0, 0, 0, 1, 0, 0, 0, 1]; // of the sphere
    this.axes = null; // of a projection
    this.show = { field: true, lines: false, trails: true, arrows: true };
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    /** @type {unknown} what the shades are of */
    this.shadedGrid = null;
    this.shadedFine = 0;
    this.shadedDark = false;
    this.rough = false; // whether pictures follow each other quickly
    this.shadedPositions = new Float64Array(0);
    this.shadedValues = new Float64Array(0);
    /** @type {CanvasImageSource | null} a map drawn instead of the field */
    this.map = null;
    this.surface = document.createElement("canvas");
    /** @type {{key: string, left: number, top: number, columns: number, rows: number, points: Float64Array, mask: Float32Array | null} | null} */
    this.grid = null;
    this.key = "";
    this.resize();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    const [w, h] = [Math.max(1, Math.round(box.width)), Math.max(1, Math.round(box.height))];
    if (w === this.width && h === this.height && ratio === this.ratio) return;
    Object.assign(this, { width: w, height: h, ratio });
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    this.key = "";
  }

  /** @param {string} kind line, plane, circle, sphere, space @param {number} dim
   * @param {import("./potentials.js").PackedTable} table */
  become(kind, dim, table) {
    this.kind = kind;
    this.dim = dim;
    this.table = table;
    this.lookup = new Lookup(table, 16);
    this.grid = null;
    this.key = "";
    this.axes = null;
    this.map = null;
  }

  /** So that protons, and electrons that are not far off, are seen. @param {Picture} picture */
  fit({ dim, x, protons }) {
    if (this.kind === "circle" || this.kind === "sphere") {
      this.centre = [0, 0];
      this.span = this.kind === "circle" ? 1.75 : 1.12;
      return;
    }
    if (this.kind === "space") this.findAxes({ dim, x, protons });
    const shown = this.kind === "line" ? 1 : 2;
    const places = (/** @type {Float64Array} */ values) =>
      Array.from({ length: values.length / dim }, (_, i) =>
        this.kind === "space"
          ? this.flat(values, i * dim)
          : [...values.subarray(i * dim, i * dim + shown)],
      );
    const homes = places(protons);
    const near = homes.length ? framed(homes, shown) : null;
    const others = places(x).filter(
      (place) =>
        !near || place.every((value, n) => Math.abs(value - near.centre[n]) <= FAR * near.reach),
    );
    const { centre, reach } = framed([...homes, ...others], shown);
    this.centre = centre.map((value) => Math.round(value * 100) / 100);
    this.span = reach * 1.35 + 0.15;
  }

  /** The directions of largest spread, for d > 2. @param {{dim: number, x: Float64Array, protons: Float64Array}} picture */
  findAxes({ dim: d, x, protons }) {
    if (this.axes) return;
    const all = protons.length >= 3 * d ? [...protons] : [...protons, ...x];
    const n = all.length / d;
    const spread = new Float64Array(d * d);
    const mean = Array.from(
      { length: d },
      (_, a) => all.reduce((sum, value, i) => (i % d === a ? sum + value : sum), 0) / n,
    );
    for (let i = 0; i < all.length; i += d) {
      for (let a = 0; a < d; a++)
        for (let b = 0; b < d; b++)
          spread[a * d + b] += (all[i + a] - mean[a]) * (all[i + b] - mean[b]);
    }
    const { vectors } = eigen(spread, d);
    this.axes = [d - 1, d - 2].map((column) =>
      Array.from({ length: d }, (_, a) => vectors[a * d + column]),
    );
  }

  /** @param {ArrayLike<number>} values @param {number} at */
  flat(values, at) {
    return (this.axes ?? []).map((axis) =>
      axis.reduce((sum, part, n) => sum + part * values[at + n], 0),
    );
  }

  /** Pixels of one unit of length. */
  get scale() {
    return (
      (Math.min(this.width, this.height) / 2 - (this.kind === "plane" ? 0 : MARGIN)) / this.span
    );
  }

  /** Where the line is on the canvas. */
  get ground() {
    return this.height * 0.72;
  }

  /** A position on the canvas: x, y and depth (> 0 in front).
   * @param {ArrayLike<number>} values @param {number} [at] @returns {[number, number, number]} */
  place(values, at = 0) {
    const { scale, centre } = this;
    const [mx, my] = [this.width / 2, this.height / 2];
    if (this.kind === "line")
      return [
        mx + ((values[at] - centre[0]) * (this.width / 2 - MARGIN)) / this.span,
        this.ground,
        1,
      ];
    if (this.kind === "sphere") {
      const t = this.turn;
      const [x, y, z] = [0, 3, 6].map(
        (row) => t[row] * values[at] + t[row + 1] * values[at + 1] + t[row + 2] * values[at + 2],
      );
      return [mx + x * scale, my - y * scale, z];
    }
    const [x, y] = this.kind === "space" ? this.flat(values, at) : [values[at], values[at + 1]];
    return [mx + (x - centre[0]) * scale, my - (y - centre[1]) * scale, 1];
  }

  /** The position under a place of the canvas; what is not seen is as in `near`.
   * @param {number} px @param {number} py @param {ArrayLike<number> | null} [near] */
  unplace(px, py, near = null) {
    const { scale, centre } = this;
    const [mx, my] = [this.width / 2, this.height / 2];
    if (this.kind === "line")
      return [centre[0] + (px - mx) / ((this.width / 2 - MARGIN) / this.span)];
    const x = (px - mx) / scale + centre[0];
    const y = -(py - my) / scale + centre[1];
    if (this.kind === "plane") return [x, y];
    if (this.kind === "circle") {
      const length = Math.hypot(x, y) || 1;
      return [x / length, y / length];
    }
    if (this.kind === "sphere") {
      const size = Math.hypot(x, y);
      const [a, b, c] = size >= 1 ? [x / size, y / size, 0] : [x, y, Math.sqrt(1 - size * size)];
      const t = this.turn;
      return [0, 1, 2].map((n) => t[n] * a + t[3 + n] * b + t[6 + n] * c);
    }
    const now = this.flat(near ?? new Float64Array(this.dim ?? 3), 0);
    const axes = this.axes ?? [];
    return Array.from(
      { length: this.dim ?? 3 },
      (_, n) => (near ? near[n] : 0) + axes[0][n] * (x - now[0]) + axes[1][n] * (y - now[1]),
    );
  }

  /** Turn the sphere by a drag. @param {number} dx @param {number} dy */
  rotate(dx, dy) {
    const [a, b] = [dx / this.scale, dy / this.scale];
    const [ca, sa, cb, sb] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
    const by = [ca, 0, sa, sb * sa, cb, -sb * ca, -cb * sa, sb, cb * ca];
    const old = this.turn;
    this.turn = old.map((_, n) =>
      [0, 1, 2].reduce((sum, m) => sum + by[3 * Math.floor(n / 3) + m] * old[3 * m + (n % 3)], 0),
    );
    this.key = "";
  }

  /** @param {number} factor @param {number} px @param {number} py */
  zoom(factor, px, py) {
    if (this.kind === "circle" || this.kind === "sphere") return;
    const before = this.unplace(px, py);
    this.span = Math.min(20, Math.max(0.05, this.span * factor));
    const after = this.unplace(px, py);
    if (this.kind !== "space")
      for (let n = 0; n < before.length; n++) this.centre[n] += before[n] - after[n];
    this.key = "";
  }

  /** How large a charge is drawn. @param {number} weight @param {number} largest @param {number} count */
  radius(weight, largest, count) {
    const crowd = Math.min(1, Math.sqrt(16 / Math.max(count, 1)));
    return Math.sqrt(crowd * (55 + 155 * Math.min(1, Math.abs(weight) / largest)));
  }

  /** The charge under a place, the selected one first. @param {Picture} picture @param {number} px
   * @param {number} py @param {number} [slack] @returns {Picked | null} */
  pick(picture, px, py, slack = 8) {
    const d = picture.dim;
    let best = null;
    let nearest = Infinity;
    for (const what of /** @type {const} */ (["electron", "proton"])) {
      const values = what === "electron" ? picture.x : picture.protons;
      for (let index = 0; index < values.length / d; index++) {
        const [x, y, depth] = this.place(values, index * d);
        const distance =
          Math.hypot(x - px, y - py) + (depth < 0 ? 6 : 0) + (what === "proton" ? 1 : 0);
        if (distance < nearest && distance < 13 + slack) {
          nearest = distance;
          best = { what, index };
        }
      }
    }
    return best;
  }

  /** @param {Picture} picture */
  draw(picture) {
    this.resize();
    const g = this.context;
    const colours = COLOURS[this.dark ? "dark" : "light"];
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.fillStyle = colours.paper;
    g.fillRect(0, 0, this.width, this.height);
    if (this.kind === "space") this.findAxes(picture);
    const sources = this.sources(picture);
    if (this.kind === "plane" || this.kind === "sphere") this.drawField(g, sources, colours);
    else if (this.kind === "line") this.drawLine(g, sources, colours);
    else if (this.kind === "circle") this.drawCircle(g, sources, colours);
    if (this.kind === "plane") this.drawGrid(g, colours);
    if (this.show.lines && this.kind === "plane") this.drawLines(g, picture, sources, colours);
    if (this.show.trails) drawTrails(this, g, picture, colours);
    drawCharges(this, g, picture, colours);
    if (this.show.arrows && picture.direction) drawArrows(this, g, picture, colours);
  }

  /** All charges but that of the selected electron, or of the only one: what it feels. @param {Picture} picture */
  sources({ dim, x, c, protons, charges, selected }) {
    const positions = new Float64Array(protons.length + x.length);
    positions.set(protons);
    positions.set(x, protons.length);
    const values = Float64Array.from([...charges, ...c.map((weight) => -weight)]);
    const own = selected?.what === "electron" ? selected.index : c.length === 1 ? 0 : -1;
    if (own >= 0) values[charges.length + own] = 0;
    return { dim, positions, values };
  }

  /** What a test electron feels at a place, or null where nothing is shown.
   * @param {Picture} picture @param {number[]} place */
  potentialAt(picture, place) {
    if (!this.lookup || !this.show.field) return null;
    const { positions, values } = this.sources(picture);
    return potentialAt(this.lookup, picture.dim, Float64Array.from(place), positions, values)[0];
  }

  /** @param {CanvasRenderingContext2D} g @param {{dim: number, positions: Float64Array, values: Float64Array}} sources
   * @param {typeof COLOURS.light} colours */
  drawField(g, sources, colours) {
    const sphere = this.kind === "sphere";
    const [mx, my] = [this.width / 2, this.height / 2];
    if (this.map && !sphere) {
      g.imageSmoothingEnabled = true;
      g.drawImage(this.map, 0, 0, this.width, this.height);
      return;
    }
    if (this.show.field && this.lookup) {
      const work =
        (this.width * this.height * sources.values.length) / WORK[this.rough ? "rough" : "still"];
      const cell = CELLS.find((side) => work <= side * side) ?? CELLS[CELLS.length - 1];
      const grid = this.fieldGrid(sources.dim, cell);
      const { left, top, columns, rows } = grid;
      const fine = this.rough ? (cell > 5 ? 3 : 2) : cell > 5 ? 8 : 5; // pixels of a cell
      if (
        grid !== this.shadedGrid ||
        fine !== this.shadedFine ||
        this.dark !== this.shadedDark ||
        !same(sources.positions, this.shadedPositions) ||
        !same(sources.values, this.shadedValues)
      ) {
        Object.assign(this, {
          shadedGrid: grid,
          shadedFine: fine,
          shadedDark: this.dark,
          shadedPositions: sources.positions,
          shadedValues: sources.values,
        });
        const values = potentialAt(
          this.lookup,
          sources.dim,
          grid.points,
          sources.positions,
          sources.values,
        );
        const image = shades(
          values,
          columns,
          rows,
          levelsOf(values, this.lookup.floor(sources.values)),
          this.dark,
          grid.mask,
          fine,
        );
        this.surface.width = image.width;
        this.surface.height = image.height;
        /** @type {CanvasRenderingContext2D} */ (this.surface.getContext("2d")).putImageData(
          image,
          0,
          0,
        );
      }
      g.save();
      if (sphere) {
        g.beginPath();
        g.arc(mx, my, this.scale, 0, 2 * Math.PI);
        g.clip();
      }
      g.imageSmoothingEnabled = true;
      g.drawImage(this.surface, left, top, (columns - 1) * cell, (rows - 1) * cell);
      g.restore();
    }
    if (sphere) {
      const shine = g.createRadialGradient(
        mx - this.scale * 0.35,
        my - this.scale * 0.4,
        this.scale * 0.1,
        mx,
        my,
        this.scale,
      );
      shine.addColorStop(0, "rgba(255,255,255,0.14)");
      shine.addColorStop(0.75, "rgba(0,0,0,0.02)");
      shine.addColorStop(1, this.dark ? "rgba(0,0,0,0.45)" : "rgba(30,40,70,0.16)");
      g.fillStyle = shine;
      g.beginPath();
      g.arc(mx, my, this.scale, 0, 2 * Math.PI);
      g.fill();
      g.strokeStyle = colours.pale;
      g.lineWidth = 1;
      g.stroke();
    }
  }

  /** The points of the field for this view; the same object while the view stays.
   * @param {number} d @param {number} cell */
  fieldGrid(d, cell) {
    const sphere = this.kind === "sphere";
    const key = [
      cell,
      this.kind,
      this.width,
      this.height,
      ...this.centre,
      this.span,
      ...(sphere ? this.turn : []),
      this.key,
    ].join();
    if (this.grid?.key === key) return this.grid;
    const [mx, my] = [this.width / 2, this.height / 2];
    const reach = sphere ? this.scale + 2 * cell : Infinity;
    const [left, top] = [Math.max(0, mx - reach), Math.max(0, my - reach)];
    const [columns, rows] = [
      Math.ceil((this.width - 2 * left) / cell) + 1,
      Math.ceil((this.height - 2 * top) / cell) + 1,
    ];
    const points = new Float64Array(columns * rows * d);
    const mask = sphere ? new Float32Array(columns * rows) : null;
    for (let r = 0, i = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++, i++) {
        const [px, py] = [left + c * cell, top + r * cell];
        const at = this.unplace(px, py);
        for (let n = 0; n < d; n++) points[i * d + n] = at[n];
        if (mask) mask[i] = Math.hypot(px - mx, py - my) < reach ? 1 : 0;
      }
    }
    this.grid = { key, left, top, columns, rows, points, mask };
    return this.grid;
  }

  /** Marks of the axes along the edges. @param {CanvasRenderingContext2D} g @param {typeof COLOURS.light} colours */
  drawGrid(g, colours) {
    const raw = this.span / 3;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5, 10].find((n) => n * power >= raw) ?? 10);
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = colours.pale;
    g.strokeStyle = this.dark ? "rgba(255,255,255,0.06)" : "rgba(31,36,48,0.05)";
    g.lineWidth = 1;
    const [left, top] = this.unplace(0, 0);
    const [right, bottom] = this.unplace(this.width, this.height);
    for (let x = Math.ceil(left / step) * step; x < right; x += step) {
      const [px] = this.place([x, 0]);
      line(g, px, 0, px, this.height);
      if (px > 20 && px < this.width - 20) g.fillText(tidy(x), px + 3, this.height - 6);
    }
    for (let y = Math.ceil(bottom / step) * step; y < top; y += step) {
      const [, py] = this.place([0, y]);
      line(g, 0, py, this.width, py);
      if (py > 16 && py < this.height - 22) g.fillText(tidy(y), 6, py - 4);
    }
  }

  /** The line with the potential above it. @param {CanvasRenderingContext2D} g
   * @param {{dim: number, positions: Float64Array, values: Float64Array}} sources @param {typeof COLOURS.light} colours */
  drawLine(g, sources, colours) {
    const count = Math.max(2, Math.round(this.width));
    const points = Float64Array.from(
      { length: count },
      (_, i) => this.unplace((i / (count - 1)) * this.width, 0)[0],
    );
    const values = this.lookup
      ? potentialAt(this.lookup, 1, points, sources.positions, sources.values)
      : new Float32Array(count);
    let limit = this.lookup?.floor(sources.values) ?? 0;
    for (const value of values)
      if (Number.isFinite(value)) limit = Math.max(limit, Math.abs(value));
    const up = (this.ground - 40) / Math.max(limit * 1.1, 1e-9);
    const y = (/** @type {number} */ value) =>
      Math.max(
        16,
        Math.min(
          this.height - 14,
          this.ground - Math.max(-2 * limit, Math.min(2 * limit, value)) * up,
        ),
      );
    if (this.show.field) {
      const steps = stepColours(this.dark);
      for (const [sign, colour] of /** @type {[number, number[]][]} */ ([
        [1, steps[steps.length - 5]],
        [-1, steps[4]],
      ])) {
        g.fillStyle = `rgb(${colour.join()})`;
        g.beginPath();
        g.moveTo(0, this.ground);
        values.forEach((value, i) =>
          g.lineTo((i / (count - 1)) * this.width, y(sign * Math.max(0, sign * value))),
        );
        g.lineTo(this.width, this.ground);
        g.fill();
      }
    }
    g.strokeStyle = colours.ink;
    g.lineWidth = 1.4;
    g.beginPath();
    values.forEach((value, i) =>
      g[i ? "lineTo" : "moveTo"]((i / (count - 1)) * this.width, y(value)),
    );
    g.stroke();
    g.strokeStyle = colours.pale;
    g.lineWidth = 1;
    line(g, 0, this.ground, this.width, this.ground);
    g.fillStyle = colours.pale;
    g.font = "11px system-ui, sans-serif";
    g.fillText("potential that a test electron feels", 10, 22);
    const power = 10 ** Math.floor(Math.log10(this.span / 3));
    const step = power * ([1, 2, 5, 10].find((n) => n * power >= this.span / 3) ?? 10);
    for (
      let x = Math.ceil((this.centre[0] - this.span) / step) * step;
      x < this.centre[0] + this.span;
      x += step
    ) {
      const [px] = this.place([x]);
      line(g, px, this.ground, px, this.ground + 5);
      g.fillText(tidy(x), px - 6, this.ground + 40);
    }
  }

  /** The circle, shaded, with the potential drawn around it. @param {CanvasRenderingContext2D} g
   * @param {{dim: number, positions: Float64Array, values: Float64Array}} sources @param {typeof COLOURS.light} colours */
  drawCircle(g, sources, colours) {
    const count = 720;
    const points = new Float64Array(2 * count);
    for (let i = 0; i < count; i++)
      points.set([Math.cos((2 * Math.PI * i) / count), Math.sin((2 * Math.PI * i) / count)], 2 * i);
    const values = this.lookup
      ? potentialAt(this.lookup, 2, points, sources.positions, sources.values)
      : new Float32Array(count);
    const levels = levelsOf(values, this.lookup?.floor(sources.values));
    const steps = stepColours(this.dark);
    const limit = Math.max(...values.map(Math.abs), levels[levels.length - 1], 1e-9);
    const [mx, my] = [this.width / 2, this.height / 2];
    const out = (/** @type {number} */ i, /** @type {number} */ r) =>
      /** @type {[number, number]} */ ([
        mx + points[2 * (i % count)] * r * this.scale,
        my - points[2 * (i % count) + 1] * r * this.scale,
      ]);
    if (this.show.field) {
      for (let i = 0; i < count; i++) {
        const size = Math.abs(values[i]);
        let n = 0;
        while (n < levels.length && size >= levels[n]) n++;
        g.fillStyle = `rgb(${steps[values[i] < 0 ? levels.length - n : levels.length + n].join()})`;
        g.beginPath();
        g.moveTo(...out(i, 1));
        g.lineTo(...out(i, 1 + (0.42 * values[i]) / limit));
        g.lineTo(...out(i + 1, 1 + (0.42 * values[(i + 1) % count]) / limit));
        g.lineTo(...out(i + 1, 1));
        g.fill();
      }
    }
    g.strokeStyle = colours.pale;
    g.lineWidth = 1;
    g.beginPath();
    g.arc(mx, my, this.scale, 0, 2 * Math.PI);
    g.stroke();
    g.strokeStyle = colours.ink;
    g.lineWidth = 1.3;
    g.beginPath();
    for (let i = 0; i <= count; i++)
      g[i ? "lineTo" : "moveTo"](...out(i, 1 + (0.42 * values[i % count]) / limit));
    g.stroke();
    g.fillStyle = colours.pale;
    g.font = "11px system-ui, sans-serif";
    g.fillText(
      "outside the circle: the potential that a test electron feels",
      10,
      this.height - 10,
    );
  }

  /** Field lines of the test electron, from around the charges. @param {CanvasRenderingContext2D} g
   * @param {Picture} picture @param {{positions: Float64Array, values: Float64Array}} sources @param {typeof COLOURS.light} colours */
  drawLines(g, picture, sources, colours) {
    const { lookup } = this;
    if (!lookup || lookup.kind !== "radial") return;
    g.strokeStyle = colours.field;
    g.globalAlpha = 0.55;
    g.lineWidth = 1;
    const force = (/** @type {number} */ x, /** @type {number} */ y) => {
      let [fx, fy] = [0, 0];
      for (let j = 0; j < sources.values.length; j++) {
        const [dx, dy] = [x - sources.positions[2 * j], y - sources.positions[2 * j + 1]];
        const r = Math.hypot(dx, dy) || 1e-9;
        const f = (sources.values[j] * lookup.slope(r)) / r;
        fx += f * dx;
        fy += f * dy;
      }
      const size = Math.hypot(fx, fy) || 1e-12;
      return [fx / size, fy / size];
    };
    const step = this.span / 70;
    const count = picture.charges.length;
    for (let j = 0; j < count; j++) {
      for (let n = 0; n < 14; n++) {
        const angle = (2 * Math.PI * (n + 0.5)) / 14;
        let x = picture.protons[2 * j] + 1.5 * step * Math.cos(angle);
        let y = picture.protons[2 * j + 1] + 1.5 * step * Math.sin(angle);
        const away = -Math.sign(picture.charges[j] || 1);
        g.beginPath();
        const [px, py] = this.place([x, y]);
        g.moveTo(px, py);
        for (let t = 0; t < 160; t++) {
          const [a, b] = force(x, y);
          const [c, d] = force(x + (away * step * a) / 2, y + (away * step * b) / 2);
          x += away * step * c;
          y += away * step * d;
          const [qx, qy] = this.place([x, y]);
          if (qx < -40 || qy < -40 || qx > this.width + 40 || qy > this.height + 40) break;
          g.lineTo(qx, qy);
        }
        g.stroke();
      }
    }
    g.globalAlpha = 1;
  }
}

/** The middle of places, and how far they reach from it, at least 1.
 * @param {number[][]} places @param {number} count of coordinates */
function framed(places, count) {
  const centre = [0, 0];
  let reach = 1;
  for (let n = 0; n < count && places.length; n++) {
    const values = places.map((place) => place[n]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    centre[n] = (low + high) / 2;
    reach = Math.max(reach, (high - low) / 2);
  }
  return { centre, reach };
}

/** @param {Float64Array} a @param {Float64Array | undefined} b */
function same(a, b) {
  return a.length === b?.length && a.every((value, n) => value === b[n]);
}

/** @param {number} value */
function tidy(value) {
  return (Math.round(value * 1e6) / 1e6).toString().replace("-", "−");
}
