// Elements of the page: made with text, never from HTML.

/** An element. @param {string} tag @param {{[name: string]: any}} [about] @param {(Node | string | null)[]} children
 * @returns {any} */
export function el(tag, about = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") /** @type {any} */ (made)[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const ICONS = {
  rewind: "M5 4v16M19 4l-10 8 10 8z",
  play: "M7 4l13 8-13 8z",
  pause: "M7 4v16M17 4v16",
  step: "M5 4l10 8-10 8zM19 4v16",
};

/** A small drawing. @param {keyof typeof ICONS} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24",
    width: "15",
    height: "15",
    "aria-hidden": "true",
  }))
    svg.setAttribute(key, value);
  for (const [key, value] of Object.entries({
    d: ICONS[name],
    fill: "currentColor",
    stroke: "currentColor",
    "stroke-width": name === "pause" ? "4" : "2",
    "stroke-linejoin": "round",
  }))
    path.setAttribute(key, value);
  svg.append(path);
  return svg;
}

/** A chooser. @param {string} label @param {{[value: string]: string}} choices @param {(value: string) => void} act */
export function chooser(label, choices, act) {
  const select = el("select", { "aria-label": label, onchange: () => act(select.value) });
  fill(select, choices);
  return select;
}

/** @param {any} select @param {{[value: string]: string}} choices @param {{[value: string]: string}} [greyed] with reasons */
export function fill(select, choices, greyed = {}) {
  select.replaceChildren(
    ...Object.entries(choices).map(([value, words]) => el("option", { value }, words)),
    ...Object.entries(greyed).map(([value, reason]) =>
      el("option", { value, disabled: true, title: reason }, `${value} — not here`),
    ),
  );
}

/** @param {string} name @param {Node} control @param {string} [hint] */
export const row = (name, control, hint = "") =>
  el("label", { className: "row", title: hint }, el("span", {}, name), control);

/** Offer a file. @param {string} name @param {Blob} blob */
export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
