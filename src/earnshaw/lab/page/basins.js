// Where does it end? Every pixel is a start of one electron among charges that stand still, coloured
// by the proton, or the place, where it ends and shaded by how long that takes.
//
// The motion is dx/dt = grad C(x) of a potential of the distance, else that on a grid (hills.js), in float32 and with steps no longer than a part of a pixel or of
// the way to the nearest charge: a picture, not a proof. On the GPU (WebGL2) every pixel takes its
// steps side by side; without one, the worker does the same on coarser grids.

import { Lookup } from "./field.js";
import { slopeAt } from "./hills.js";

export const PALETTE = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#cc79a7",
  "#56b4e9",
  "#d55e00",
  "#b8a800",
  "#7a5195",
];
const NOWHERE = "#8a90a0";
const STEPS = 2400; // of one electron, at most
const CLIMB = 800; // the same on a hill, whose steps are half a cell of its grid
const PASS = 64; // steps of one pass of the shader, at most: as many as fit into a frame
const PACE = 6; // the time in which shades have darkened by two thirds of the way
const FRAME = 12; // milliseconds
const CLOSE = 0.02; // an electron this near to an attractive proton has arrived
const SLOW = 1e-5; // and one this slow is at rest
const SAMPLES = 2048; // of the force, in a texture
const MOST = 120; // charges that fit into the shader
const NO_HILL = { left: 0, bottom: 0, cell: 0, columns: 1, rows: 1, slopes: new Float32Array(2) };

/** Why there is no basin map here, or "". @param {string} stage
 * @param {{kind: string, degree: number} | null} table */
export function basinRefusal(stage, table) {
  if (stage !== "plane") return "the basin map is of the plane";
  if (table?.kind === "homogeneous" && table.degree === 0)
    return "only directions matter here: electrons end on rays, not in places";
  return "";
}

/**
 * @typedef {{table: import("./potentials.js").PackedTable, sources: Float64Array, charges: Float64Array,
 *   protons: number, box: number[], hill?: import("./hills.js").Hill | null}} Ask
 *   `box` is left, top, right, bottom; protons come first. With a `hill` the sources are its peaks
 */

/** The end and the time of every start of a grid, row by row: the way without a GPU.
 * @param {Ask & {width: number, height: number, id: number}} ask */
export function basinRows({ table, sources, charges, protons, box, width, height, id, hill }) {
  const lookup = new Lookup(table, 16);
  const ends = new Int16Array(width * height);
  const times = new Float32Array(width * height);
  const cell = (box[2] - box[0]) / width;
  const close = Math.max(CLOSE, 0.5 * cell, hill ? 1.5 * hill.cell : 0);
  const slope = [0, 0];
  for (let i = 0; i < width * height; i++) {
    let x = box[0] + (((i % width) + 0.5) / width) * (box[2] - box[0]);
    let y = box[1] + ((Math.floor(i / width) + 0.5) / height) * (box[3] - box[1]);
    let time = 0;
    let end = -1;
    for (let step = 0; step < (hill ? CLIMB : STEPS / 4) && end === -1; step++) {
      let [fx, fy, near, who] = [0, 0, Infinity, -1];
      for (let j = 0; j < charges.length; j++) {
        const [dx, dy] = [x - sources[2 * j], y - sources[2 * j + 1]];
        const r = Math.hypot(dx, dy) + 1e-9;
        const f = hill ? 0 : (charges[j] * lookup.slope(r)) / r;
        fx += f * dx;
        fy += f * dy;
        if (j < protons && charges[j] > 0 && r < near) [near, who] = [r, j];
      }
      const inside = !hill || slopeAt(hill, x, y, slope);
      if (hill) [fx, fy] = inside ? slope : [0, 0];
      const speed = Math.hypot(fx, fy);
      if (near < close) end = hill ? hill.groups[who] : who;
      else if (speed < SLOW) end = -2;
      else {
        const length = hill
          ? Math.min(near, 0.5 * hill.cell)
          : Math.min(0.5 * near, 0.05, 2 * cell);
        x += (fx / speed) * length;
        y += (fy / speed) * length;
        time += length / speed;
      }
    }
    ends[i] = end;
    times[i] = time;
  }
  return { ends, times, width, height, id, box, pace: hill?.pace ?? PACE };
}

/** A grid of ends as an image. @param {{ends: Int16Array, times: Float32Array, width: number, height: number, pace: number}} found */
export function basinImage({ ends, times, width, height, pace }) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height);
  for (let i = 0; i < ends.length; i++) {
    const shade = 1 - 0.62 * (1 - Math.exp(-times[i] / pace));
    const colour = hexParts(ends[i] >= 0 ? PALETTE[ends[i] % PALETTE.length] : NOWHERE);
    for (let n = 0; n < 3; n++)
      image.data[4 * i + n] = 255 * (colour[n] * shade + (1 - shade) * 0.06);
    image.data[4 * i + 3] = 255;
  }
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).putImageData(image, 0, 0);
  return canvas;
}

