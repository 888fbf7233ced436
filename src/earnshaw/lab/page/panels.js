// The cards beside the stage: the verdict, the energy, the set-up, the functions, the charges.

import { certify, fit } from "./asking.js";
import { chooser, el, row } from "./elements.js";
import { exportsOf } from "./exports.js";
import { METHODS } from "./methods.js";
import { STAGES, STAGE_NAMES } from "./state.js";

const MOVES = { positions: "positions", both: "positions and charges", weights: "charges" };
const STOPS = { never: "never", rest: "at rest", minimum: "in a minimum" };

/** @typedef {import("./controls.js").Controls} Controls */

/** A canvas to draw curves on. @param {string} name @param {string} [className] */
const chart = (name, className = "chart") =>
  el("canvas", { className, role: "img", "aria-label": name });

/** All cards, in order. @param {Controls} controls */
export function right(controls) {
  controls.story = el("article", { className: "card story" });
  controls.badge = el("b", { className: "badge" }, "…");
  controls.words = el("p", { className: "verdict" }, "");
  controls.numbers = el("dl", { className: "numbers" });
  controls.theorems = el("div", { className: "theorems" });
  controls.energy = chart("Energy against time");
  controls.fitChart = chart("The rows of the table and the fit");
  controls.fitCard = el(
    "article",
    { className: "card", hidden: true },
    el("h2", {}, "The fit"),
    controls.fitChart,
  );
  controls.certifyButton = el("button", { onclick: () => certify(controls) }, "certify in Python");
  controls.certified = el("div", { className: "certified" });
  const verdict = el(
    "article",
    { className: "card", "aria-label": "What kind of point this is" },
    el("h2", {}, "What kind of point is this?"),
    controls.badge,
    controls.words,
    controls.numbers,
    controls.theorems,
    el("div", { className: "buttons" }, controls.certifyButton),
    controls.certified,
  );
  return el(
    "section",
    { className: "right", "aria-label": "Numbers and settings" },
    controls.story,
    verdict,
    controls.fitCard,
    el("article", { className: "card" }, el("h2", {}, "Energy"), controls.energy),
    setup(controls),
    functions(controls),
    table(controls),
    take(controls),
  );
}

/** Stage, units, method, seed. @param {Controls} controls */
function setup(controls) {
  const { lab } = controls;
  controls.stageChoice = chooser("Stage", STAGE_NAMES, (stage) =>
    lab.change({ stage: /** @type {keyof typeof STAGES} */ (stage) }),
  );
  controls.potentialChoice = chooser("Activation or potential", {}, (potential) =>
    lab.change({ potential }),
  );
  controls.formula = el("input", {
    type: "text",
    maxLength: 200,
    placeholder: "x*tanh(x), exp(-r^2), rbf(gamma=2)",
    "aria-label": "Formula",
    onchange: () =>
      controls.formula.value.trim() &&
      lab.askFormula(controls.formula.value.trim(), lab.state.stage),
  });
  controls.method = chooser("Method", METHODS, (method) =>
    lab.edit((state) => {
      state.method = method;
    }),
  );
  controls.wrt = chooser("What moves", MOVES, (wrt) =>
    lab.edit((state) => {
      state.wrt = wrt;
    }),
  );
  const number = (/** @type {"step" | "noise"} */ name, /** @type {string} */ label) =>
    el("input", {
      type: "number",
      step: "any",
      min: "0",
      "aria-label": label,
      onchange: (/** @type {any} */ event) => {
        const value = Number(event.target.value);
        if (value > 0 && value <= 10)
          lab.edit((state) => {
            state[name] = value;
          });
      },
    });
  controls.step = number("step", "Step");
  controls.noise = number("noise", "Noise");
  controls.seed = el("input", {
    type: "number",
    min: "0",
    step: "1",
    "aria-label": "Seed",
    onchange: () => {
      const seed = Math.floor(Number(controls.seed.value));
      if (seed >= 0 && seed <= 4294967295) lab.redraw(seed);
    },
  });
  controls.stopWhen = chooser("Stop", STOPS, (stop) => {
    lab.state.stopWhen = stop;
    lab.note();
  });
  controls.why = el("p", { className: "why" });
  controls.stepRow = row("step", controls.step);
  controls.noiseRow = row("noise", controls.noise);
  return el(
    "article",
    { className: "card" },
    el("h2", {}, "Set it up"),
    row("stage", controls.stageChoice),
    row("units", controls.potentialChoice, "An activation, or a potential"),
    row(
      "formula",
      controls.formula,
      "sigma(x), a potential in r or rho, or a name with its parameters; press Enter",
    ),
    row("method", controls.method),
    row("moving", controls.wrt),
    controls.stepRow,
    controls.noiseRow,
    row(
      "seed",
      el(
        "span",
        { className: "pair" },
        controls.seed,
        el(
          "button",
          {
            title: "New random electrons",
            onclick: () => lab.redraw((lab.state.seed + 1) % 4294967296),
          },
          "draw again",
        ),
      ),
    ),
    row("stop", controls.stopWhen),
    controls.why,
  );
}

/** Where sigma, Phi and the networks are drawn. @param {Controls} controls */
function functions(controls) {
  controls.sigma = chart("The activation", "chart small");
  controls.phi = chart("The potential", "chart small");
  controls.maps = ["teacher", "student", "difference"].map((name) => ({
    name,
    canvas: el("canvas", {
      width: 72,
      height: 72,
      role: "img",
      "aria-label": `The ${name} as a function of the input`,
    }),
  }));
  controls.mapRow = el(
    "div",
    { className: "maps" },
    ...controls.maps.map(({ name, canvas }) =>
      el("figure", {}, canvas, el("figcaption", {}, name)),
    ),
  );
  controls.functionsCard = el(
    "details",
    {
      className: "card",
      open: true,
      ontoggle: () => {
        controls.lab.functionsKey = "";
      },
    },
    el("summary", {}, "The functions"),
    controls.sigma,
    controls.phi,
    controls.mapRow,
  );
  return controls.functionsCard;
}

/** The charges as a table. @param {Controls} controls */
function table(controls) {
  controls.rows = el("tbody", {});
  return el(
    "details",
    { className: "card" },
    el("summary", {}, "The charges"),
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...["", "position", "weight", "hold"].map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      controls.rows,
    ),
    el(
      "p",
      { className: "hint" },
      "On the stage: N and B select the next and the last charge, arrows move it, + and − charge it, F freezes it, Delete removes it; space plays.",
    ),
  );
}

/** What can be taken away. @param {Controls} controls */
function take(controls) {
  const { lab } = controls;
  controls.buttons = el("div", { className: "buttons" });
  for (const [name, act, hint] of exportsOf(lab, controls))
    controls.buttons.append(el("button", { title: hint, onclick: () => act() }, name));
  controls.csv = el("input", {
    type: "file",
    accept: ".csv,text/csv",
    hidden: true,
    "aria-label": "A table of data",
    onchange: () => controls.csv.files[0] && fit(controls, controls.csv.files[0]),
  });
  controls.csvButton = el("button", { onclick: () => controls.csv.click() }, "fit a CSV …");
  controls.buttons.append(controls.csvButton, controls.csv);
  return el(
    "article",
    { className: "card" },
    el("h2", {}, "Take it with you"),
    controls.buttons,
    (controls.taken = el("p", { className: "hint", role: "status" })),
    (controls.needs = el("p", { className: "hint" })),
  );
}
