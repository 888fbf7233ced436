// Everything around the stage that people click, type and read. Text goes in as text, never as HTML.

import { basinRefusal } from "./basins.js";
import { chooser, el, fill, icon } from "./elements.js";
import { listen } from "./hands.js";
import { right } from "./panels.js";
import { showRows } from "./rows.js";
import { SCENES, sceneState } from "./scenes.js";
import { STAGE_NAMES } from "./state.js";
import { showLegend, showStory } from "./stories.js";
import { left } from "./toolbar.js";
import { showUnseen } from "./verdicts.js";

export class Controls {
  // Elements that toolbar.js and panels.js make.
  /** @type {any} */ badge;
  /** @type {any} */ buttons;
  /** @type {any} */ certified;
  /** @type {any} */ certifyButton;
  /** @type {any} */ clock;
  /** @type {any} */ csv;
  /** @type {any} */ csvButton;
  /** @type {any} */ energy;
  /** @type {any} */ fitCard;
  /** @type {any} */ fitChart;
  /** @type {any} */ formula;
  /** @type {any} */ functionsCard;
  /** @type {any} */ legend;
  /** @type {any} */ mapButton;
  /** @type {any} */ mapRow;
  /** @type {any} */ method;
  /** @type {any} */ needs;
  /** @type {any} */ noise;
  /** @type {any} */ noiseRow;
  /** @type {any} */ numbers;
  /** @type {any} */ phi;
  /** @type {any} */ playButton;
  /** @type {any} */ potentialChoice;
  /** @type {any} */ removeButton;
  /** @type {any} */ rows;
  /** @type {any} */ seed;
  /** @type {any} */ sigma;
  /** @type {any} */ slider;
  /** @type {any} */ speed;
  /** @type {any} */ stageChoice;
  /** @type {any} */ step;
  /** @type {any} */ stepRow;
  /** @type {any} */ stopWhen;
  /** @type {any} */ story;
  /** @type {any} */ taken;
  /** @type {any} */ theorems;
  /** @type {any} */ tip;
  /** @type {any} */ tools;
  /** @type {any} */ why;
  /** @type {any} */ words;
  /** @type {any} */ wrt;
  /** @type {{button: any, is: () => boolean}[]} */ toggles = [];

  /** @param {HTMLElement} root @param {import("./lab.js").Lab} lab */
  constructor(root, lab) {
    this.lab = lab;
    this.root = root;
    this.filled = ""; // of which stage and formula the chooser of potentials is
    /** @type {{name: string, canvas: HTMLCanvasElement}[]} */
    this.maps = [];
    root.classList.add("earnshaw-lab");
    this.canvas = el("canvas", {
      className: "stage",
      tabIndex: 0,
      role: "application",
      "aria-label": "The stage",
    });
    this.live = el("p", { className: "hidden-words", role: "status", "aria-live": "polite" });
    this.banner = el("p", { className: "banner", role: "alert", hidden: true });
    root.replaceChildren(
      this.header(),
      this.banner,
      el("main", {}, left(this), right(this)),
      this.live,
    );
    listen(this);
  }

  header() {
    const scenes = Object.fromEntries([
      ["", "your own"],
      ...SCENES.map((one, n) => [one.id, `${n + 1}. ${one.title}`]),
    ]);
    this.scene = chooser("Scene", scenes, (id) => id && this.openScene(id));
    const turn = (/** @type {number} */ by) => {
      const at = SCENES.findIndex((one) => one.id === this.lab.state.scene);
      this.openScene(SCENES[(at + by + SCENES.length) % SCENES.length].id);
    };
    this.theme = el(
      "button",
      {
        className: "quiet",
        "aria-label": "Light or dark",
        title: "Light or dark",
        onclick: () => this.lab.setTheme?.(this.lab.dark ? "light" : "dark"),
      },
      "◐",
    );
    return el(
      "header",
      {},
      el(
        "strong",
        { className: "brand" },
        el("i", { className: "dot red" }),
        el("i", { className: "dot blue" }),
        "earnshaw lab",
      ),
      el(
        "span",
        { className: "scenes" },
        el("button", { "aria-label": "The scene before", onclick: () => turn(-1) }, "‹"),
        this.scene,
        el("button", { "aria-label": "The next scene", onclick: () => turn(1) }, "›"),
      ),
      el("span", { className: "grow" }),
      this.theme,
    );
  }

