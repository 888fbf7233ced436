// Everything around the stage that people click, type and read. Text goes in as text, never as HTML.

import { PALETTE, basinRefusal } from "./basins.js";
import { chooser, el, fill, icon, row } from "./elements.js";
import { exportsOf } from "./exports.js";
import { listen } from "./hands.js";
import { METHODS } from "./methods.js";
import { SCENES, sceneState } from "./scenes.js";
import { STAGES } from "./state.js";
import { short } from "./words.js";

const STAGE_NAMES = {
  line: "line R¹",
  plane: "plane R²",
  space: "space R³",
  circle: "circle S¹",
  sphere: "sphere S²",
};
const MOVES = { positions: "positions", both: "positions and charges", weights: "charges" };
const STOPS = { never: "never", rest: "at rest", minimum: "in a minimum" };
const KINDS = {
  minimum: "good",
  "cusp-minimum": "good",
  "strict-saddle": "warn",
  degenerate: "warn",
  "not-critical": "calm",
  inconclusive: "calm",
  empty: "calm",
};
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

export class Controls {
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
      el("main", {}, this.left(), this.right()),
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
    this.lab.pause();
    this.lab.map.show(false);
    this.banner.hidden = true;
    const view = SCENES.find((one) => one.id === id)?.view;
    this.lab.become(sceneState(id), { keep: true });
    if (view) Object.assign(this.lab.stage, view);
  }

  left() {
    const { lab } = this;
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
            this.update();
          },
        },
        words,
      );
      this.toggles.push({ button, is });
      return button;
    };
    /** @type {{button: any, is: () => boolean}[]} */
    this.toggles = [];
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
    this.mapButton = toggle(
      "Every pixel is a start of one electron: where does it end?",
      "where does it end?",
      () => lab.map?.wanted ?? false,
      (on) => lab.map.show(on),
    );
    this.tools = el(
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
      (this.removeButton = el(
        "button",
        {
          className: "chip",
          title: "Remove what is selected (Delete)",
          onclick: () => lab.remove(),
        },
        "remove",
      )),
      el(
        "button",
        { className: "chip", title: "Undo (Ctrl Z)", onclick: () => lab.undo() },
        "undo",
      ),
      el("span", { className: "grow" }),
      toggle("The potential that a test electron feels", "field", ...show("field")),
      toggle("Field lines", "lines", ...show("lines")),
      toggle("Where electrons came from", "ways", ...show("trails")),
      toggle("The direction of the smallest eigenvalue", "softest", ...show("arrows")),
      this.mapButton,
    );
    this.legend = el("div", { className: "legend", hidden: true });
    this.tip = el("div", { className: "tip", hidden: true });
    this.playButton = el(
      "button",
      {
        className: "play",
        "aria-label": "Play",
        onclick: () => (lab.playing ? lab.pause() : lab.play()),
      },
      icon("play"),
    );
    this.slider = el("input", {
      type: "range",
      min: "0",
      max: "1000",
      value: "0",
      "aria-label": "Time",
      oninput: () => {
        lab.playing = false;
        lab.goTo((this.slider.value / 1000) * lab.last.time);
        this.update();
      },
    });
    this.clock = el("output", { className: "clock", "aria-label": "Time" }, "0");
    this.speed = el("input", {
      type: "range",
      min: "-2",
      max: "2",
      step: "0.05",
      value: "0",
      "aria-label": "Speed",
      title: "Speed",
      oninput: () => {
        lab.state.speed = Math.round(10 ** Number(this.speed.value) * 100) / 100;
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
      this.playButton,
      el(
        "button",
        { "aria-label": "One step", title: "One step (S)", onclick: () => lab.stepOnce() },
        icon("step"),
      ),
      this.slider,
      this.clock,
      el("label", { className: "speed" }, el("span", {}, "speed"), this.speed),
    );
    return el(
      "section",
      { className: "left", "aria-label": "Stage" },
      this.tools,
      el("div", { className: "frame" }, this.canvas, this.legend, this.tip),
      bar,
    );
  }

  right() {
    this.story = el("article", { className: "card story" });
    this.badge = el("b", { className: "badge" }, "…");
    this.words = el("p", { className: "verdict" }, "");
    this.numbers = el("dl", { className: "numbers" });
    this.theorems = el("div", { className: "theorems" });
    this.energy = el("canvas", {
      className: "chart",
      role: "img",
      "aria-label": "Energy against time",
    });
    this.fitChart = el("canvas", {
      className: "chart",
      role: "img",
      "aria-label": "The rows of the table and the fit",
    });
    this.fitCard = el(
      "article",
      { className: "card", hidden: true },
      el("h2", {}, "The fit"),
      this.fitChart,
    );
    this.certifyButton = el("button", { onclick: () => this.certify() }, "certify in Python");
    this.certified = el("div", { className: "certified" });
    const verdict = el(
      "article",
      { className: "card", "aria-label": "What kind of point this is" },
      el("h2", {}, "What kind of point is this?"),
      this.badge,
      this.words,
      this.numbers,
      this.theorems,
      el("div", { className: "buttons" }, this.certifyButton),
      this.certified,
    );
    return el(
      "section",
      { className: "right", "aria-label": "Numbers and settings" },
      this.story,
      verdict,
      this.fitCard,
      el("article", { className: "card" }, el("h2", {}, "Energy"), this.energy),
      this.setup(),
      this.functions(),
      this.table(),
      this.take(),
    );
  }

  setup() {
    const { lab } = this;
    this.stageChoice = chooser("Stage", STAGE_NAMES, (stage) =>
      lab.change({ stage: /** @type {keyof typeof STAGES} */ (stage) }),
    );
    this.potentialChoice = chooser("Activation or potential", {}, (potential) =>
      lab.change({ potential }),
    );
    this.formula = el("input", {
      type: "text",
      maxLength: 200,
      placeholder: "x*tanh(x), exp(-r^2), rbf(gamma=2)",
      "aria-label": "Formula",
      onchange: () =>
        this.formula.value.trim() && lab.askFormula(this.formula.value.trim(), lab.state.stage),
    });
    this.method = chooser("Method", METHODS, (method) =>
      lab.edit((state) => {
        state.method = method;
      }),
    );
    this.wrt = chooser("What moves", MOVES, (wrt) =>
      lab.edit((state) => {
        state.wrt = wrt;
      }),
    );
    const number = (/** @type {"step" | "noise"} */ name, /** @type {string} */ label) =>
      el("input", {
        type: "number",
        step: "any",
        min: "0",
        "aria-label": label,
        onchange: (/** @type {any} */ event) => {
          const value = Number(event.target.value);
          if (value > 0 && value <= 10)
            lab.edit((state) => {
              state[name] = value;
            });
        },
      });
    this.step = number("step", "Step");
    this.noise = number("noise", "Noise");
    this.seed = el("input", {
      type: "number",
      min: "0",
      step: "1",
      "aria-label": "Seed",
      onchange: () => {
        const seed = Math.floor(Number(this.seed.value));
        if (seed >= 0 && seed <= 4294967295) lab.redraw(seed);
      },
    });
    this.stopWhen = chooser("Stop", STOPS, (stop) => {
      lab.state.stopWhen = stop;
      lab.note();
    });
    this.why = el("p", { className: "why" });
    this.stepRow = row("step", this.step);
    this.noiseRow = row("noise", this.noise);
    return el(
      "article",
      { className: "card" },
      el("h2", {}, "Set it up"),
      row("stage", this.stageChoice),
      row("units", this.potentialChoice, "An activation, or a potential"),
      row("formula", this.formula, "sigma(x), a potential in r or rho, or a name with its parameters; press Enter"),
      row("method", this.method),
      row("moving", this.wrt),
      this.stepRow,
      this.noiseRow,
      row(
        "seed",
        el(
          "span",
          { className: "pair" },
          this.seed,
          el(
            "button",
            {
              title: "New random electrons",
              onclick: () => lab.redraw((lab.state.seed + 1) % 4294967296),
            },
            "draw again",
          ),
        ),
      ),
      row("stop", this.stopWhen),
      this.why,
    );
  }

  functions() {
    this.sigma = el("canvas", {
      className: "chart small",
      role: "img",
      "aria-label": "The activation",
    });
    this.phi = el("canvas", {
      className: "chart small",
      role: "img",
      "aria-label": "The potential",
    });
    this.maps = ["teacher", "student", "difference"].map((name) => ({
      name,
      canvas: el("canvas", {
        width: 72,
        height: 72,
        role: "img",
        "aria-label": `The ${name} as a function of the input`,
      }),
    }));
    this.mapRow = el(
      "div",
      { className: "maps" },
      ...this.maps.map(({ name, canvas }) => el("figure", {}, canvas, el("figcaption", {}, name))),
    );
    this.functionsCard = el(
      "details",
      {
        className: "card",
        open: true,
        ontoggle: () => {
          this.lab.functionsKey = "";
        },
      },
      el("summary", {}, "The functions"),
      this.sigma,
      this.phi,
      this.mapRow,
    );
    return this.functionsCard;
  }

  get functionsOpen() {
    return this.functionsCard.open;
  }

  table() {
    this.rows = el("tbody", {});
    return el(
      "details",
      { className: "card" },
      el("summary", {}, "The charges"),
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ...["", "position", "weight", "hold"].map((name) => el("th", { scope: "col" }, name)),
          ),
        ),
        this.rows,
      ),
      el(
        "p",
        { className: "hint" },
        "On the stage: N and B select the next and the last charge, arrows move it, + and − charge it, F freezes it, Delete removes it; space plays.",
      ),
    );
  }

  take() {
    const { lab } = this;
    this.buttons = el("div", { className: "buttons" });
    for (const [name, act, hint] of exportsOf(lab, this))
      this.buttons.append(el("button", { title: hint, onclick: () => act() }, name));
    this.csv = el("input", {
      type: "file",
      accept: ".csv,text/csv",
      hidden: true,
      "aria-label": "A table of data",
      onchange: () => this.csv.files[0] && this.fit(this.csv.files[0]),
    });
    this.csvButton = el("button", { onclick: () => this.csv.click() }, "fit a CSV …");
    this.buttons.append(this.csvButton, this.csv);
    return el(
      "article",
      { className: "card" },
      el("h2", {}, "Take it with you"),
      this.buttons,
      (this.taken = el("p", { className: "hint", role: "status" })),
    );
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

  async certify() {
    const { lab } = this;
    if (!lab.ask) return;
    this.certified.textContent = "asking Python …";
    try {
      const now = lab.now();
      const found = await lab.ask("certify", {
        ...lab.question(),
        positions: [...now.x],
        weights: [...now.c],
      });
      this.certified.replaceChildren(
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
      this.certified.textContent = /** @type {Error} */ (error).message;
    }
  }

  /** @param {File} file */
  async fit(file) {
    const { lab } = this;
    if (!lab.ask) return;
    if (file.size > 2e6) {
      this.complain(
        "the table has more than 2 MB; allowed here: less (earnshaw fit takes larger ones)",
      );
      return;
    }
    this.say("fitting …");
    try {
      const found = await lab.ask("fit", { table: await file.text() });
      this.say(found.words);
      lab.openReplay(found.replay);
    } catch (error) {
      this.say("");
      this.complain(/** @type {Error} */ (error).message);
    }
    this.csv.value = "";
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
    const noMap = basinRefusal(state.stage, lab.table?.kind ?? "");
    this.mapButton.disabled = Boolean(noMap) || Boolean(replay);
    this.mapButton.title = noMap || "Every pixel is a start of one electron: where does it end?";
    this.showLegend();
    this.showStory();
    this.showRows();
    this.canvas.setAttribute(
      "aria-label",
      `${STAGE_NAMES[state.stage]} with ${state.protons.length} protons and ${state.electrons.length} electrons; ${lab.selected ? `${lab.selected.what} ${lab.selected.index + 1} selected` : "none selected"}`,
    );
  }

  showLegend() {
    const { lab } = this;
    this.legend.hidden = !lab.map.wanted || this.mapButton.disabled;
    this.legend.replaceChildren(
      ...lab.state.protons.map((_, j) => {
        const dot = el("i", { className: "dot" });
        dot.style.background = PALETTE[j % PALETTE.length];
        return el("span", {}, dot, `ends on proton ${j + 1}`);
      }),
      el("span", {}, el("i", { className: "dot none" }), "elsewhere"),
      el("span", {}, "darker: takes longer"),
    );
  }

  showStory() {
    const { lab } = this;
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
      this.story.replaceChildren(
        el("h2", {}, lab.replay.title),
        el("p", {}, lab.replay.words),
        lab.state.stage === "space"
          ? el(
              "p",
              { className: "hint" },
              `R^${lab.state.dim}, along the two directions in which the protons spread most.`,
            )
          : null,
        el("div", { className: "buttons" }, go),
      );
    } else if (scene)
      this.story.replaceChildren(
        el("h2", {}, scene.title),
        ...scene.text.map((words) => el("p", {}, words)),
        el("p", { className: "try" }, el("b", {}, "Try: "), scene.try),
      );
    else
      this.story.replaceChildren(
        el("h2", {}, "Your own"),
        el(
          "p",
          {},
          `${lab.state.protons.length} protons (the teacher’s units, red) and ${lab.state.electrons.length} electrons (the student’s, blue) on the ${STAGE_NAMES[lab.state.stage]}, under ${lab.state.formula || lab.state.potential}. Drag them, charge them with the wheel, and press play.`,
        ),
      );
  }

  showRows() {
    const { lab } = this;
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
              for (const one of this.rows.children) one.className = "";
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
              lab.charge({ what, index }, (Number(event.target.value) || 0) - weights[index]),
          }),
        ),
        el("td", {}, ...flags),
      );
    };
    if (this.rows.contains(document.activeElement) && lab.playing) return;
    this.rows.replaceChildren(
      ...state.protons.map((place, j) => make("proton", place, j)),
      ...state.electrons.map((place, i) => make("electron", place, i)),
    );
  }

  showTime() {
    const { lab } = this;
    const total = lab.last.time;
    if (document.activeElement !== this.slider || lab.playing)
      this.slider.value = String(total > 0 ? Math.round((1000 * lab.clock) / total) : 0);
    const steps = lab.state.method !== "flow" && !lab.replay;
    const at = steps ? String(Math.round(lab.clock)) : lab.clock.toFixed(total > 100 ? 1 : 2);
    const ended =
      lab.stop && lab.clock >= total && !lab.replay
        ? (ENDED[/** @type {"time"} */ (lab.stop)] ?? lab.stop)
        : "";
    const note =
      lab.replay?.notes?.[Math.min(lab.replay.notes.length - 1, Math.round(lab.clock))] ?? "";
    const words = note || (ended ? `${at} · ${ended}` : at);
    if (this.clock.textContent !== words) this.clock.textContent = words;
  }

  /** @param {import("./verdict.js").Seen} seen */
  showSeen(seen) {
    this.badge.textContent = seen.kind;
    this.badge.className = `badge ${KINDS[/** @type {"minimum"} */ (seen.kind)] ?? "calm"}`;
    this.words.textContent = seen.words;
    if (!this.lab.playing && seen.words !== this.live.textContent)
      this.live.textContent = seen.words;
    const laplacians = [...seen.laplacians]
      .slice(0, 8)
      .map((value) => (Number.isNaN(value) ? "cusp" : short(value)))
      .join("  ");
    const pairs = {
      [this.lab.table.unbounded ? "energy" : "loss"]: short(seen.loss),
      "gradient norm": short(seen.gradientNorm),
      "smallest eigenvalue": short(seen.eigenvalue),
      "cusp margin": seen.margin === null ? "—" : short(seen.margin),
      Laplacians: laplacians + (seen.laplacians.length > 8 ? " …" : "") || "—",
    };
    this.numbers.replaceChildren(
      ...Object.entries(pairs).flatMap(([name, value]) => [
        el("dt", {}, name),
        el("dd", {}, value),
      ]),
    );
    this.theorems.replaceChildren(...seen.theorems.map(theoremCard));
  }
}

/** @param {{theorem: string, source: string, hypotheses: {says: string, holds: boolean | null, here: string}[], guarantees: string}} one */
function theoremCard(one) {
  const applies = one.hypotheses.every((each) => each.holds);
  return el(
    "details",
    { className: applies ? "theorem applies" : "theorem" },
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
