// What a hand changes: charges moved, charged, added, removed; another stage, another potential; undo.

import { Random } from "./linear.js";
import { Motion } from "./motion.js";
import { STAGES, rounded } from "./state.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./stage.js").Picked} Picked
 */

export class Editing extends Motion {
  /** @param {import("./motion.js").Options} options */
  constructor(options) {
    super(options);
    /** @type {State[]} */
    this.undone = [];
    /** @type {Picked | null} */
    this.selected = null;
    /** @type {{pieces: import("./pieces.js").PackedPieces} | null | undefined} of a formula */
    this.givenActivation = undefined;
    this.dirty = false; // whether the run must begin anew
    this.edited = 0; // when a hand last moved something
  }

  /** One line that something is wrong. @param {string} words */
  complain(words) {
    void words;
  }

  /** Whether something is selected that a state does not have: then nothing is. @param {State} state */
  check(state) {
    const places = this.selected?.what === "electron" ? state.electrons : state.protons;
    if (this.selected && this.selected.index >= places.length) this.selected = null;
  }

  /** For undo. */
  remember() {
    this.undone.push(this.state);
    if (this.undone.length > 100) this.undone.shift();
  }

  /** Begin anew, if a hand has moved something; whether it has. */
  settle() {
    if (!this.dirty) return false;
    this.dirty = false;
    this.begin();
    return true;
  }

  /** Take a new start; the lab shows it. @param {State} state @param {{fit?: boolean, keep?: boolean}} [how] */
  become(state, how) {
    if (how?.keep) this.remember();
    this.state = { ...state, time: 0 };
    this.check(state);
    this.begin();
  }

  /** What is shown becomes the start, with a change. @param {(state: State) => void} change
   * @param {{fit?: boolean, keep?: boolean, quick?: boolean}} [how] */
  edit(change, { fit = false, keep = true, quick = false } = {}) {
    if (this.replay) {
      this.complain("this is a replay: “continue from here” makes it a start of your own");
      return;
    }
    const now = this.now();
    const d = this.state.dim;
    const state = structuredClone(this.state);
    if (this.clock > 0) {
      state.electrons = Array.from({ length: now.c.length }, (_, i) => [
        ...now.x.subarray(i * d, (i + 1) * d),
      ]);
      state.weights = [...now.c];
    }
    change(state);
    if (quick) {
      this.edited = performance.now();
      if (keep) this.remember();
      this.state = state;
      this.state.time = 0;
      this.playing = false;
      this.dirty = true;
      this.startAgain();
      this.changed();
    } else this.become(state, { fit, keep });
  }

  undo() {
    const before = this.undone.pop();
    if (before) this.become(before, { fit: false });
  }

  /** New random electrons from the seed. @param {number} seed */
  redraw(seed) {
    this.edit(
      (state) => {
        state.seed = seed;
        state.electrons = drawn(state.stage, state.electrons.length || state.protons.length, seed);
        if (state.weights.length !== state.electrons.length) {
          state.weights = state.electrons.map(() => 1);
          state.frozen = state.electrons.map(() => false);
          state.fixed = state.electrons.map(() => false);
        }
      },
      { fit: false },
    );
  }

  /** @param {Picked} who @param {ArrayLike<number>} place @param {boolean} keep for undo */
  moveCharge({ what, index }, place, keep) {
    this.edit(
      (state) => {
        let to = Array.from(place, rounded);
        if (state.stage === "circle" || state.stage === "sphere") {
          const length = Math.hypot(...Array.from(place)) || 1;
          to = Array.from(place, (value) => value / length);
        }
        (what === "electron" ? state.electrons : state.protons)[index] = to;
      },
      { quick: true, keep },
    );
  }

  /** By a wheel or a key. @param {Picked} who @param {number} by */
  charge({ what, index }, by) {
    const weights = what === "electron" ? this.now().c : this.state.charges;
    this.setCharge({ what, index }, Math.round((weights[index] + by) * 100) / 100);
  }

  /** As it was typed. @param {Picked} who @param {number} value */
  setCharge({ what, index }, value) {
    this.edit(
      (state) => {
        const weights = what === "electron" ? state.weights : state.charges;
        weights[index] = Math.max(-10, Math.min(10, value));
      },
      { quick: true },
    );
  }

  /** @param {"electron" | "proton"} what @param {number[] | null} [place] */
  add(what, place = null) {
    const places = what === "electron" ? this.state.electrons : this.state.protons;
    if (places.length >= 64) {
      this.complain("there are 64 of them already, which is as many as the lab moves");
      return;
    }
    this.edit(
      (state) => {
        const [spots, weights] =
          what === "electron" ? [state.electrons, state.weights] : [state.protons, state.charges];
        const flat = state.stage === "plane" || state.stage === "line" || state.stage === "space";
        spots.push(
          place
            ? place.map(flat ? rounded : Number)
            : drawn(state.stage, 1, state.seed + spots.length + 17)[0],
        );
        weights.push(1);
        if (what === "electron") {
          state.frozen.push(false);
          state.fixed.push(false);
        }
      },
      { fit: false },
    );
    this.selected = { what, index: places.length };
    this.changed();
  }

  remove() {
    const who = this.selected;
    if (!who) return;
    if (who.what === "proton" && this.state.protons.length === 1) {
      this.complain("one proton must stay");
      return;
    }
    this.selected = null;
    this.edit(
      (state) => {
        for (const list of who.what === "electron"
          ? [state.electrons, state.weights, state.frozen, state.fixed]
          : [state.protons, state.charges])
          list.splice(who.index, 1);
      },
      { fit: false },
    );
  }

  /** Another stage or potential; charges keep their number. @param {Partial<State>} change */
  change(change) {
    const state = structuredClone(this.state);
    const before = state.stage;
    Object.assign(state, change);
    if (state.stage !== before) {
      state.dim = STAGES[state.stage];
      const at = (/** @type {number} */ count, /** @type {number} */ seed) =>
        drawn(state.stage, count, seed);
      state.protons = at(state.protons.length, state.seed + 1000);
      state.electrons = at(state.electrons.length, state.seed);
    }
    if (state.potential !== "formula") {
      state.formula = "";
      this.given = null;
      this.givenActivation = undefined;
      if (this.tables.entries[state.potential]?.stages[state.stage] === undefined)
        state.potential =
          Object.keys(this.tables.entries).find(
            (name) => this.tables.entries[name].stages[state.stage] !== undefined,
          ) ?? "gaussian";
    }
    state.scene = "";
    this.become(state, { keep: true, fit: state.stage !== before });
  }
}

/** Random places on a stage. @param {keyof typeof STAGES} stage @param {number} count @param {number} seed */
export function drawn(stage, count, seed) {
  const random = new Random(seed);
  const d = STAGES[stage];
  return Array.from({ length: count }, () => {
    const place = Array.from({ length: d }, () => 1.3 * random.normal());
    if (stage !== "circle" && stage !== "sphere") return place.map(rounded);
    const length = Math.hypot(...place) || 1;
    return place.map((value) => value / length);
  });
}
