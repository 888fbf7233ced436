// Scenes: a state, three sentences and something to try. A lecturer shows them one after the other.

import { STAGES, emptyState } from "./state.js";

/**
 * @typedef {{id: string, title: string, text: string[], try: string, stage: keyof typeof STAGES,
 *   potential: string, protons: number[][], charges?: number[], electrons: number[][], weights?: number[],
 *   more?: Partial<import("./state.js").State>, view?: {span?: number, centre?: number[]}}} Scene
 */

// A strict bad minimum of sign on S^2 (earnshaw/papers/claims/sign/_sphere_minimum.py, scale 0.05),
// as ew.simulate ends there with charges moving too.
const SIGN_PROTONS = [
  [0.0499213334535779, -0.08320222242262984, 0.9952814931717318],
  [0.04994214972018615, 0.06658953296024821, 0.9965297867005595],
  [-0.0998287917094291, 0.01663813195157151, 0.9948655109666821],
];
const SIGN_ELECTRONS = [
  SIGN_PROTONS[0],
  SIGN_PROTONS[2],
  [-0.15504328430344771, -0.2209718616643047, 0.9628774669421919],
];

/** @type {Scene[]} */
export const SCENES = [
  {
    id: "earnshaw",
    title: "Earnshaw’s theorem",
    stage: "plane",
    potential: "harmonic",
    text: [
      "Four fixed protons (red) hold one electron (blue) in their middle, and all forces on it cancel.",
      "Under a harmonic potential the Laplacian of its energy is 0: if one direction is uphill, another must be downhill.",
      "So it cannot rest stably anywhere off the protons; the orange arrow is the way it can fall, and the verdict says so.",
    ],
    try: "drag a proton and watch the saddle open; then drag the electron a little to one side and press play.",
    protons: [
      [-1, 0],
      [1, 0],
      [0, 0.8],
      [0, -0.8],
    ],
    electrons: [[0, 0]],
    more: { lines: true },
  },
  {
    id: "five",
    title: "Five electrons find five protons",
    stage: "plane",
    potential: "almost-harmonic",
    text: [
      "A hidden network of five units is five protons; a student of five units is five electrons, and training is their motion.",
      "The potential of the almost-harmonic activation is that of a screened charge outside small cores, where Earnshaw’s theorem forbids bad minima.",
      "One after the other the electrons arrive at a proton and stay there: the student has learned the units.",
    ],
    try: "press play; drag the time slider back; draw other starts with the seed, and ask “where does it end?”.",
    protons: [
      [-1.2, 0.9],
      [0.3, 1.4],
      [1.5, 0.3],
      [0.7, -1.2],
      [-0.9, -0.9],
    ],
    electrons: [
      [-2, -0.3],
      [-0.3, 0.2],
      [1, 1.2],
      [1.9, -1],
      [-0.2, -1.9],
    ],
    more: { speed: 2 },
  },
  {
    id: "gaussian",
    title: "A Gaussian is not enough",
    stage: "plane",
    potential: "gaussian",
    text: [
      "Under a Gaussian potential charges hardly feel each other from afar: at this distance the force is a hundred-millionth.",
      "Both electrons are drawn to the left proton, share it, and stop; the right one is never found.",
      "The loss stays large although no force is left: not every potential lets gradient descent learn.",
    ],
    try: "press play, then change the units to almost-harmonic and play again: now both protons are found.",
    protons: [
      [-2.2, 0],
      [4, 0],
    ],
    electrons: [
      [-3, 0.9],
      [-1.6, 1.1],
    ],
    more: { speed: 8 },
  },
  {
    id: "sign",
    title: "The sign conjecture’s counterexample",
    stage: "sphere",
    potential: "sign",
    text: [
      "For the activation sign the papers conjecture that there are no bad minima with as many electrons as protons.",
      "Here three electrons of the best charges are at rest among three protons, and yet the loss is 0.13: one sits on each of two protons, and the third hangs where no charge is.",
      "Every small motion costs energy, so the conjecture as it stands is false; the library proves this point in ball arithmetic (earnshaw verify).",
    ],
    try: "drag the free electron a little and press play: it comes back.",
    protons: SIGN_PROTONS,
    charges: [-0.75, -1, 1.25],
    electrons: SIGN_ELECTRONS,
    weights: [-1.3086741828484518, 0.7341162825284032, 0.1317701633884282],
    more: { wrt: "both", speed: 8 },
    view: { span: 0.4 },
  },
  {
    id: "relu",
    title: "A bad relu minimum",
    stage: "plane",
    potential: "relu",
    text: [
      "Four relu units learn four relu units of two inputs, all of weight 1: positions are the units’ weight vectors.",
      "From this start gradient flow ends where nothing moves, the Hessian is positive, and the loss is not 0.",
      "Relu’s potential has no Earnshaw’s theorem: subharmonic for some pairs of units, superharmonic for others, it has bad minima.",
    ],
    try: "press play, wait for “minimum”, then drag an electron across to another proton and play again.",
    protons: [
      [0.6, 0.8],
      [0.54, -0.84],
      [1, -0.07],
      [-0.64, 0.77],
    ],
    electrons: [
      [0.56, 0.56],
      [-0.62, -0.01],
      [0, 0.06],
      [2.18, -0.28],
    ],
    more: { speed: 60 },
  },
  {
    id: "node-wise",
    title: "Node-wise learning",
    stage: "plane",
    potential: "almost-harmonic",
    text: [
      "One electron at a time climbs log|C|, the logarithm of the potential that all that is left to learn makes.",
      "Far away the force itself is exponentially small, but its logarithm still points the way: no start is too far.",
      "When it arrives all charges are refitted exactly, what it has learned cancels, and the next one sets out.",
    ],
    try: "press play; then choose “gradient descent” from the same start and compare.",
    protons: [
      [-1.3, 1],
      [0.4, 1.3],
      [1.6, -0.1],
      [-0.5, -1.3],
    ],
    charges: [1, -0.8, 1.2, 0.7],
    electrons: [
      [-3, -2.4],
      [2.8, 2.2],
      [-2.6, 2.6],
      [2.4, -2.5],
    ],
    weights: [0, 0, 0, 0],
    more: { method: "node-wise", wrt: "both" },
  },
  {
    id: "plateau",
    title: "Plateaus and saddles",
    stage: "plane",
    potential: "gaussian",
    text: [
      "Two student units that begin almost alike move as one: they feel the same force and go to the same place between the protons.",
      "There they wait, on a plateau of the loss, next to the saddle that symmetry makes: only their tiny difference grows, exponentially.",
      "At last they part, each finds its proton, and the loss falls in a step: seen in training as sudden learning.",
    ],
    try: "press play and watch the energy; then drag one electron a little off the other, and play again: the plateau is gone.",
    protons: [
      [-0.8, 0],
      [0.8, 0],
    ],
    electrons: [
      [-0.00001, 1.9],
      [0.00001, 1.9],
    ],
    more: { speed: 3 },
  },
  {
    id: "chain",
    title: "A chain of charges",
    stage: "line",
    potential: "lambda-harmonic",
    text: [
      "On the line a screened charge has a multiple of exp(−|x|) as its potential: a cusp that holds what arrives.",
      "Protons of alternating sign make a landscape of peaks and pits; an electron of weight +1 climbs the peaks, one of −1 falls into the pits.",
      "Where an electron arrives the curve is levelled: teacher and student cancel, and when all have arrived it is flat.",
    ],
    try: "press play; then drag the protons apart, or turn a charge round with the wheel.",
    protons: [[-3], [-1.5], [0], [1.5], [3]],
    charges: [1, -1, 1, -1, 1],
    electrons: [[-3.8], [-2.2], [0.5], [2.1], [3.9]],
    weights: [1, -1, 1, -1, 1],
  },
  {
    id: "csv",
    title: "Your own table",
    stage: "plane",
    potential: "relu",
    text: [
      "A table of numbers, the target in its last column, is fitted by a small network, unit by unit.",
      "Its units appear as charges: where a unit is says what it looks at, how large it is says how much it counts.",
      "This is asked of Python: in a file without a server the button is grey, and says why.",
    ],
    try: "press “fit a CSV …” below, and choose a file with a line of names and a few hundred rows.",
    protons: [
      [1, 0.2],
      [-0.6, 0.9],
    ],
    electrons: [
      [0.5, -0.8],
      [-0.9, -0.3],
    ],
    more: { speed: 10 },
  },
];

/** @param {string} id @returns {import("./state.js").State} */
export function sceneState(id) {
  const scene = SCENES.find((one) => one.id === id) ?? SCENES[0];
  const { stage, potential, protons, electrons } = scene;
  const ones = (/** @type {number[][]} */ places) => places.map(() => 1);
  return structuredClone({
    ...emptyState(),
    stage,
    dim: STAGES[stage],
    potential,
    protons,
    electrons,
    charges: scene.charges ?? ones(protons),
    weights: scene.weights ?? ones(electrons),
    frozen: electrons.map(() => false),
    fixed: electrons.map(() => false),
    scene: scene.id,
    ...scene.more,
  });
}
