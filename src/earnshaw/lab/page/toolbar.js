// Around the stage: what is added and shown above it, and time below it.

import { el, icon } from "./elements.js";

const ENDED = {
  time: "",
  bound: "every electron is bound",
  equilibrium: "nothing moves any more",
  collision: "two charges have met, where the force has no limit",
  diverged: "the motion has left all bounds",
  "step-limit": "too many steps",
  converged: "no way down is left",
  "no-decrease": "no step goes down",
  placed: "all electrons are placed",
};

/** @typedef {import("./controls.js").Controls} Controls */

/** The stage with its tools and the bar of time. @param {Controls} controls */
export function left(controls) {
  const { lab } = controls;
  const toggle = (
    /** @type {string} */ name,
    /** @type {string} */ words,
    /** @type {() => boolean} */ is,
    /** @type {(on: boolean) => void} */ set,
  ) => {
    const button = el(
      "button",
      {
        className: "chip",
        "aria-pressed": "false",
        title: name,
        onclick: () => {
          set(!is());
          controls.update();
        },
      },
      words,
    );
    controls.toggles.push({ button, is });
    return button;
  };
  /** @type {{button: any, is: () => boolean}[]} */
  controls.toggles = [];
  const show = (/** @type {"field" | "lines" | "trails" | "arrows"} */ what) =>
    /** @type {[() => boolean, (on: boolean) => void]} */ ([
      () => lab.stage?.show[what] ?? what !== "lines",
      (on) => {
        lab.stage.show[what] = on;
        if (what === "lines") lab.state.lines = on;
        lab.stage.key = "";
        lab.note();
      },
    ]);
  controls.mapButton = toggle(
    "Every pixel is a start of one electron: where does it end?",
    "where does it end?",
    () => lab.map?.wanted ?? false,
    (on) => lab.map.show(on),
  );
  controls.tools = el(
    "div",
    { className: "tools" },
    el(
      "button",
      {
        className: "chip",
        title: "Add an electron (E, or double click)",
        onclick: () => lab.add("electron"),
      },
      "+ electron",
    ),
    el(
      "button",
      {
        className: "chip",
        title: "Add a proton (P, or Shift and double click)",
        onclick: () => lab.add("proton"),
      },
      "+ proton",
    ),
    (controls.removeButton = el(
      "button",
      {
        className: "chip",
        title: "Remove what is selected (Delete)",
        onclick: () => lab.remove(),
      },
      "remove",
    )),
    el("button", { className: "chip", title: "Undo (Ctrl Z)", onclick: () => lab.undo() }, "undo"),
    el("span", { className: "grow" }),
    toggle("The potential that a test electron feels", "field", ...show("field")),
    toggle("Field lines", "lines", ...show("lines")),
    toggle("Where electrons came from", "ways", ...show("trails")),
    toggle("The direction of the smallest eigenvalue", "softest", ...show("arrows")),
    controls.mapButton,
  );
  controls.legend = el("div", { className: "legend", hidden: true });
  controls.tip = el("div", { className: "tip", hidden: true });
  controls.playButton = el(
    "button",
    {
      className: "play",
      "aria-label": "Play",
      onclick: () => (lab.playing ? lab.pause() : lab.play()),
    },
    icon("play"),
  );
  controls.slider = el("input", {
    type: "range",
    min: "0",
    max: "1000",
    value: "0",
    "aria-label": "Time",
    oninput: () => {
      lab.playing = false;
      lab.goTo((controls.slider.value / 1000) * lab.last.time);
      controls.update();
    },
  });
  controls.clock = el("output", { className: "clock", "aria-label": "Time" }, "0");
  controls.speed = el("input", {
    type: "range",
    min: "-2",
    max: "2",
    step: "0.05",
    value: "0",
    "aria-label": "Speed",
    title: "Speed",
    oninput: () => {
      lab.state.speed = Math.round(10 ** Number(controls.speed.value) * 100) / 100;
      lab.note();
    },
  });
  const bar = el(
    "div",
    { className: "timebar" },
    el(
      "button",
      {
        "aria-label": "Rewind to the same start",
        title: "Rewind to the same start (R)",
        onclick: () => lab.rewind(),
      },
      icon("rewind"),
    ),
    controls.playButton,
    el(
      "button",
      { "aria-label": "One step", title: "One step (S)", onclick: () => lab.stepOnce() },
      icon("step"),
    ),
    controls.slider,
    controls.clock,
    el("label", { className: "speed" }, el("span", {}, "speed"), controls.speed),
  );
  return el(
    "section",
    { className: "left", "aria-label": "Stage" },
    controls.tools,
    el("div", { className: "frame" }, controls.canvas, controls.legend, controls.tip),
    bar,
  );
}

/** Where the clock stands, and why the motion has ended. @param {Controls} controls */
export function showTime(controls) {
  const { lab } = controls;
  const total = lab.last.time;
  if (document.activeElement !== controls.slider || lab.playing)
    controls.slider.value = String(total > 0 ? Math.round((1000 * lab.clock) / total) : 0);
  const steps = lab.state.method !== "flow" && !lab.replay;
  const at = steps ? String(Math.round(lab.clock)) : lab.clock.toFixed(total > 100 ? 1 : 2);
  const ended =
    lab.stop && lab.clock >= total && !lab.replay
      ? (ENDED[/** @type {"time"} */ (lab.stop)] ?? lab.stop)
      : "";
  const note =
    lab.replay?.notes?.[Math.min(lab.replay.notes.length - 1, Math.round(lab.clock))] ?? "";
  const words = note || (ended ? `${at} · ${ended}` : at);
  if (controls.clock.textContent !== words) controls.clock.textContent = words;
}
