// Films of the motion: WebM by the browser's own recorder, GIF by our own hands.

import { save } from "./elements.js";
import { fifteen, gifOf } from "./gif.js";

const FRAMES = 60; // of a GIF
const WIDEST = 480; // pixels
const DELAY = 6; // hundredths of a second

/** @typedef {{say: (words: string) => void, complain: (words: string) => void, canvas: HTMLCanvasElement}} Speaker */

/** Play the motion once and keep it as WebM. @param {import("./lab.js").Lab} lab
 * @param {Speaker} controls */
export async function film(lab, controls) {
  if (!("MediaRecorder" in globalThis) || !controls.canvas.captureStream) {
    controls.complain(
      "this browser records no film; allowed: Chromium, Firefox, or earnshaw simulate --animate",
    );
    return;
  }
  const recorder = new MediaRecorder(controls.canvas.captureStream(30), { mimeType: "video/webm" });
  /** @type {Blob[]} */
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.onstop = () => {
    save("lab.webm", new Blob(parts, { type: "video/webm" }));
    controls.say("the film is saved");
  };
  lab.rewind();
  recorder.start();
  lab.play();
  controls.say("recording … press pause to end the film");
  const watch = setInterval(() => {
    if (lab.playing) return;
    clearInterval(watch);
    setTimeout(() => recorder.stop(), 600); // the end is worth a look
  }, 100);
}

/** Draw the motion so far at even times and keep it as GIF. @param {import("./lab.js").Lab} lab
 * @param {Speaker} controls */
export async function gif(lab, controls) {
  if (!(lab.last.time > 0)) {
    controls.complain("nothing has moved yet: press play first, then take the GIF");
    return;
  }
  lab.pause();
  const back = lab.clock;
  const { canvas } = controls;
  const width = Math.min(WIDEST, canvas.width);
  const height = Math.round((canvas.height * width) / canvas.width);
  const small = new OffscreenCanvas(width, height);
  const g = /** @type {OffscreenCanvasRenderingContext2D} */ (
    small.getContext("2d", { willReadFrequently: true })
  );
  const frames = [];
  for (let n = 0; n < FRAMES; n++) {
    lab.clock = (lab.last.time * n) / (FRAMES - 1);
    lab.stage.rough = false;
    lab.stage.draw(lab.picture());
    g.drawImage(canvas, 0, 0, width, height);
    frames.push(fifteen(g.getImageData(0, 0, width, height)));
    controls.say(`GIF: ${n + 1} of ${FRAMES}`);
    await new Promise((done) => setTimeout(done, 0));
  }
  for (let n = 0; n < 12; n++) frames.push(frames[FRAMES - 1]); // the end is worth a look
  lab.goTo(back);
  const blob = gifOf(frames, width, height, DELAY);
  save("lab.gif", blob);
  controls.say(`the GIF is saved: ${(blob.size / 1e6).toFixed(1)} MB`);
}
