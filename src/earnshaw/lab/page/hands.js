// What hands do on the stage: drag, charge, zoom, turn, and the same by keys.

import { short } from "./words.js";

/** Listen to the pointer, the wheel and the keys on the stage.
 * @param {import("./controls.js").Controls} controls */
export function listen(controls) {
  const { canvas, lab } = controls;
  /** @type {{who: import("./stage.js").Picked | null, x: number, y: number, moved: boolean} | null} */
  let held = null;
  const at = (/** @type {MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    const [x, y] = at(event);
    const who = lab.stage.pick(lab.picture(), x, y, event.pointerType === "touch" ? 16 : 6);
    held = { who, x, y, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const [x, y] = at(event);
    if (!held) {
      const who = lab.stage.pick(lab.picture(), x, y);
      canvas.style.cursor = who ? "grab" : "default";
      showTip(controls, who, x, y);
      return;
    }
    controls.tip.hidden = true;
    if (!held.moved && Math.hypot(x - held.x, y - held.y) < 3) return;
    const first = !held.moved;
    held.moved = true;
    if (held.who && !lab.replay) {
      lab.selected = held.who;
      const picture = lab.picture();
      const d = picture.dim;
      const values = held.who.what === "electron" ? picture.x : picture.protons;
      lab.moveCharge(
        held.who,
        lab.stage.unplace(x, y, values.slice(held.who.index * d, (held.who.index + 1) * d)),
        first,
      );
    } else if (lab.stage.kind === "sphere") lab.stage.rotate(x - held.x, y - held.y);
    else if (lab.stage.kind === "plane" || lab.stage.kind === "line") {
      const [a, b] = [lab.stage.unplace(held.x, held.y), lab.stage.unplace(x, y)];
      a.forEach((value, n) => {
        lab.stage.centre[n] += value - b[n];
      });
      lab.stage.key = "";
    }
    if (!held.who) [held.x, held.y] = [x, y];
  });
  const drop = () => {
    if (held && !held.moved) {
      lab.selected = held.who;
      lab.stage.key = "";
      controls.update();
    }
    held = null;
  };
  canvas.addEventListener("pointerleave", () => {
    controls.tip.hidden = true;
  });
  canvas.addEventListener("pointerup", drop);
  canvas.addEventListener("pointercancel", () => {
    held = null;
  });
  canvas.addEventListener("dblclick", (/** @type {MouseEvent} */ event) => {
    const [x, y] = at(event);
    if (!lab.stage.pick(lab.picture(), x, y, 0))
      lab.add(event.shiftKey ? "proton" : "electron", lab.stage.unplace(x, y));
  });
  canvas.addEventListener(
    "wheel",
    (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      const [x, y] = at(event);
      const who = lab.stage.pick(lab.picture(), x, y, 0);
      if (who && !lab.replay) {
        lab.selected = who;
        lab.charge(who, event.deltaY < 0 ? 0.1 : -0.1);
      } else lab.stage.zoom(event.deltaY < 0 ? 0.9 : 1 / 0.9, x, y);
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (pressed(controls, event)) event.preventDefault();
  });
}

/** The numbers of what the pointer is on. @param {import("./controls.js").Controls} controls
 * @param {import("./stage.js").Picked | null} who
 * @param {number} x @param {number} y */
function showTip(controls, who, x, y) {
  const { lab, tip } = controls;
  const picture = lab.picture();
  const d = picture.dim;
  const words = (/** @type {ArrayLike<number>} */ place) =>
    `(${Array.from(place, short).join(", ")})`;
  let text = "";
  if (who) {
    const [values, weights] =
      who.what === "electron" ? [picture.x, picture.c] : [picture.protons, picture.charges];
    text = `${who.what} ${who.index + 1} at ${words(values.subarray(who.index * d, (who.index + 1) * d))}, weight ${short(weights[who.index])}`;
  } else if (lab.stage.holds(x, y)) {
    const place = lab.stage.unplace(x, y);
    const felt = lab.stage.potentialAt(picture, place);
    text = felt === null ? words(place) : `potential ${short(felt)} at ${words(place)}`;
  }
  tip.hidden = !text;
  tip.textContent = text;
  tip.style.left = `${Math.min(x + 14, Math.max(8, lab.stage.width - 250))}px`;
  tip.style.top = `${y > lab.stage.height - 60 ? y - 34 : y + 16}px`;
}

/** What a key does; whether it did something.
 * @param {import("./controls.js").Controls} controls @param {KeyboardEvent} event */
function pressed(controls, event) {
  const { lab } = controls;
  const all = [
    ...lab.state.protons.map((_, index) => ({ what: /** @type {const} */ ("proton"), index })),
    ...lab.state.electrons.map((_, index) => ({
      what: /** @type {const} */ ("electron"),
      index,
    })),
  ];
  const next = (/** @type {number} */ by) => {
    const now = all.findIndex(
      (one) => one.what === lab.selected?.what && one.index === lab.selected.index,
    );
    lab.selected = all[(now + by + all.length) % all.length] ?? null;
    lab.stage.key = "";
    controls.update();
    if (lab.selected)
      controls.live.textContent = `${lab.selected.what} ${lab.selected.index + 1} selected`;
  };
  const move = (/** @type {number} */ dx, /** @type {number} */ dy) => {
    if (!lab.selected) return;
    const picture = lab.picture();
    const d = picture.dim;
    const values = lab.selected.what === "electron" ? picture.x : picture.protons;
    const near = values.slice(lab.selected.index * d, (lab.selected.index + 1) * d);
    const [x, y] = lab.stage.place(near);
    const far = event.shiftKey ? 2 : 12;
    lab.moveCharge(lab.selected, lab.stage.unplace(x + dx * far, y + dy * far, near), true);
  };
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() !== "z") return false;
    lab.undo();
    return true;
  }
  /** @type {{[key: string]: () => void}} */
  const acts = {
    n: () => next(1),
    b: () => next(-1),
    ArrowLeft: () => move(-1, 0),
    ArrowRight: () => move(1, 0),
    ArrowUp: () => move(0, -1),
    ArrowDown: () => move(0, 1),
    "+": () => lab.selected && lab.charge(lab.selected, 0.1),
    "=": () => lab.selected && lab.charge(lab.selected, 0.1),
    "-": () => lab.selected && lab.charge(lab.selected, -0.1),
    Delete: () => lab.remove(),
    Backspace: () => lab.remove(),
    e: () => lab.add("electron"),
    p: () => lab.add("proton"),
    " ": () => (lab.playing ? lab.pause() : lab.play()),
    r: () => lab.rewind(),
    s: () => lab.stepOnce(),
    f: () =>
      lab.selected?.what === "electron" &&
      lab.edit((state) => {
        state.frozen[lab.selected?.index ?? 0] = !state.frozen[lab.selected?.index ?? 0];
      }),
    Escape: () => {
      lab.selected = null;
      lab.stage.key = "";
      controls.update();
    },
  };
  const act = acts[event.key] ?? acts[event.key.toLowerCase()];
  act?.();
  return Boolean(act);
}
