// The line and the circle, with the potential that a test electron feels drawn above and around them.

import { levelsOf, potentialAt, stepColours } from "./field.js";
import { line, roundStep, tidy } from "./marks.js";

/** The line with the potential above it. @param {import("./stage.js").Stage} stage
 * @param {CanvasRenderingContext2D} g @param {import("./layer.js").Sources} sources
 * @param {import("./colours.js").Colours} colours */
export function drawLine(stage, g, sources, colours) {
  const count = Math.max(2, Math.round(stage.width));
  const points = Float64Array.from(
    { length: count },
    (_, i) => stage.unplace((i / (count - 1)) * stage.width, 0)[0],
  );
  const values = stage.lookup
    ? potentialAt(stage.lookup, 1, points, sources.positions, sources.values)
    : new Float32Array(count);
  let limit = stage.lookup?.floor(sources.values) ?? 0;
  for (const value of values) if (Number.isFinite(value)) limit = Math.max(limit, Math.abs(value));
  const lowest = values.reduce((least, value) => Math.min(least, value), 0);
  const up = Math.min(
    (stage.ground - 40) / Math.max(limit * 1.1, 1e-9),
    (stage.height - stage.ground - 20) / Math.max(-lowest, 1e-9),
  );
  const y = (/** @type {number} */ value) =>
    Math.max(
      16,
      Math.min(
        stage.height - 14,
        stage.ground - Math.max(-2 * limit, Math.min(2 * limit, value)) * up,
      ),
    );
  if (stage.show.field) {
    const steps = stepColours(stage.dark);
    for (const [sign, colour] of /** @type {[number, number[]][]} */ ([
      [1, steps[steps.length - 5]],
      [-1, steps[4]],
    ])) {
      g.fillStyle = `rgb(${colour.join()})`;
      g.beginPath();
      g.moveTo(0, stage.ground);
      values.forEach((value, i) =>
        g.lineTo((i / (count - 1)) * stage.width, y(sign * Math.max(0, sign * value))),
      );
      g.lineTo(stage.width, stage.ground);
      g.fill();
    }
  }
  g.strokeStyle = colours.ink;
  g.lineWidth = 1.4;
  g.beginPath();
  values.forEach((value, i) =>
    g[i ? "lineTo" : "moveTo"]((i / (count - 1)) * stage.width, y(value)),
  );
  g.stroke();
  g.strokeStyle = colours.pale;
  g.lineWidth = 1;
  line(g, 0, stage.ground, stage.width, stage.ground);
  g.fillStyle = colours.pale;
  g.font = "11px system-ui, sans-serif";
  g.fillText("potential that a test electron feels", 10, 22);
  const step = roundStep(stage.span / 3);
  for (
    let x = Math.ceil((stage.centre[0] - stage.span) / step) * step;
    x < stage.centre[0] + stage.span;
    x += step
  ) {
    const [px] = stage.place([x]);
    line(g, px, stage.ground, px, stage.ground + 5);
    g.fillText(tidy(x), px - 6, stage.ground + 40);
  }
}

/** The circle, shaded, with the potential drawn around it. @param {import("./stage.js").Stage} stage
 * @param {CanvasRenderingContext2D} g @param {import("./layer.js").Sources} sources
 * @param {import("./colours.js").Colours} colours */
export function drawCircle(stage, g, sources, colours) {
  const count = 720;
  const points = new Float64Array(2 * count);
  for (let i = 0; i < count; i++)
    points.set([Math.cos((2 * Math.PI * i) / count), Math.sin((2 * Math.PI * i) / count)], 2 * i);
  const values = stage.lookup
    ? potentialAt(stage.lookup, 2, points, sources.positions, sources.values)
    : new Float32Array(count);
  const levels = levelsOf(values, stage.lookup?.floor(sources.values));
  const steps = stepColours(stage.dark);
  const limit = Math.max(...values.map(Math.abs), levels[levels.length - 1], 1e-9);
  const [mx, my] = [stage.width / 2, stage.height / 2];
  const out = (/** @type {number} */ i, /** @type {number} */ r) =>
    /** @type {[number, number]} */ ([
      mx + points[2 * (i % count)] * r * stage.scale,
      my - points[2 * (i % count) + 1] * r * stage.scale,
    ]);
  if (stage.show.field) {
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
  g.arc(mx, my, stage.scale, 0, 2 * Math.PI);
  g.stroke();
  g.strokeStyle = colours.ink;
  g.lineWidth = 1.3;
  g.beginPath();
  for (let i = 0; i <= count; i++)
    g[i ? "lineTo" : "moveTo"](...out(i, 1 + (0.42 * values[i % count]) / limit));
  g.stroke();
  g.fillStyle = colours.pale;
  g.font = "11px system-ui, sans-serif";
  g.fillText("outside the circle: the potential that a test electron feels", 10, stage.height - 10);
}
