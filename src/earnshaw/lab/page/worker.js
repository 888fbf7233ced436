// The physics, away from the page: one run at a time, records as they come.
//
//   begin     start a run; records follow until `until` is reached or it stops
//   until     how far the run may go
//   examine   the numbers and the verdict of a state
//   basins    where one electron ends from each of many starts (basins.js, without a GPU)

import { basinRows } from "./basins.js";
import { Engine } from "./engine.js";
import { begin } from "./methods.js";
import { examine } from "./verdict.js";

const BUDGET = 12; // milliseconds of one turn
const scope = /** @type {any} */ (globalThis);

/** @type {Engine | null} */
let engine = null;
/** @type {ReturnType<typeof begin> | null} */
let run = null;
let id = 0;
let until = 0;
let busy = false;
let told = 0;

function turn() {
  busy = false;
  if (!run || run.stop) return;
  const end = performance.now() + BUDGET;
  const records = [];
  while (run.time < until && performance.now() < end && !run.stop) {
    const record = run.next();
    if (record) records.push(record);
  }
  const events = run.events.slice(told);
  told = run.events.length;
  scope.postMessage({ say: "records", id, records, events, stop: run.stop });
  if (run.time < until && !run.stop) plan();
}

function plan() {
  if (busy) return;
  busy = true;
  setTimeout(turn, 0);
}

/** @type {Record<string, (message: any) => void>} */
const ANSWERS = {
  begin(message) {
    id = message.id;
    engine = new Engine(message.table, message.dim, message.protons, message.charges);
    run = begin(engine, message.x, message.c, message.plan);
    until = 0;
    told = 0;
    const { energy } = engine.gradient(run.x, run.c);
    const bound = "bound" in run ? run.bound() : new Int32Array(message.c.length).fill(-1);
    scope.postMessage({ say: "begun", id, energy, bound });
  },
  until(message) {
    until = message.time;
    plan();
  },
  examine(message) {
    if (!engine || message.id !== id) return;
    const began = performance.now();
    const seen = examine(engine, message.x, message.c, message.plan);
    scope.postMessage({
      say: "seen",
      id,
      time: message.time,
      seen,
      took: performance.now() - began,
    });
  },
  basins(message) {
    scope.postMessage({ say: "basins", ...basinRows(message) });
  },
};

scope.onmessage = (/** @type {MessageEvent} */ event) => {
  try {
    ANSWERS[event.data.do](event.data);
  } catch (error) {
    scope.postMessage({ say: "trouble", id, words: String(error) });
  }
};
