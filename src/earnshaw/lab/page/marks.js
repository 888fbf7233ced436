// Charges, their ways and the softest direction, drawn on the stage.

const SEGMENTS = 3000; // of all ways together
const BANDS = 10; // of opacity along a way
export const MARGIN = 26;

/** @param {import("./stage.js").Stage} stage @param {CanvasRenderingContext2D} g @param {import("./stage.js").Picture} picture @param {import("./colours.js").Colours} colours */
export function drawTrails(stage, g, { dim, x, ways }, colours) {
  if (ways.length < 2) return;
  const k = x.length / dim;
  g.lineWidth = 1.8;
  g.lineJoin = "round";
  g.strokeStyle = colours.electron;
  const count = Math.min(ways.length, Math.max(24, Math.floor(SEGMENTS / k)));
  const rows = Array.from(
    { length: count },
    (_, n) => ways[Math.round((n * (ways.length - 1)) / (count - 1))].x,
  ).filter((way) => way.length === x.length);
  const piece = Math.ceil(rows.length / BANDS); // drawn with one opacity, fainter the older
  for (let from = 0; from < rows.length - 1; from += piece) {
    const paths = [new Path2D(), new Path2D()]; // in front, and behind the sphere
    const to = Math.min(from + piece, rows.length - 1);
    for (let i = 0; i < k; i++) {
      const path = paths[stage.place(rows[to], i * dim)[2] < 0 ? 1 : 0];
      for (let n = from; n <= to; n++) {
        const [px, py] = stage.place(rows[n], i * dim);
        if (n === from) path.moveTo(px, py);
        else path.lineTo(px, py);
      }
    }
    paths.forEach((path, behind) => {
      if (behind && stage.kind !== "sphere") return;
      g.globalAlpha = (0.2 + (0.55 * from) / rows.length) * (behind ? 0.3 : 1);
      g.stroke(path);
    });
  }
  g.globalAlpha = 1;
}

/** Red discs with a plus, blue ones with a minus; hollow where the weight is negative; a bound
 * electron is a ring around its proton. @param {import("./stage.js").Stage} stage @param {CanvasRenderingContext2D} g
 * @param {import("./stage.js").Picture} picture @param {import("./colours.js").Colours} colours */
export function drawCharges(stage, g, picture, colours) {
  const { dim: d, x, c, bound, protons, charges, selected, frozen } = picture;
  const largest = Math.max(...charges.map(Math.abs), ...c.map(Math.abs), 1e-9);
  const count = c.length + charges.length;
  const marks = [];
  for (let j = 0; j < charges.length; j++)
    marks.push({ what: "proton", index: j, at: stage.place(protons, j * d), weight: charges[j] });
  for (let i = 0; i < c.length; i++)
    marks.push({ what: "electron", index: i, at: stage.place(x, i * d), weight: c[i] });
  marks.sort((a, b) => a.at[2] - b.at[2] || (a.what === "proton" ? -1 : 1));
  for (const { what, index, at, weight } of marks) {
    const [px, py, depth] = at;
    const electron = what === "electron";
    const ring = electron && ((bound[index] ?? -1) >= 0 || covers(stage, px, py, protons, d));
    const r = stage.radius(weight, largest, count) + (ring ? 5.5 : 0);
    const colour = electron ? colours.electron : colours.proton;
    g.globalAlpha = depth < 0 ? 0.28 : 1;
    if (selected?.what === what && selected.index === index) {
      g.strokeStyle = colours.ink;
      g.setLineDash([3, 3]);
      g.lineWidth = 1.4;
      disc(g, px, py, r + 6, "stroke");
      g.setLineDash([]);
    }
    if (ring) {
      g.strokeStyle = colour;
      g.lineWidth = 3;
      disc(g, px, py, r, "stroke");
      g.globalAlpha = 1;
      continue;
    }
    const solid = weight > 0;
    g.fillStyle = solid ? colour : colours.paper;
    disc(g, px, py, r, "fill");
    g.lineWidth = solid ? 1.2 : 2.4;
    g.strokeStyle = solid ? colours.edge : colour;
    if (weight === 0) g.setLineDash([2, 2]);
    disc(g, px, py, r, "stroke");
    g.setLineDash([]);
    g.strokeStyle = solid ? colours.edge : colour;
    g.lineWidth = 2;
    const arm = r * 0.45;
    if (weight !== 0) {
      line(g, px - arm, py, px + arm, py);
      if (electron !== solid) line(g, px, py - arm, px, py + arm);
    }
    if (electron && frozen[index]) {
      g.strokeStyle = colours.ink;
      g.lineWidth = 1.5;
      g.strokeRect(px - r - 3, py - r - 3, 2 * r + 6, 2 * r + 6);
    }
    g.globalAlpha = 1;
  }
}

