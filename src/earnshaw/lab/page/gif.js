// The motion as an animated GIF: one palette for all frames, and LZW as GIF89a has it.

const COLOURS = 256;

/** Frames of 15-bit colours (5 bits each of r, g, b) as a GIF that repeats for ever.
 * @param {Uint16Array[]} frames (width height) each @param {number} width @param {number} height
 * @param {number} delay hundredths of a second @returns {Blob} */
export function gifOf(frames, width, height, delay) {
  const { palette, index } = paletteOf(frames);
  const word = (/** @type {number} */ value) => [value & 255, value >> 8];
  /** @type {BlobPart[]} */
  const parts = [
    Uint8Array.from([
      ...ascii("GIF89a"),
      ...word(width),
      ...word(height),
      0xf7, // a palette of 256 colours
      0,
      0,
      ...palette,
      ...[0x21, 0xff, 11],
      ...ascii("NETSCAPE2.0"),
      ...[3, 1, 0, 0, 0], // for ever
    ]),
  ];
  for (const frame of frames) {
    const head = [0x21, 0xf9, 4, 0, ...word(delay), 0, 0, 0x2c, 0, 0, 0, 0];
    parts.push(Uint8Array.from([...head, ...word(width), ...word(height), 0, 8]));
    parts.push(compressed(frame, index));
  }
  parts.push(Uint8Array.of(0x3b));
  return new Blob(parts, { type: "image/gif" });
}

/** @param {string} text */
const ascii = (text) => [...text].map((letter) => letter.charCodeAt(0));

/** Pixels of an image as 15-bit colours. @param {ImageData} image */
export function fifteen({ data }) {
  const out = new Uint16Array(data.length / 4);
  for (let i = 0; i < out.length; i++)
    out[i] = ((data[4 * i] >> 3) << 10) | ((data[4 * i + 1] >> 3) << 5) | (data[4 * i + 2] >> 3);
  return out;
}

/** The most frequent colours, and the nearest of them to every colour. @param {Uint16Array[]} frames */
function paletteOf(frames) {
  const counts = new Uint32Array(1 << 15);
  for (const frame of frames) for (const colour of frame) counts[colour]++;
  const used = [...counts.keys()].filter((colour) => counts[colour]);
  used.sort((a, b) => counts[b] - counts[a]);
  const kept = used.slice(0, COLOURS);
  const rgb = (/** @type {number} */ c) => [c >> 10, (c >> 5) & 31, c & 31];
  const colours = kept.map(rgb);
  const index = new Uint8Array(1 << 15);
  for (const colour of used) {
    const [r, g, b] = rgb(colour);
    let [best, least] = [0, Infinity];
    for (let n = 0; n < colours.length && least > 0; n++) {
      const [x, y, z] = colours[n];
      const far = 2 * (r - x) ** 2 + 4 * (g - y) ** 2 + (b - z) ** 2;
      if (far < least) [best, least] = [n, far];
    }
    index[colour] = best;
  }
  const palette = new Uint8Array(3 * COLOURS);
  colours.forEach((colour, n) =>
    palette.set(
      colour.map((value) => (value << 3) | (value >> 2)),
      3 * n,
    ),
  );
  return { palette, index };
}

/** LZW codes of a frame, in blocks of 255 bytes. @param {Uint16Array} frame @param {Uint8Array} index */
function compressed(frame, index) {
  const [CLEAR, END] = [256, 257];
  const bytes = new Uint8Array(frame.length * 2 + 1024);
  let [length, bits, held, size] = [0, 0, 0, 9];
  const put = (/** @type {number} */ code) => {
    held |= code << bits;
    bits += size;
    while (bits >= 8) {
      bytes[length++] = held & 255;
      held >>>= 8;
      bits -= 8;
    }
  };
  /** @type {Map<number, number>} from (code before, colour) to the code of both */
  const known = new Map();
  let next = END + 1;
  put(CLEAR);
  let before = index[frame[0]];
  for (let i = 1; i < frame.length; i++) {
    const colour = index[frame[i]];
    const pair = (before << 8) | colour;
    const found = known.get(pair);
    if (found !== undefined) {
      before = found;
      continue;
    }
    put(before);
    if (next === 4096) {
      put(CLEAR);
      known.clear();
      next = END + 1;
      size = 9;
    } else {
      if (next === 1 << size) size++;
      known.set(pair, next++);
    }
    before = colour;
  }
  put(before);
  put(END);
  if (bits) bytes[length++] = held & 255;
  const blocks = new Uint8Array(length + Math.ceil(length / 255) + 1);
  for (let from = 0, at = 0; from < length; from += 255) {
    const count = Math.min(255, length - from);
    blocks[at++] = count;
    blocks.set(bytes.subarray(from, from + count), at);
    at += count;
  }
  return blocks;
}