/** @param {string} hex */
const hexParts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

const VERTEX = `#version 300 es
in vec2 corner;
void main() { gl_Position = vec4(corner, 0.0, 1.0); }`;

const MOVE = `#version 300 es
precision highp float;
uniform sampler2D state;
uniform sampler2D force;
uniform sampler2D slopes;
uniform vec4 hill; // left, bottom, cell, or cell = 0 where there is none
uniform ivec2 grid;
uniform vec4 sources[${MOST}];
uniform int count;
uniform int protons;
uniform float reach;
uniform float cell;
uniform bool first;
uniform int steps;
uniform vec4 box;
uniform vec2 size;
out vec4 after;
float slope(float r) {
  float place = min(r / reach, 1.0) * ${SAMPLES - 1}.0;
  int i = min(int(place), ${SAMPLES - 2});
  float a = texelFetch(force, ivec2(i, 0), 0).r;
  float b = texelFetch(force, ivec2(i + 1, 0), 0).r;
  return mix(a, b, place - float(i));
}
vec2 climb(vec2 at) {
  vec2 place = (at - hill.xy) / hill.z;
  ivec2 i = ivec2(floor(place));
  if (i.x < 1 || i.y < 1 || i.x + 2 >= grid.x || i.y + 2 >= grid.y) return vec2(0.0);
  vec2 part = place - vec2(i);
  vec2 near = mix(texelFetch(slopes, i, 0).rg, texelFetch(slopes, i + ivec2(1, 0), 0).rg, part.x);
  vec2 far = mix(texelFetch(slopes, i + ivec2(0, 1), 0).rg, texelFetch(slopes, i + ivec2(1, 1), 0).rg, part.x);
  return mix(near, far, part.y);
}
void main() {
  vec4 now = texelFetch(state, ivec2(gl_FragCoord.xy), 0);
  if (first) {
    vec2 part = gl_FragCoord.xy / size;
    now = vec4(mix(box.x, box.z, part.x), mix(box.w, box.y, part.y), 0.0, -1.0);
  }
  for (int step = 0; step < ${PASS}; step++) {
    if (now.w != -1.0 || step >= steps) break;
    vec2 f = vec2(0.0);
    float near = 1e9;
    int who = -1;
    for (int j = 0; j < ${MOST}; j++) {
      if (j >= count) break;
      vec2 gap = now.xy - sources[j].xy;
      float r = length(gap) + 1e-9;
      if (hill.z == 0.0) f += sources[j].z * slope(r) / r * gap;
      if (j < protons && sources[j].z > 0.0 && r < near) { near = r; who = j; }
    }
    if (hill.z > 0.0) f = climb(now.xy);
    float speed = length(f);
    if (near < max(max(${CLOSE}, 0.5 * cell), 1.5 * hill.z)) now.w = sources[who].w;
    else if (speed < ${SLOW}) now.w = -2.0;
    else {
      float way = hill.z > 0.0 ? min(near, 0.5 * hill.z) : min(0.5 * near, min(0.05, 2.0 * cell));
      now.xy += f / speed * way;
      now.z += way / speed;
    }
  }
  after = now;
}`;

const PAINT = `#version 300 es
precision highp float;
uniform sampler2D state;
uniform vec3 palette[${PALETTE.length}];
uniform vec3 nowhere;
uniform float pace;
out vec4 colour;
void main() {
  vec4 now = texelFetch(state, ivec2(gl_FragCoord.xy), 0);
  float shade = 1.0 - 0.62 * (1.0 - exp(-now.z / pace));
  vec3 base = now.w >= 0.0 ? palette[int(mod(now.w, ${PALETTE.length}.0))] : nowhere;
  colour = vec4(base * shade + (1.0 - shade) * 0.06, 1.0);
}`;

/** The map on the GPU; null where there is no WebGL2 with float textures. */
export class GpuBasins {
  /** @returns {GpuBasins | null} */
  static make() {
    try {
      const canvas = document.createElement("canvas");
      const gl = canvas.getContext("webgl2", { preserveDrawingBuffer: true, antialias: false });
      return gl && gl.getExtension("EXT_color_buffer_float") ? new GpuBasins(canvas, gl) : null;
    } catch {
      return null;
    }
  }

  /** @param {HTMLCanvasElement} canvas @param {WebGL2RenderingContext} gl */
  constructor(canvas, gl) {
    this.canvas = canvas;
    this.gl = gl;
    this.move = program(gl, MOVE);
    this.paint = program(gl, PAINT);
    const corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    this.force = gl.createTexture();
    this.slopes = gl.createTexture();
    /** @type {(WebGLTexture | null)[]} */
    this.states = [];
    this.steps = 0; // that every pixel has taken
    this.each = 4; // steps of the next pass
    this.spent = 0; // milliseconds
    this.frame = gl.createFramebuffer();
  }

