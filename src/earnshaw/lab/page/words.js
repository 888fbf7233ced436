// Numbers in few letters.

/** @param {number} value */
export function short(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "none";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return (
    size >= 1e4 || size < 1e-3 ? value.toExponential(2) : Number(value.toPrecision(3)).toString()
  ).replaceAll("-", "−");
}
