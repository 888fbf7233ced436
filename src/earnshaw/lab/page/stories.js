// What the page says about what is shown: a scene's sentences, a replay's, or your own charges.

import { PALETTE } from "./basins.js";
import { el } from "./elements.js";
import { SCENES } from "./scenes.js";
import { STAGE_NAMES } from "./state.js";

/** @typedef {import("./controls.js").Controls} Controls */

/** Which colour of the map of ends is which proton. @param {Controls} controls */
export function showLegend(controls) {
  const { lab } = controls;
  controls.legend.hidden = !lab.map.wanted || controls.mapButton.disabled;
  controls.legend.replaceChildren(
    ...(lab.map.hill?.places ?? lab.state.protons).map((_, j) => {
      const dot = el("i", { className: "dot" });
      dot.style.background = PALETTE[j % PALETTE.length];
      return el(
        "span",
        {},
        dot,
        lab.map.hill ? `ends in place ${j + 1}` : `ends on proton ${j + 1}`,
      );
    }),
    el("span", {}, el("i", { className: "dot none" }), "elsewhere"),
    el("span", {}, "darker: takes longer"),
  );
}

/** The card that explains. @param {Controls} controls */
export function showStory(controls) {
  const { lab } = controls;
  const scene = SCENES.find((one) => one.id === lab.state.scene);
  if (lab.replay) {
    const go = el(
      "button",
      {
        onclick: () => lab.continueHere(),
        disabled: !lab.replay.table,
        title: lab.replay.table ? "" : "there is no table of this potential",
      },
      "continue from here",
    );
    controls.story.replaceChildren(
      el("h2", {}, lab.replay.title),
      el("p", {}, lab.replay.words),
      ...(lab.state.stage === "space"
        ? [
            el(
              "p",
              { className: "hint" },
              `R^${lab.state.dim}, along the two directions in which the charges spread most.`,
            ),
          ]
        : []),
      el("div", { className: "buttons" }, go),
    );
  } else if (scene)
    controls.story.replaceChildren(
      el("h2", {}, scene.title),
      ...scene.text.map((words) => el("p", {}, words)),
      el("p", { className: "try" }, el("b", {}, "Try: "), scene.try),
    );
  else
    controls.story.replaceChildren(
      el("h2", {}, "Your own"),
      el(
        "p",
        {},
        `${lab.state.protons.length} protons (the teacher’s units, red) and ${lab.state.electrons.length} electrons (the student’s, blue) on the ${STAGE_NAMES[lab.state.stage]}, under ${lab.state.formula || lab.state.potential}. Drag them, charge them with the wheel, and press play.`,
      ),
    );
}
