// The colours of the plots (earnshaw/plots): protons red, electrons blue, safe for the colour-blind.

/** @typedef {typeof COLOURS.light} Colours */

export const COLOURS = {
  light: {
    ink: "#1f2430",
    pale: "#8a90a0",
    grid: "#e6e8ec",
    paper: "#ffffff",
    electron: "#2166ac",
    proton: "#c8362f",
    astray: "#d98200",
    field: "#6a51a3",
    edge: "#ffffff",
  },
  dark: {
    ink: "#e7e9ee",
    pale: "#8a90a0",
    grid: "#2a303c",
    paper: "#151922",
    electron: "#6fb1ea",
    proton: "#f0776c",
    astray: "#ffb444",
    field: "#b3a2e0",
    edge: "#151922",
  },
};
