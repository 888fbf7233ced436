// The charges as rows of numbers that can be typed.

import { el } from "./elements.js";

/** @typedef {import("./controls.js").Controls} Controls */

/** All protons, then all electrons. @param {Controls} controls */
export function showRows(controls) {
  const { lab } = controls;
  const { state } = lab;
  const make = (
    /** @type {"electron" | "proton"} */ what,
    /** @type {number[]} */ place,
    /** @type {number} */ index,
  ) => {
    const chosen = lab.selected?.what === what && lab.selected.index === index;
    const weights = what === "electron" ? state.weights : state.charges;
    const coordinate = (/** @type {number} */ n) =>
      el("input", {
        type: "number",
        step: "any",
        value: String(Number(place[n].toFixed(4))),
        "aria-label": `${what} ${index + 1}, coordinate ${n + 1}`,
        onchange: (/** @type {any} */ event) => {
          const to = [...place];
          to[n] = Number(event.target.value) || 0;
          lab.moveCharge({ what, index }, to, true);
        },
      });
    const flags =
      what === "electron"
        ? ["frozen", "fixed"].map((name, n) =>
            el(
              "label",
              { title: n ? "hold the charge" : "hold the position" },
              el("input", {
                type: "checkbox",
                checked: state[/** @type {"frozen"} */ (name)][index],
                "aria-label": `${what} ${index + 1}: hold its ${n ? "charge" : "position"}`,
                onchange: (/** @type {any} */ event) =>
                  lab.edit((changed) => {
                    changed[/** @type {"frozen"} */ (name)][index] = event.target.checked;
                  }),
              }),
              n ? "q" : "x",
            ),
          )
        : [];
    return el(
      "tr",
      {
        className: chosen ? "chosen" : "",
        onclick: () => {
          if (!chosen) {
            lab.selected = { what, index };
            lab.stage.key = "";
            for (const one of controls.rows.children) one.className = "";
          }
        },
      },
      el(
        "th",
        { scope: "row" },
        el("i", { className: `dot ${what === "electron" ? "blue" : "red"}` }),
        String(index + 1),
      ),
      el("td", {}, ...place.map((_, n) => coordinate(n))),
      el(
        "td",
        {},
        el("input", {
          type: "number",
          step: "0.1",
          value: String(Number(weights[index].toFixed(4))),
          "aria-label": `weight of ${what} ${index + 1}`,
          onchange: (/** @type {any} */ event) =>
            lab.setCharge({ what, index }, Number(event.target.value) || 0),
        }),
      ),
      el("td", {}, ...flags),
    );
  };
  if (controls.rows.contains(document.activeElement) && lab.playing) return;
  controls.rows.replaceChildren(
    ...state.protons.map((place, j) => make("proton", place, j)),
    ...state.electrons.map((place, i) => make("electron", place, i)),
  );
}
