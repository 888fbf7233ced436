// Results of the library (earnshaw/lab/replay.py), played with their own times.

import { drawn } from "./editing.js";
import { STAGES, emptyState } from "./state.js";

/** Show a result of the library. @param {import("./lab.js").Lab} lab
 * @param {import("./motion.js").Replay} replay */
export function openReplay(lab, replay) {
  lab.replay = replay;
  const state = emptyState();
  Object.assign(state, {
    stage: replay.stage,
    dim: replay.dim,
    potential: replay.potential,
    protons: replay.protons,
    charges: replay.charges,
  });
  state.electrons = replay.positions[0];
  state.weights = replay.weights[0];
  state.frozen = state.weights.map(() => false);
  state.fixed = state.weights.map(() => false);
  lab.state = state;
  lab.stage.become(state.stage, state.dim, lab.table);
  lab.stage.show.field = replay.table !== null;
  lab.begin();
  lab.history = replay.times.map((time, n) => ({
    time,
    x: Float64Array.from(replay.positions[n].flat()),
    c: Float64Array.from(replay.weights[n]),
    energy: replay.energy[n],
    bound: Int32Array.from(replay.bound?.[n] ?? replay.weights[n].map(() => -1)),
  }));
  lab.replayRate = Math.max(lab.last.time, 1e-9) / 12;
  lab.stage.fit({
    ...lab.picture(),
    x: Float64Array.from(lab.history.flatMap((record) => [...record.x])),
  });
  lab.controls.update();
}

/** Leave the replay: what is shown becomes a start. @param {import("./lab.js").Lab} lab */
export function continueHere(lab) {
  const now = lab.now();
  const d = lab.state.dim;
  const { replay } = lab;
  if (!replay?.table) return;
  const state = structuredClone(lab.state);
  state.electrons = Array.from({ length: now.c.length }, (_, i) => [
    ...now.x.subarray(i * d, (i + 1) * d),
  ]);
  state.weights = [...now.c];
  state.frozen = state.weights.map(() => false);
  state.fixed = state.weights.map(() => false);
  const known = lab.tables.entries[state.potential]?.stages[state.stage] !== undefined;
  if (!known) {
    lab.given = replay.table;
    state.potential = "formula";
    state.formula = replay.formula;
  }
  lab.replay = null;
  if (!state.electrons.length && state.dim === STAGES[state.stage]) {
    state.electrons = drawn(state.stage, state.protons.length, state.seed);
    state.weights = state.electrons.map(() => 1);
    state.frozen = state.electrons.map(() => false);
    state.fixed = [...state.frozen];
  }
  lab.become(state, { fit: replay.unit === "start" });
}
