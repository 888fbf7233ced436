// The lab as a page: served with Python behind it, or alone in one file.

import { Lab } from "./lab.js";

const NO_SERVER = "this is a file without a server; earnshaw lab starts one";

/** What a file carries in itself, by the id of its element. @param {string} id */
function carried(id) {
  return document.getElementById(id)?.textContent ?? null;
}

/** Ask Python. @param {string} what @param {object} body */
async function ask(what, body) {
  const answer = await fetch(`ask/${what}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const found = await answer
    .json()
    .catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
  return found;
}

/** @param {string | null} source */
function makeWorker(source) {
  if (source === null) return new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  return new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
}

async function begin() {
  const root = /** @type {HTMLElement} */ (document.getElementById("lab"));
  const source = carried("worker-source");
  const tables = JSON.parse(carried("tables") ?? (await (await fetch("tables.json")).text()));
  const replay =
    JSON.parse(carried("replay") ?? "null") ??
    (source === null ? await (await fetch("replay.json")).json() : null);
  const text = location.hash.length > 1 ? location.hash : (carried("state") ?? "");
  const lab = new Lab(root, {
    tables,
    makeWorker: () => makeWorker(source),
    ask: source === null ? ask : null,
    reason: NO_SERVER,
    replay,
    text,
  });
  /** @type {any} */ (globalThis).lab = lab; // for the inspector
  addEventListener("hashchange", () => {
    if (location.hash !== `#${lab.text()}`) lab.open(location.hash);
  });
}

begin();
