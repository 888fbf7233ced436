// The whole state of the lab as text for the URL, and back: checked, and never executed.
//
//   #v1;plane;almost-harmonic;flow;both;p0.5,1,1;p...;e-1,0.2,1;...;seed=3;t=2.5
//
// Numbers are the shortest decimals that give the same float64, so that nothing is lost. A charge is
// its coordinates and its weight; `x` after an electron freezes its position, `w` its weight.

export const STAGES = { line: 1, plane: 2, space: 3, circle: 2, sphere: 3 };
export const STAGE_NAMES = {
  line: "line R¹",
  plane: "plane R²",
  space: "space R³",
  circle: "circle S¹",
  sphere: "sphere S²",
};
export const LIMIT = 64; // units of each kind
const LONGEST = 20000; // characters of a state
const FARTHEST = 1000;

/**
 * @typedef {{stage: keyof typeof STAGES, dim: number, potential: string, formula: string, method: string, wrt: string,
 *   protons: number[][], charges: number[], electrons: number[][], weights: number[],
 *   frozen: boolean[], fixed: boolean[], step: number, noise: number, seed: number, speed: number,
 *   time: number, scene: string, lines: boolean, stopWhen: string}} State
 */

const NUMBERS = {
  step: [1e-6, 10],
  noise: [0, 10],
  seed: [0, 4294967295],
  speed: [0.01, 1000],
  t: [0, 1e9],
};
const NAME = /^[a-z][a-z0-9-]{0,40}$/;

/** @returns {State} */
export function emptyState() {
  return {
    stage: "plane",
    dim: 2,
    potential: "almost-harmonic",
    formula: "",
    method: "flow",
    wrt: "positions",
    protons: [],
    charges: [],
    electrons: [],
    weights: [],
    frozen: [],
    fixed: [],
    step: 0.05,
    noise: 0.2,
    seed: 0,
    speed: 1,
    time: 0,
    scene: "",
    lines: false,
    stopWhen: "never",
  };
}

/** @param {State} state @returns {string} what follows # in the URL */
export function written(state) {
  const parts = ["v1", state.stage, state.potential, state.method, state.wrt];
  state.protons.forEach((place, j) => parts.push(`p${[...place, state.charges[j]].join()}`));
  state.electrons.forEach((place, i) =>
    parts.push(
      `e${[...place, state.weights[i]].join()}${state.frozen[i] ? "x" : ""}${state.fixed[i] ? "w" : ""}`,
    ),
  );
  const usual = emptyState();
  for (const name of /** @type {const} */ (["step", "noise", "seed", "speed"]))
    if (state[name] !== usual[name]) parts.push(`${name}=${state[name]}`);
  if (state.time > 0) parts.push(`t=${state.time}`);
  if (state.scene) parts.push(`scene=${state.scene}`);
  if (state.lines) parts.push("lines=1");
  if (state.stopWhen !== "never") parts.push(`stop=${state.stopWhen}`);
  if (state.formula) parts.push(`formula=${encodeURIComponent(state.formula)}`);
  return parts.join(";");
}

/** The state that a text describes, or an Error with one line on what is wrong with it.
 * @param {string} text @param {(potential: string, stage: string) => boolean} known
 * @param {Iterable<string>} methods @returns {State} */
export function parsed(text, known, methods) {
  if (text.length > LONGEST)
    throw new Error(`the state in the address has ${text.length} characters; allowed: ${LONGEST}`);
  const parts = text.replace(/^#/, "").split(";");
  const state = emptyState();
  const [version, stage, potential, method, wrt] = parts;
  if (version !== "v1")
    throw new Error("the address holds no state of this lab; allowed: one that begins with v1");
  if (!Object.hasOwn(STAGES, stage))
    throw new Error(`unknown stage in the address; allowed: ${Object.keys(STAGES).join(", ")}`);
  if (!NAME.test(potential ?? "")) throw new Error("the potential in the address is no name");
  if (!(potential === "formula" || known(potential, stage)))
    throw new Error(`there is no ${potential} on the ${stage}`);
  if (![...methods].includes(method))
    throw new Error(`unknown method in the address; allowed: ${[...methods].join(", ")}`);
  if (!["positions", "weights", "both"].includes(wrt))
    throw new Error("what moves must be positions, weights or both");
  const dim = STAGES[/** @type {keyof typeof STAGES} */ (stage)];
  Object.assign(state, { stage, dim, potential, method, wrt });
  for (const part of parts.slice(5)) {
    if (/^[pe][-0-9.]/.test(part)) addCharge(state, part);
    else addSetting(state, part);
  }
  if (!state.protons.length)
    throw new Error("the state in the address has no protons; allowed: one or more");
  if (potential === "formula" && !state.formula)
    throw new Error("the state in the address lacks its formula");
  return state;
}

/** @param {State} state @param {string} part */
function addCharge(state, part) {
  const flags = part.match(/[xw]*$/)?.[0] ?? "";
  const numbers = part
    .slice(1, part.length - flags.length)
    .split(",")
    .map(number);
  if (numbers.length !== state.dim + 1)
    throw new Error(`a charge on the ${state.stage} needs ${state.dim + 1} numbers`);
  const weight = /** @type {number} */ (numbers.pop());
  if (state.stage === "circle" || state.stage === "sphere") {
    const length = Math.hypot(...numbers);
    if (Math.abs(length - 1) > 1e-8)
      throw new Error("a charge on the circle or sphere must have length 1");
  }
  const proton = part[0] === "p";
  const [places, weights] = proton
    ? [state.protons, state.charges]
    : [state.electrons, state.weights];
  if (places.length >= LIMIT) throw new Error(`more than ${LIMIT} units of one kind`);
  places.push(numbers);
  weights.push(weight);
  if (!proton) {
    state.frozen.push(flags.includes("x"));
    state.fixed.push(flags.includes("w"));
  }
}

/** @param {State} state @param {string} part */
function addSetting(state, part) {
  const [name, value] = [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)];
  if (Object.hasOwn(NUMBERS, name)) {
    const found = number(value);
    const [low, high] = NUMBERS[/** @type {keyof typeof NUMBERS} */ (name)];
    if (found < low || found > high || (name === "seed" && !Number.isInteger(found)))
      throw new Error(`${name} is ${found}; allowed: ${low} to ${high}`);
    if (name === "t") state.time = found;
    else state[/** @type {"step"} */ (name)] = found;
  } else if (name === "scene" && NAME.test(value)) state.scene = value;
  else if (name === "lines") state.lines = value === "1";
  else if (name === "stop" && ["never", "rest", "minimum"].includes(value)) state.stopWhen = value;
  else if (name === "formula" && value.length <= 600) {
    try {
      state.formula = decodeURIComponent(value).slice(0, 200);
    } catch {
      throw new Error("the formula in the address cannot be read");
    }
  } else throw new Error("the address has a part that means nothing here");
}

/** @param {string} text */
function number(text) {
  const value = /^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(value) || Math.abs(value) > 4294967295)
    throw new Error("a number in the address cannot be read");
  return value;
}

/** A coordinate that a person has set: four digits are enough, and keep the address short.
 * @param {number} value */
export function rounded(value) {
  return Math.max(-FARTHEST, Math.min(FARTHEST, Math.round(value * 1e4) / 1e4));
}