  /** @param {string} id */
  openScene(id) {
    if (this.lab.replay) this.lab.stage.show.field = true;
    this.lab.replay = null;
    this.lab.playing = false;
    this.lab.map.show(false);
    this.lab.selected = null;
    this.banner.hidden = true;
    const view = SCENES.find((one) => one.id === id)?.view;
    this.lab.become(sceneState(id), { keep: true });
    if (view) Object.assign(this.lab.stage, view);
  }

  get functionsOpen() {
    return this.functionsCard.open;
  }

  /** @param {string} words */
  say(words) {
    this.taken.textContent = words;
  }

  /** One line that something is wrong. @param {string} words */
  complain(words) {
    this.banner.textContent = words;
    this.banner.hidden = false;
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => {
      this.banner.hidden = true;
    }, 12000);
  }

  /** Greyed out, with the reason, where there is no Python. @param {any} button */
  grey(button) {
    button.disabled = !this.lab.ask;
    button.title = this.lab.ask ? "" : `needs Python: ${this.lab.options.reason}`;
  }

  /** Show what the lab is now. */
  update() {
    const { lab } = this;
    const { state } = lab;
    const here = (/** @type {string} */ name) =>
      lab.tables.entries[name].stages[state.stage] !== undefined;
    const names = Object.keys(lab.tables.entries);
    const key = state.stage + (state.potential === "formula" ? state.formula : "");
    if (key !== this.filled) {
      this.filled = key;
      const choices = Object.fromEntries(names.filter(here).map((name) => [name, name]));
      if (state.potential === "formula") choices.formula = `formula: ${state.formula}`;
      fill(
        this.potentialChoice,
        choices,
        Object.fromEntries(
          names
            .filter((name) => !here(name))
            .map((name) => [name, lab.tables.entries[name].reasons[state.stage] ?? ""]),
        ),
      );
    }
    const replay = lab.replay;
    this.scene.value = replay ? "" : state.scene;
    this.stageChoice.value = state.stage;
    this.potentialChoice.value = state.potential;
    this.method.value = state.method;
    this.wrt.value = state.wrt;
    this.step.value = String(state.step);
    this.noise.value = String(state.noise);
    this.seed.value = String(state.seed);
    this.stopWhen.value = state.stopWhen;
    this.speed.value = String(Math.log10(state.speed));
    this.stepRow.hidden = state.method === "flow" || state.method === "node-wise";
    this.noiseRow.hidden = state.method !== "noisy-sgd";
    this.why.textContent = lab.refusal ?? "";
    this.formula.disabled = !lab.ask;
    this.formula.title = lab.ask ? "" : `needs Python: ${lab.options.reason}`;
    if (document.activeElement !== this.formula) this.formula.value = state.formula;
    this.needs.textContent = lab.ask
      ? ""
      : `Formulas, certificates and fits need Python: ${lab.options.reason}.`;
    this.functionsCard.hidden = lab.replay?.table === null;
    if (lab.replay?.table === null)
      showUnseen(this, "these units have no table here; Python knows more (ew.certify)");
    for (const control of [
      this.stageChoice,
      this.potentialChoice,
      this.method,
      this.wrt,
      this.seed,
      this.step,
      this.noise,
    ])
      control.disabled = Boolean(replay);
    this.grey(this.certifyButton);
    this.grey(this.csvButton);
    this.certified.replaceChildren();
    this.playButton.replaceChildren(icon(lab.playing ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", lab.playing ? "Pause" : "Play");
    this.removeButton.disabled = !lab.selected;
    for (const { button, is } of this.toggles ?? [])
      button.setAttribute("aria-pressed", String(is()));
    const noMap = basinRefusal(state.stage, lab.table ?? null);
    this.mapButton.disabled = Boolean(noMap) || Boolean(replay);
    this.mapButton.title = noMap || "Every pixel is a start of one electron: where does it end?";
    showLegend(this);
    showStory(this);
    showRows(this);
    this.canvas.setAttribute(
      "aria-label",
      `${STAGE_NAMES[state.stage]} with ${state.protons.length} protons and ${state.electrons.length} electrons; ${lab.selected ? `${lab.selected.what} ${lab.selected.index + 1} selected` : "none selected"}`,
    );
  }
}