/** Whether a proton is right under a place.
 * @param {import("./stage.js").Stage} stage @param {number} px @param {number} py
 * @param {Float64Array} protons @param {number} d */
function covers(stage, px, py, protons, d) {
  for (let j = 0; j < protons.length; j += d) {
    const [x, y] = stage.place(protons, j);
    if (Math.hypot(x - px, y - py) < 2) return true;
  }
  return false;
}

/** The direction of the smallest eigenvalue. @param {import("./stage.js").Stage} stage @param {CanvasRenderingContext2D} g
 * @param {import("./stage.js").Picture} picture @param {import("./colours.js").Colours} colours */
export function drawArrows(stage, g, { dim: d, x, direction }, colours) {
  if (!direction || direction.length !== x.length) return;
  g.strokeStyle = g.fillStyle = colours.astray;
  g.lineWidth = 2.5;
  const largest = Math.max(...direction.map(Math.abs), 1e-9);
  const length =
    46 /
    (largest * (stage.kind === "line" ? (stage.width / 2 - MARGIN) / stage.span : stage.scale));
  for (let i = 0; i < x.length / d; i++) {
    const size = Math.hypot(...direction.subarray(i * d, (i + 1) * d));
    if (size < 0.15 * largest) continue;
    for (const sign of [1, -1]) {
      const [ax, ay, depth] = stage.place(x, i * d);
      const tip = Array.from(
        { length: d },
        (_, n) => x[i * d + n] + sign * length * direction[i * d + n],
      );
      const [bx, by] = stage.place(tip);
      if (depth < 0) continue;
      g.globalAlpha = 0.9;
      arrow(g, ax, ay, bx, by);
    }
  }
  g.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} g @param {number} a @param {number} b @param {number} c @param {number} d */
export function line(g, a, b, c, d) {
  g.beginPath();
  g.moveTo(a, b);
  g.lineTo(c, d);
  g.stroke();
}

/** @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} r
 * @param {"fill" | "stroke"} how */
function disc(g, x, y, r, how) {
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g[how]();
}

/** @param {CanvasRenderingContext2D} g @param {number} ax @param {number} ay @param {number} bx @param {number} by */
function arrow(g, ax, ay, bx, by) {
  const size = Math.hypot(bx - ax, by - ay);
  if (size < 6) return;
  const [ux, uy] = [(bx - ax) / size, (by - ay) / size];
  line(g, ax + ux * 13, ay + uy * 13, bx - ux * 6, by - uy * 6);
  g.beginPath();
  g.moveTo(bx, by);
  g.lineTo(bx - ux * 10 - uy * 5, by - uy * 10 + ux * 5);
  g.lineTo(bx - ux * 10 + uy * 5, by - uy * 10 - ux * 5);
  g.fill();
}

/** A round distance between marks of an axis, at least `raw`. @param {number} raw */
export function roundStep(raw) {
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5, 10].find((n) => n * power >= raw) ?? 10);
}

/** @param {number} value */
export function tidy(value) {
  return (Math.round(value * 1e6) / 1e6).toString().replace("-", "−");
}
