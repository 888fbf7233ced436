// What can be taken away: the address, pictures, films, JSON that `earnshaw learn --teacher FILE`
// and `ew.load` read, and Python code that makes the same run.

import { film, gif } from "./films.js";
import { save } from "./elements.js";

/** @param {import("./lab.js").Lab} lab @param {{say: (words: string) => void, complain: (words: string) => void, canvas: HTMLCanvasElement}} controls
 * @returns {[string, () => unknown, string][]} */
export function exportsOf(lab, controls) {
  const text = (
    /** @type {string} */ name,
    /** @type {string} */ content,
    /** @type {string} */ kind,
  ) => save(name, new Blob([content], { type: kind }));
  return [
    [
      "copy link",
      async () => {
        const link = `${location.href.split("#")[0]}#${lab.text()}`;
        try {
          await navigator.clipboard.writeText(link);
          controls.say(`the link is copied: ${link.length} characters`);
        } catch {
          controls.say(link);
        }
      },
      "The whole state, seed included, in an address",
    ],
    ["PNG", () => controls.canvas.toBlob((blob) => blob && save("lab.png", blob)), "The picture"],
    ["SVG", () => text("lab.svg", svgOf(lab), "image/svg+xml"), "The picture, in lines"],
    ["film", () => film(lab, controls), "WebM of the motion, from the start"],
    ["GIF", () => gif(lab, controls), "An animated GIF of the motion so far"],
    [
      "teacher JSON",
      () => text("teacher.json", teacherJson(lab), "application/json"),
      "For earnshaw learn --teacher, and ew.load",
    ],
    [
      "student JSON",
      () => text("student.json", studentJson(lab), "application/json"),
      "For earnshaw simulate --student, and ew.load",
    ],
    [
      "Python",
      () => text("lab.py", pythonOf(lab), "text/x-python"),
      "Code that makes the same run",
    ],
  ];
}

const NAMED = /^([a-z][a-z0-9-]*)\(([^()]*=[^()]*)\)$/; // almost-harmonic(radius=0.2)

/** What the units are, for a file. @param {import("./lab.js").Lab} lab */
function species(lab) {
  const { potential, formula, stage } = lab.state;
  const on = stage === "circle" || stage === "sphere" ? "sphere" : "space";
  const named = formula.match(NAMED);
  if (potential === "formula" && named) {
    const parameters = Object.fromEntries(
      named[2].split(",").map((part) => {
        const [name, value] = part.split("=").map((one) => one.trim());
        return [name, Number.isFinite(Number(value)) ? Number(value) : value];
      }),
    );
    return { activation: named[1], parameters, on };
  }
  if (potential === "formula")
    return lab.givenActivation
      ? { activation: formula, parameters: {}, on }
      : { potential: formula, on };
  return { activation: potential, parameters: lab.tables.entries[potential]?.parameters ?? {}, on };
}

/** @param {import("./lab.js").Lab} lab */
export function teacherJson(lab) {
  const { dim, protons, charges } = lab.state;
  return `${JSON.stringify({ format: "earnshaw-teacher", version: 1, dim, positions: protons, weights: charges, ...species(lab), width: 1.0 }, null, 1)}\n`;
}

/** @param {import("./lab.js").Lab} lab */
export function studentJson(lab) {
  const now = lab.now();
  const d = lab.state.dim;
  const positions = Array.from({ length: now.c.length }, (_, i) => [
    ...now.x.subarray(i * d, (i + 1) * d),
  ]);
  return `${JSON.stringify({ format: "earnshaw-student", version: 1, dim: d, positions, weights: [...now.c], ...species(lab), width: 1.0 }, null, 1)}\n`;
}

