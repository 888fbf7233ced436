// Small charts: the energy against time, and the functions sigma and Phi, on canvases.

import { COLOURS } from "./colours.js";
import { roundStep } from "./marks.js";
import { short } from "./words.js";

/** @param {HTMLCanvasElement} canvas @returns {{g: CanvasRenderingContext2D, w: number, h: number}} */
function sheet(canvas) {
  const box = canvas.getBoundingClientRect();
  const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
  const [w, h] = [Math.max(40, Math.round(box.width)), Math.max(40, Math.round(box.height))];
  if (canvas.width !== w * ratio) canvas.width = w * ratio;
  if (canvas.height !== h * ratio) canvas.height = h * ratio;
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  g.font = "11px system-ui, sans-serif";
  return { g, w, h };
}

/**
 * @typedef {{points: [number, number][], colour: "ink" | "electron" | "proton" | "astray" | "field" | "pale", name?: string, dots?: boolean}} Curve
 */

/** Curves in one frame. @param {HTMLCanvasElement} canvas @param {Curve[]} curves
 * @param {{dark: boolean, x: string, y?: string, logarithmic?: boolean, mark?: number | null}} how */
export function drawCurves(
  canvas,
  curves,
  { dark, x: xName, y: yName = "", logarithmic = false, mark = null },
) {
  const { g, w, h } = sheet(canvas);
  const colours = COLOURS[dark ? "dark" : "light"];
  const [left, right, top, bottom] = [46, 10, 16, 24];
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  const floor = 1e-12 * Math.max(...curves.flatMap(({ points }) => points.map(([, y]) => y || 0)));
  const high = (/** @type {number} */ y) => (logarithmic ? Math.log10(Math.max(y, floor)) : y);
  for (const { points } of curves) {
    for (const [x, y] of points) {
      if (!Number.isFinite(high(y))) continue;
      [x0, x1] = [Math.min(x0, x), Math.max(x1, x)];
      [y0, y1] = [Math.min(y0, high(y)), Math.max(y1, high(y))];
    }
  }
  if (!(x1 > x0)) [x0, x1] = [Number.isFinite(x0) ? x0 : 0, (Number.isFinite(x0) ? x0 : 0) + 1];
  if (!(y1 - y0 > 1e-12 * Math.max(1, Math.abs(y1))))
    [y0, y1] = [(Number.isFinite(y0) ? y0 : 0) - 0.5, (Number.isFinite(y0) ? y0 : 0) + 0.5];
  const pad = 0.06 * (y1 - y0);
  [y0, y1] = [y0 - pad, y1 + pad];
  const px = (/** @type {number} */ x) => left + ((x - x0) / (x1 - x0)) * (w - left - right);
  const py = (/** @type {number} */ y) => top + ((y1 - high(y)) / (y1 - y0)) * (h - top - bottom);
  g.strokeStyle = colours.grid;
  g.lineWidth = 1;
  g.fillStyle = colours.pale;
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (const y of ticks(y0, y1, logarithmic)) {
    const at = top + ((y1 - y) / (y1 - y0)) * (h - top - bottom);
    stroke(g, [
      [left, at],
      [w - right, at],
    ]);
    g.fillText(logarithmic ? power(y) : short(y), left - 5, at);
  }
  g.textAlign = "center";
  g.textBaseline = "alphabetic";
  for (const x of ticks(x0, x1, false)) {
    if (px(x) < w - right - 44) g.fillText(short(x), Math.max(left, px(x)), h - bottom + 13);
  }
  g.textAlign = "right";
  g.fillText(xName, w - right, h - bottom + 13);
  g.textAlign = "left";
  g.fillText(yName, left, 11);
  for (const { points, colour, dots } of curves) {
    g.strokeStyle = g.fillStyle = colours[colour];
    g.lineWidth = 1.8;
    if (dots) {
      for (const [x, y] of points) g.fillRect(px(x) - 1.5, py(y) - 1.5, 3, 3);
      continue;
    }
    const shown = points
      .filter(([, y]) => Number.isFinite(high(y)))
      .map(([x, y]) => [px(x), py(y)]);
    if (shown.length === 1) g.fillRect(shown[0][0] - 2, shown[0][1] - 2, 4, 4);
    stroke(g, shown);
  }
  let offset = w - right;
  g.textAlign = "right";
  for (const { name, colour } of [...curves].reverse()) {
    if (!name) continue;
    g.fillStyle = colours[colour];
    g.fillText(name, offset, 11);
    offset -= g.measureText(name).width + 12;
  }
  if (mark !== null && mark >= x0 && mark <= x1) {
    g.strokeStyle = colours.ink;
    g.lineWidth = 1;
    g.setLineDash([3, 3]);
    stroke(g, [
      [px(mark), top],
      [px(mark), h - bottom],
    ]);
    g.setLineDash([]);
  }
}

/** 10^y in few letters. @param {number} y */
const power = (y) => (Math.abs(y) <= 2 ? short(10 ** y) : `1e${short(y)}`);

/** @param {CanvasRenderingContext2D} g @param {number[][]} points */
function stroke(g, points) {
  g.beginPath();
  points.forEach(([x, y], i) => g[i ? "lineTo" : "moveTo"](x, y));
  g.stroke();
}

/** @param {number} low @param {number} high @param {boolean} whole */
function ticks(low, high, whole) {
  let step = roundStep((high - low) / 4);
  if (whole) step = Math.max(1, Math.round(step));
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-12 && found.length < 9; at += step)
    found.push(Math.abs(at) < 1e-12 * step ? 0 : at);
  return found;
}
