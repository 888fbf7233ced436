// What only Python knows: certificates with proofs, and networks for a table of one's own.

import { el } from "./elements.js";
import { theoremCard } from "./verdicts.js";

/** @typedef {import("./controls.js").Controls} Controls */

/** All theorems about what is shown, and a proof. @param {Controls} controls */
export async function certify(controls) {
  const { lab } = controls;
  if (!lab.ask) return;
  controls.certified.textContent = "asking Python …";
  try {
    const now = lab.now();
    const found = await lab.ask("certify", {
      ...lab.question(),
      positions: [...now.x],
      weights: [...now.c],
    });
    controls.certified.replaceChildren(
      el("p", {}, `${found.kind}: ${found.reason}`),
      ...found.theorems.map((/** @type {any} */ one) =>
        theoremCard({
          theorem: one.theorem,
          source: one.sources,
          hypotheses: one.hypotheses,
          guarantees: one.guarantees,
        }),
      ),
      el("p", { className: "hint" }, found.rigorous ?? ""),
    );
  } catch (error) {
    controls.certified.textContent = /** @type {Error} */ (error).message;
  }
}

/** A network for a table of one’s own. @param {Controls} controls @param {File} file */
export async function fit(controls, file) {
  const { lab } = controls;
  if (!lab.ask) return;
  if (file.size > 2e6) {
    controls.complain(
      "the table has more than 2 MB; allowed here: less (earnshaw fit takes larger ones)",
    );
    return;
  }
  controls.say("fitting …");
  try {
    const found = await lab.ask("fit", { table: await file.text() });
    controls.say(found.words);
    lab.openReplay(found.replay);
  } catch (error) {
    controls.say("");
    controls.complain(/** @type {Error} */ (error).message);
  }
  controls.csv.value = "";
}
