// The verdict, its numbers and the theorems, as they are read.

import { el } from "./elements.js";
import { short } from "./words.js";

const KINDS = {
  minimum: "good",
  "cusp-minimum": "good",
  "strict-saddle": "warn",
  degenerate: "warn",
  "not-critical": "calm",
  inconclusive: "calm",
  empty: "calm",
};

/** @typedef {import("./controls.js").Controls} Controls */

/** The verdict and its numbers. @param {Controls} controls
 * @param {import("./verdict.js").Seen} seen */
export function showSeen(controls, seen) {
  controls.badge.textContent = seen.kind;
  controls.badge.className = `badge ${KINDS[/** @type {"minimum"} */ (seen.kind)] ?? "calm"}`;
  controls.words.textContent = seen.words;
  if (!controls.lab.playing && seen.words !== controls.live.textContent)
    controls.live.textContent = seen.words;
  const laplacians = [...seen.laplacians]
    .slice(0, 8)
    .map((value) => (Number.isNaN(value) ? "cusp" : short(value)))
    .join("  ");
  const pairs = {
    [controls.lab.table.unbounded ? "energy" : "loss"]: short(seen.loss),
    "gradient norm": short(seen.gradientNorm),
    "smallest eigenvalue": short(seen.eigenvalue),
    "cusp margin": seen.margin === null ? "—" : short(seen.margin),
    Laplacians: laplacians + (seen.laplacians.length > 8 ? " …" : "") || "—",
  };
  controls.numbers.replaceChildren(
    ...Object.entries(pairs).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
  // A card that is open stays open while its numbers change.
  const open = new Set(
    [...controls.theorems.children].filter((card) => card.open).map((card) => card.dataset.name),
  );
  controls.theorems.replaceChildren(
    ...seen.theorems.map((one) => {
      const card = theoremCard(one);
      card.open = open.has(card.dataset.name);
      return card;
    }),
  );
}

/** Nothing is known of what is shown, and nothing of the last is left. @param {Controls} controls
 * @param {string} words why */
export function showUnseen(controls, words) {
  controls.badge.textContent = "no verdict";
  controls.badge.className = "badge calm";
  controls.words.textContent = words;
  controls.numbers.replaceChildren();
  controls.theorems.replaceChildren();
}

/** @param {{theorem: string, source: string, hypotheses: {says: string, holds: boolean | null, here: string}[], guarantees: string}} one */
export function theoremCard(one) {
  const applies = one.hypotheses.every((each) => each.holds);
  return el(
    "details",
    { className: applies ? "theorem applies" : "theorem", "data-name": one.theorem },
    el("summary", {}, `${one.theorem}: ${applies ? "applies" : "does not apply"}`),
    el(
      "ul",
      {},
      ...one.hypotheses.map((each) =>
        el(
          "li",
          { className: each.holds ? "yes" : "no" },
          `${each.holds ? "✓" : "✗"} ${each.says}${each.here ? ` (${each.here})` : ""}`,
        ),
      ),
    ),
    el(
      "p",
      {},
      `${applies ? "Then: " : "Would give: "}${one.guarantees}. `,
      el("small", {}, one.source),
    ),
  );
}
