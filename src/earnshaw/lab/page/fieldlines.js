// Field lines of the plane: along the force on a test electron, out from around the protons; of
// units whose fields have no poles there, through places all over the view.

const FROM = 14; // lines of a proton
const LONGEST = 160; // steps
const SEEDS = [9, 7]; // where lines pass that no charge attracts: columns and rows of the view

/** @param {import("./stage.js").Stage} stage @param {CanvasRenderingContext2D} g
 * @param {import("./stage.js").Picture} picture @param {import("./layer.js").Sources} sources
 * @param {import("./colours.js").Colours} colours */
export function drawLines(stage, g, picture, sources, colours) {
  const force = forceOf(stage, sources);
  if (!force) return;
  g.strokeStyle = colours.field;
  g.globalAlpha = 0.55;
  g.lineWidth = 1;
  g.beginPath();
  const step = stage.span / 70;
  const follow = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ way) => {
    const [px, py] = stage.place([x, y]);
    g.moveTo(px, py);
    let [u, v] = [0, 0];
    for (let t = 0; t < LONGEST; t++) {
      const [a, b] = force(x, y);
      const [c, d] = force(x + (way * step * a) / 2, y + (way * step * b) / 2);
      if (u * c + v * d < 0) break; // a saddle or a charge: where it goes from there is rounding
      [u, v] = [c, d];
      x += way * step * c;
      y += way * step * d;
      const [qx, qy] = stage.place([x, y]);
      if (qx < -40 || qy < -40 || qx > stage.width + 40 || qy > stage.height + 40) break;
      g.lineTo(qx, qy);
    }
  };
  if (stage.lookup?.kind === "radial") {
    for (let j = 0; j < picture.charges.length; j++) {
      for (let n = 0; n < FROM; n++) {
        const angle = (2 * Math.PI * (n + 0.5)) / FROM;
        const [x, y] = [picture.protons[2 * j], picture.protons[2 * j + 1]];
        follow(
          x + 1.5 * step * Math.cos(angle),
          y + 1.5 * step * Math.sin(angle),
          -Math.sign(picture.charges[j] || 1),
        );
      }
    }
  } else {
    for (let n = 0; n < SEEDS[0] * SEEDS[1]; n++) {
      const [i, j] = [n % SEEDS[0], Math.floor(n / SEEDS[0])];
      const [x, y] = stage.unplace(
        ((i + 0.5) / SEEDS[0]) * stage.width,
        ((j + 0.5) / SEEDS[1]) * stage.height,
      );
      for (const way of [1, -1]) follow(x, y, way);
    }
  }
  g.stroke();
  g.globalAlpha = 1;
}

/** The direction of the force at a point: from the potential of the distance where there is one, else
 * from the values that the field was shaded by. @param {import("./stage.js").Stage} stage
 * @param {import("./layer.js").Sources} sources @returns {((x: number, y: number) => number[]) | null} */
function forceOf(stage, sources) {
  const { lookup } = stage;
  if (!lookup) return null;
  const unit = (/** @type {number} */ fx, /** @type {number} */ fy) => {
    const size = Math.hypot(fx, fy) || 1e-12;
    return [fx / size, fy / size];
  };
  if (lookup.kind !== "radial") {
    stage.layer.refresh(lookup, sources);
    return (x, y) => {
      const [px, py] = stage.place([x, y]);
      return unit(...stage.layer.slope(px, py));
    };
  }
  return (x, y) => {
    let [fx, fy] = [0, 0];
    for (let j = 0; j < sources.values.length; j++) {
      const [dx, dy] = [x - sources.positions[2 * j], y - sources.positions[2 * j + 1]];
      const r = Math.sqrt(dx * dx + dy * dy) || 1e-9;
      const f = (sources.values[j] * lookup.slope(r)) / r;
      fx += f * dx;
      fy += f * dy;
    }
    return unit(fx, fy);
  };
}