/** @param {import("./lab.js").Lab} lab */
export function pythonOf(lab) {
  const { state } = lab;
  const about = species(lab);
  const parameters = Object.entries("parameters" in about ? (about.parameters ?? {}) : {})
    .map(([name, value]) => `, ${name}=${JSON.stringify(value)}`)
    .join("");
  const kind =
    "activation" in about
      ? JSON.stringify(about.activation)
      : `potential=${JSON.stringify(about.potential)}`;
  const lines = [
    `"""A run of the earnshaw lab: ${state.electrons.length} electrons among ${state.protons.length} protons."""`,
    "",
    "import earnshaw as ew",
    "",
    `teacher = ew.Teacher(${JSON.stringify(state.protons)}, ${JSON.stringify(state.charges)}, ${kind}, on="${about.on}"${parameters})`,
    `student = ew.Student(${JSON.stringify(state.electrons)}, ${JSON.stringify(state.weights)})`,
  ];
  const unbounded = lab.table.unbounded ? ', objective="without-constants"' : "";
  const steps = ["gd", "noisy-sgd"].includes(state.method) ? `, steps=${state.step}` : "";
  if (state.method === "flow")
    lines.push(
      `path = ew.simulate(teacher, student, ${Math.max(lab.clock, 1)}, wrt="${state.wrt}"${unbounded})`,
      "print(path)",
      `print(ew.certify(teacher, path.student, wrt="${state.wrt}"${unbounded}))`,
    );
  else if (state.method === "node-wise")
    lines.push(`run = ew.learn(teacher, method="node-wise", seed=${state.seed})`, "print(run)");
  else
    lines.push(
      `run = ew.learn(teacher, "${state.method}", student=student, wrt="${state.wrt}"${unbounded}${steps}, seed=${state.seed})`,
      "print(run)",
    );
  return `${lines.join("\n")}\n`;
}

/** The stage as SVG: shades as an image, the rest as lines. @param {import("./lab.js").Lab} lab */
export function svgOf(lab) {
  const { stage } = lab;
  const picture = lab.picture();
  const { dim: d, x, c, protons, charges, bound } = picture;
  const show = { ...stage.show };
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${stage.width}" height="${stage.height}" viewBox="0 0 ${stage.width} ${stage.height}">`,
    `<rect width="100%" height="100%" fill="${stage.dark ? "#151922" : "#ffffff"}"/>`,
  ];
  if (show.field && (stage.kind === "plane" || stage.kind === "sphere")) {
    const side = stage.kind === "sphere" ? 2 * stage.scale : 0;
    const box = side
      ? [stage.width / 2 - side / 2, stage.height / 2 - side / 2, side, side]
      : [0, 0, stage.width, stage.height];
    parts.push(
      `<image href="${stage.layer.surface.toDataURL()}" x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}" preserveAspectRatio="none"/>`,
    );
  }
  const round = (/** @type {number} */ value) => Math.round(value * 100) / 100;
  for (let i = 0; i < c.length && picture.ways.length > 1; i++) {
    const way = picture.ways
      .filter((record) => record.x.length === x.length)
      .map((record) =>
        stage
          .place(record.x, i * d)
          .slice(0, 2)
          .map(round)
          .join(),
      );
    parts.push(
      `<polyline points="${way.join(" ")}" fill="none" stroke="#2166ac" stroke-opacity="0.5" stroke-width="1.8"/>`,
    );
  }
  const largest = Math.max(...charges.map(Math.abs), ...c.map(Math.abs), 1e-9);
  const put = (
    /** @type {Float64Array} */ values,
    /** @type {ArrayLike<number>} */ weights,
    /** @type {string} */ colour,
    /** @type {boolean} */ electron,
  ) => {
    for (let i = 0; i < weights.length; i++) {
      const [px, py] = stage.place(values, i * d).map(round);
      const ring = electron && bound[i] >= 0;
      const r = round(
        stage.radius(weights[i], largest, c.length + charges.length) + (ring ? 5.5 : 0),
      );
      const solid = weights[i] > 0 && !ring;
      parts.push(
        `<circle cx="${px}" cy="${py}" r="${r}" fill="${ring ? "none" : solid ? colour : "#ffffff"}" stroke="${solid ? "#ffffff" : colour}" stroke-width="${solid ? 1.2 : 2.6}"/>`,
      );
      if (ring) continue;
      const arm = round(r * 0.45);
      const sign = electron !== solid ? `M${px} ${py - arm}v${2 * arm}` : "";
      parts.push(
        `<path d="M${px - arm} ${py}h${2 * arm}${sign}" stroke="${solid ? "#ffffff" : colour}" stroke-width="2"/>`,
      );
    }
  };
  put(protons, charges, "#c8362f", false);
  put(x, c, "#2166ac", true);
  return `${parts.join("\n")}\n</svg>\n`;
}
