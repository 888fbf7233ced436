// The stage: charges, their field, their ways and the softest direction, on one canvas.
//
// A view turns positions into places on the canvas and back. The line has the potential drawn above
// it, the circle around it; the sphere is seen from outside and can be turned; of R^d, d > 2, the
// two directions along which the charges spread most are seen.

import { COLOURS } from "./colours.js";
import { Lookup, potentialAt } from "./field.js";
import { drawLines } from "./fieldlines.js";
import { FieldLayer } from "./layer.js";
import { eigen } from "./linear.js";
import { MARGIN, drawArrows, drawCharges, drawTrails, line, roundStep, tidy } from "./marks.js";
import { drawCircle, drawLine } from "./profiles.js";

const FAR = 3; // electrons this many times farther out than protons are not fitted into the view

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
    this.context = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext("2d", { alpha: false })
    );
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
    this.rough = false; // whether pictures follow each other quickly
    /** @type {CanvasImageSource | null} a map drawn instead of the field */
    this.map = null;
    this.key = ""; // changes where a view does that nothing else tells
    /** @type {Lookup | null} */
    this.lookup = null;
    this.layer = new FieldLayer(this);
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
    return this.height * 0.6;
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
    if (this.kind === "circle") return;
    const before = this.unplace(px, py);
    const most = this.kind === "sphere" ? 1.12 : 20; // all of the ball
    this.span = Math.min(most, Math.max(0.05, this.span * factor));
    const after = this.unplace(px, py);
    if (this.kind === "plane" || this.kind === "line")
      for (let n = 0; n < before.length; n++) this.centre[n] += before[n] - after[n];
    this.key = "";
  }

  /** Whether a place of the canvas is one of the stage. @param {number} px @param {number} py */
  holds(px, py) {
    if (this.kind !== "sphere") return this.kind !== "space";
    return Math.hypot(px - this.width / 2, py - this.height / 2) <= this.scale;
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
    else if (this.kind === "line") drawLine(this, g, sources, colours);
    else if (this.kind === "circle") drawCircle(this, g, sources, colours);
    if (this.kind === "plane") this.drawGrid(g, colours);
    if (this.show.lines && this.kind === "plane") drawLines(this, g, picture, sources, colours);
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

  /** The field or the map of ends; the ball that the sphere is.
   * @param {CanvasRenderingContext2D} g @param {import("./layer.js").Sources} sources
   * @param {import("./colours.js").Colours} colours */
  drawField(g, sources, colours) {
    if (this.kind !== "sphere") {
      if (this.map) g.drawImage(this.map, 0, 0, this.width, this.height);
      else if (this.show.field) this.layer.draw(g, sources);
      return;
    }
    const [mx, my, r] = [this.width / 2, this.height / 2, this.scale];
    g.save();
    g.beginPath();
    g.arc(mx, my, r, 0, 2 * Math.PI);
    g.clip();
    if (this.show.field) this.layer.draw(g, sources);
    const shine = g.createRadialGradient(mx - r * 0.35, my - r * 0.4, r * 0.1, mx, my, r);
    shine.addColorStop(0, "rgba(255,255,255,0.14)");
    shine.addColorStop(0.75, "rgba(0,0,0,0.02)");
    shine.addColorStop(1, this.dark ? "rgba(0,0,0,0.45)" : "rgba(30,40,70,0.16)");
    g.fillStyle = shine;
    g.fillRect(mx - r, my - r, 2 * r, 2 * r);
    g.restore();
    g.strokeStyle = colours.pale;
    g.lineWidth = 1;
    g.beginPath();
    g.arc(mx, my, r, 0, 2 * Math.PI);
    g.stroke();
  }

  /** Marks of the axes along the edges. @param {CanvasRenderingContext2D} g @param {import("./colours.js").Colours} colours */
  drawGrid(g, colours) {
    const step = roundStep(this.span / 3);
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
