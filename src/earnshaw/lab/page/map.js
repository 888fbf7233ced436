// The basin map behind the charges: coarse first, then finer while nothing moves.

import { GpuBasins, basinImage, basinRefusal } from "./basins.js";
import { hillOf } from "./hills.js";
import { showLegend } from "./stories.js";

const COARSEST = 8; // pixels of the stage for one of the first map
const FRAME = 10; // milliseconds of a frame that go into it
const PATIENCE = 1500; // milliseconds a map may have taken for a finer one, of four times the work

export class BasinMap {
  /** @param {import("./lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.wanted = false;
    this.key = ""; // of what it is a map
    this.level = COARSEST;
    this.more = false; // whether there is something left to compute
    this.begun = false;
    /** @type {import("./hills.js").Hill | null} */
    this.hill = null;
    /** @type {GpuBasins | null | undefined} undefined: not looked for yet */
    this.gpu = undefined;
    this.copy = document.createElement("canvas");
  }

  /** @param {boolean} wanted */
  show(wanted) {
    this.wanted = wanted;
    this.forget();
  }

  /** Begin anew. */
  forget() {
    this.key = "";
    this.lab.stage.map = null;
    this.lab.stage.key = "";
  }

  /** A little more of it. */
  turn() {
    const { lab } = this;
    const { stage } = lab;
    if (!this.wanted || basinRefusal(lab.state.stage, lab.table)) {
      stage.map = null;
      return;
    }
    const box = [...stage.unplace(0, 0), ...stage.unplace(stage.width, stage.height)];
    const { positions, values } = stage.sources(lab.picture());
    const key = [lab.state.potential, ...box, ...positions, ...values].join();
    if (key !== this.key) {
      Object.assign(this, { key, level: COARSEST, more: true, begun: false });
      this.hill =
        lab.table.kind !== "radial" && stage.lookup
          ? hillOf(stage.lookup, lab.table, positions, values, box)
          : null;
      showLegend(lab.controls);
    }
    if (!this.more) return;
    const { hill } = this;
    const ask = {
      table: lab.table,
      sources: hill ? hill.peaks : positions,
      charges: hill ? new Float64Array(hill.peaks.length / 2).fill(1) : values,
      protons: hill ? hill.peaks.length / 2 : lab.state.protons.length,
      box,
      hill,
    };
    const [width, height] = [stage.width, stage.height].map((side) => Math.ceil(side / this.level));
    if (this.gpu === undefined) this.gpu = GpuBasins.make();
    if (this.gpu) this.onGpu(this.gpu, ask, width, height);
    else if (!this.begun) {
      const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) };
      lab.worker.postMessage({ do: "basins", ...ask, ...half, id: lab.id });
      this.begun = true;
    }
  }

  /** @param {GpuBasins} gpu @param {import("./basins.js").Ask} ask @param {number} width
   * @param {number} height */
  onGpu(gpu, ask, width, height) {
    if (!this.begun) gpu.begin(ask, width, height);
    this.begun = true;
    const end = performance.now() + FRAME;
    let more = true;
    while (more && performance.now() < end) more = gpu.pass();
    if (!more || this.level === COARSEST) {
      this.copy.width = width;
      this.copy.height = height;
      this.copy.getContext("2d")?.drawImage(gpu.canvas, 0, 0);
      this.markPlaces(this.copy, ask.box);
      this.lab.stage.map = this.copy;
    }
    if (!more) this.refine(gpu.spent < PATIENCE);
  }

  /** Rings where electrons end, if it is not on protons. @param {HTMLCanvasElement} canvas
   * @param {number[]} box */
  markPlaces(canvas, box) {
    const g = canvas.getContext("2d");
    if (!g || !this.hill) return;
    g.strokeStyle = "white";
    g.lineWidth = Math.max(1, canvas.width / 400);
    for (const [x, y] of this.hill.places) {
      const [u, v] = [(x - box[0]) / (box[2] - box[0]), (y - box[1]) / (box[3] - box[1])];
      g.beginPath();
      g.arc(u * canvas.width, v * canvas.height, canvas.width / 90, 0, 2 * Math.PI);
      g.stroke();
    }
  }

  /** What the worker has found. @param {any} message */
  hear(message) {
    if (!this.wanted) return;
    const image = basinImage(message);
    this.markPlaces(image, message.box);
    this.lab.stage.map = image;
    this.refine(this.level > 2);
  }

  /** A finer one, if there is time for it. @param {boolean} quick */
  refine(quick) {
    this.begun = false;
    this.level /= 2;
    this.more = quick && this.level >= 1 && !this.lab.playing;
  }
}