  /** Begin anew at a resolution. @param {Ask} ask @param {number} width @param {number} height */
  begin(ask, width, height) {
    const { gl } = this;
    this.ask = ask;
    this.steps = 0;
    this.spent = 0;
    this.each = 4;
    this.canvas.width = width;
    this.canvas.height = height;
    const lookup = new Lookup(ask.table, 16);
    const slopes = Float32Array.from({ length: SAMPLES }, (_, i) =>
      lookup.slope((i / (SAMPLES - 1)) * 16),
    );
    gl.bindTexture(gl.TEXTURE_2D, this.force);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, SAMPLES, 1, 0, gl.RED, gl.FLOAT, slopes);
    nearestOnly(gl);
    const { columns, rows, slopes: climbs } = ask.hill ?? NO_HILL;
    gl.bindTexture(gl.TEXTURE_2D, this.slopes);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG32F, columns, rows, 0, gl.RG, gl.FLOAT, climbs);
    nearestOnly(gl);
    for (const old of this.states) gl.deleteTexture(old);
    this.states = [0, 1].map(() => {
      const texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, height, 0, gl.RGBA, gl.FLOAT, null);
      nearestOnly(gl);
      return texture;
    });
  }

  /** One pass; whether there is more to do. */
  pass() {
    const { gl, ask } = this;
    const most = ask?.hill ? CLIMB : STEPS;
    if (!ask || this.steps >= most) return false;
    const began = performance.now();
    const { width, height } = this.canvas;
    const count = Math.min(MOST, ask.charges.length);
    const sources = new Float32Array(4 * count);
    for (let j = 0; j < count; j++)
      sources.set(
        [ask.sources[2 * j], ask.sources[2 * j + 1], ask.charges[j], ask.hill?.groups[j] ?? j],
        4 * j,
      );
    const at = (/** @type {string} */ name) => gl.getUniformLocation(this.move, name);
    gl.useProgram(this.move);
    gl.viewport(0, 0, width, height);
    gl.uniform4fv(at("sources"), sources);
    gl.uniform1i(at("count"), count);
    gl.uniform1i(at("protons"), Math.min(count, ask.protons));
    gl.uniform1f(at("reach"), 16);
    gl.uniform1f(at("cell"), (ask.box[2] - ask.box[0]) / width);
    gl.uniform1i(at("steps"), this.each);
    gl.uniform1i(at("first"), this.steps === 0 ? 1 : 0);
    gl.uniform4f(at("box"), ask.box[0], ask.box[1], ask.box[2], ask.box[3]);
    gl.uniform2f(at("size"), width, height);
    gl.uniform1i(at("state"), 0);
    gl.uniform1i(at("force"), 1);
    gl.uniform1i(at("slopes"), 2);
    const { left, bottom, cell, columns, rows } = ask.hill ?? NO_HILL;
    gl.uniform4f(at("hill"), left, bottom, cell, 0);
    gl.uniform2i(at("grid"), columns, rows);
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, this.slopes);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.force);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.states[0]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.states[1], 0);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    this.states.reverse();
    gl.useProgram(this.paint);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindTexture(gl.TEXTURE_2D, this.states[0]);
    gl.uniform1i(gl.getUniformLocation(this.paint, "state"), 0);
    gl.uniform3fv(gl.getUniformLocation(this.paint, "palette"), PALETTE.flatMap(hexParts));
    gl.uniform1f(gl.getUniformLocation(this.paint, "pace"), ask.hill?.pace ?? PACE);
    gl.uniform3fv(gl.getUniformLocation(this.paint, "nowhere"), hexParts(NOWHERE));
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits for the GPU
    const took = performance.now() - began;
    this.spent = this.spent + took;
    this.steps = this.steps + this.each;
    this.each = Math.max(1, Math.min(PASS, Math.round((this.each * FRAME) / Math.max(took, 0.1))));
    return this.steps < most;
  }
}

/** @param {WebGL2RenderingContext} gl */
function nearestOnly(gl) {
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
}

/** @param {WebGL2RenderingContext} gl @param {string} fragment */
function program(gl, fragment) {
  const made = /** @type {WebGLProgram} */ (gl.createProgram());
  for (const [kind, source] of /** @type {[number, string][]} */ ([
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, fragment],
  ])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS))
      throw new Error(gl.getShaderInfoLog(shader) ?? "");
    gl.attachShader(made, shader);
  }
  gl.bindAttribLocation(made, 0, "corner");
  gl.linkProgram(made);
  return made;
}
