"use strict";
// The skin: unpacks it and draws it by WebGL 2. Shading is flat, from derivatives, so that it needs no normals and follows
// the deformation; the eye is orthographic, as in the picture.

// Numbers as Rust packed them: see skin.rs.
async function unpack(header, text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer());
  if (data.length !== header.bytes) throw new Error("the skin is incomplete");
  let at = 0;
  const n = header.vertices;
  const planes = header.ranges.map(([low, high]) => {
    const plane = new Float32Array(n);
    let q = 0;
    for (let i = 0; i < n; i++) {
      q = (q + data[at + i] + (data[at + n + i] << 8)) & 0xffff;
      plane[i] = low + (q / 65535) * (high - low);
    }
    at += 2 * n;
    return plane;
  });
  let last = 0;
  const numbers = (count) => {
    const list = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      let zigzag = 0, factor = 1, byte;
      do {
        byte = data[at++];
        zigzag += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      last += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
      list[i] = last;
    }
    return list;
  };
  return {
    planes,
    triangles: numbers(3 * header.triangles),
    outline: numbers(2 * header.outline),
    edges: numbers(2 * header.edges),
  };
}

const PLACE = `#version 300 es
in vec3 rest; in vec3 motion; in float value;
uniform mat3 turn; uniform vec3 zoom; uniform vec2 shift; uniform float scale, lead;
out float shown; out vec3 place;
void main() {
  vec3 x = turn * (rest + scale * motion);
  place = x; shown = value;
  gl_Position = vec4(x.xy * zoom.xy + shift, -x.z * zoom.z - lead, 1.0);
}`;
const FACES = `#version 300 es
precision highp float;
in float shown; in vec3 place;
uniform vec2 range; uniform sampler2D colors; uniform vec3 above; uniform float cut;
out vec4 color;
void main() {
  vec3 n = normalize(cross(dFdx(place), dFdy(place)));
  n *= sign(n.z);
  float lit = 0.70 + 0.30 * max(dot(n, vec3(-0.30, 0.42, 0.86)), 0.0);
  float t = (shown - range.x) / (range.y - range.x);
  vec3 tone = texture(colors, vec2((clamp(t, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  color = vec4((cut > 0.0 && t > 1.0001 ? above : tone) * lit, 1.0);
}`;
const SYMBOLS = `#version 300 es
in vec3 rest; in vec3 motion; in vec3 offset; in vec3 tint;
uniform mat3 turn; uniform vec3 zoom; uniform vec2 shift; uniform float scale, size;
out vec3 place; out vec3 shown;
void main() {
  vec3 x = turn * (rest + scale * motion + size * offset);
  place = x; shown = tint;
  gl_Position = vec4(x.xy * zoom.xy + shift, -x.z * zoom.z - 4.0 * size * zoom.z, 1.0);
}`;
const TINTED = `#version 300 es
precision highp float;
in vec3 place; in vec3 shown;
out vec4 color;
void main() {
  vec3 n = normalize(cross(dFdx(place), dFdy(place)));
  n *= sign(n.z);
  color = vec4(shown * (0.70 + 0.30 * max(dot(n, vec3(-0.30, 0.42, 0.86)), 0.0)), 1.0);
}`;
const LINES = `#version 300 es
precision highp float;
in float shown; in vec3 place;
uniform vec4 ink;
out vec4 color;
void main() { color = ink; }`;

/** A right-handed frame whose first direction is the unit vector `along`. */
function frameOf(along) {
  const sizes = along.map(Math.abs), thin = sizes.indexOf(Math.min(...sizes));
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const side = cross(along, [0, 1, 2].map((i) => (i === thin ? 1 : 0))), length = Math.hypot(...side);
  const second = side.map((c) => c / length);
  return [along, second, cross(along, second)];
}

class Viewer {
  /** `reserved` pixels on the right are left to the legend. */
  constructor(canvas, header, skin, reserved) {
    this.canvas = canvas;
    this.reserved = reserved;
    this.header = header;
    const gl = (this.gl = canvas.getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true }));
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.faces = this.program(PLACE, FACES);
    this.lines = this.program(PLACE, LINES);
    this.symbols = this.program(SYMBOLS, TINTED, ["rest", "motion", "offset", "tint"]);
    this.buffers = { rest: gl.createBuffer(), motion: gl.createBuffer(), value: gl.createBuffer() };
    this.indices = { triangles: gl.createBuffer(), outline: gl.createBuffer(), edges: gl.createBuffer() };
    this.take(skin);
    this.withSymbols = true;
    this.map(header.colors);
    this.above = header.above.match(/../g).map((c) => parseInt(c, 16) / 255);
    this.cut = false;
    this.home();
    this.range = [0, 1];
    this.scale = header.scale;
    this.withEdges = this.withOutline = true;
    this.paper = [1, 1, 1];
    this.waiting = false;
    this.after = () => {};
  }

  /** Draws this skin from now on. */
  take(skin) {
    const gl = this.gl, p = skin.planes, n = p[0].length;
    this.skin = skin;
    this.fitted = undefined;
    const interleave = (a, b, c) => {
      const out = new Float32Array(3 * n);
      for (let i = 0; i < n; i++) { out[3 * i] = a[i]; out[3 * i + 1] = b[i]; out[3 * i + 2] = c[i]; }
      return out;
    };
    this.rest = interleave(p[0], p[1], p[2]);
    this.motion = interleave(p[3], p[4], p[5]);
    // Coordinates of a part far from the origin lose their digits in a shader, so they count from its middle.
    const reach = p.slice(0, 3).map((plane) => plane.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]));
    this.middle = reach.map(([low, high]) => (low + high) / 2);
    for (let i = 0; i < 3 * n; i++) this.rest[i] -= this.middle[i % 3];
    this.radius = 0.5 * Math.hypot(...reach.map(([low, high]) => high - low)) || 1;
    for (const name of ["rest", "motion"]) this.fill(gl.ARRAY_BUFFER, this.buffers[name], this[name]);
    for (const name in this.indices) this.fill(gl.ELEMENT_ARRAY_BUFFER, this.indices[name], skin[name]);
    this.solids = this.build(this.header.symbols);
  }

  /** The triangles of supports and loads: place, displacement, offset from it in pixels, and colour of every corner. */
  build({ solids, groups }) {
    const numbers = [];
    for (const { color, symbols } of groups) {
      const tint = color.match(/../g).map((c) => parseInt(c, 16) / 255);
      for (const [shape, placed] of symbols) {
        const { points, triangles } = solids[shape], axes = frameOf(placed.slice(6));
        const rest = placed.slice(0, 3).map((x, c) => x - this.middle[c]), motion = placed.slice(3, 6);
        const turned = points.map((p) => [0, 1, 2].map((c) => p[0] * axes[0][c] + p[1] * axes[1][c] + p[2] * axes[2][c]));
        for (const corner of triangles.flat()) numbers.push(...rest, ...motion, ...turned[corner], ...tint);
      }
    }
    const buffer = this.gl.createBuffer();
    this.fill(this.gl.ARRAY_BUFFER, buffer, new Float32Array(numbers));
    return { buffer, count: numbers.length / 12 };
  }

  program(vertex, fragment, inputs = ["rest", "motion", "value"]) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    inputs.forEach((name, i) => gl.bindAttribLocation(program, i, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    return new Proxy({ program }, {
      get: (known, name) => (known[name] ??= gl.getUniformLocation(program, name)),
    });
  }

  fill(kind, buffer, data) {
    this.gl.bindBuffer(kind, buffer);
    this.gl.bufferData(kind, data, this.gl.STATIC_DRAW);
  }

  map(hex) {
    const gl = this.gl, colors = Uint8Array.from(hex.match(/../g), (c) => parseInt(c, 16));
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, colors);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  }

  /** The field to colour by, one number per vertex. */
  show(values) {
    this.fill(this.gl.ARRAY_BUFFER, this.buffers.value, values);
    this.draw();
  }

  /** The view of the picture. */
  home() {
    this.axes = (this.skin.axes ?? this.header.axes).map((axis) => [...axis]);
    this.magnify = 1;
    // In the middle of what the legend leaves.
    const zoom = this.factors(), middle = [0, 1].map((i) => this.bounds(this.axes[i]).reduce((a, b) => (a + b) / 2));
    this.shift = [-this.reserved / (this.canvas.clientWidth || 1) - middle[0] * zoom[0], -middle[1] * zoom[1]];
    this.draw();
  }

  /** Turns about the directions up and right of the screen, in radians. */
  turn(across, up) {
    const [right, above, near] = this.axes;
    const mix = (a, b, angle) => [0, 1, 2].map((i) => Math.cos(angle) * a[i] + Math.sin(angle) * b[i]);
    const r = mix(right, near, across), n = mix(near, right, -across);
    // Rounding would let the axes drift from square over many turns.
    const unit = (v) => { const l = Math.hypot(...v); return v.map((c) => c / l); };
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const z = unit(mix(n, above, up)), x = unit(r);
    this.axes = [x, unit(cross(z, x)), unit(cross(x, cross(z, x)))];
    this.draw();
  }

  /** Moves the part by pixels of the page. */
  move(dx, dy) {
    this.shift[0] += (2 * dx) / this.canvas.clientWidth;
    this.shift[1] -= (2 * dy) / this.canvas.clientHeight;
    this.draw();
  }

  /** Zooms about a place in pixels of the page, from the canvas's top left. */
  zoom(factor, x, y) {
    const limited = Math.min(Math.max(this.magnify * factor, 0.2), 200) / this.magnify;
    const at = [(2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight];
    this.shift = this.shift.map((s, i) => at[i] + (s - at[i]) * limited);
    this.magnify *= limited;
    this.draw();
  }

  /** Draws soon, once however often it is asked. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.render();
      this.after();
    });
  }

  /** Clip coordinates per length, so that the part fits whichever way it is turned. */
  factors() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const fit = this.fitted ??= this.fit(w, h);
    const pixels = fit * this.magnify;
    return [(2 * pixels) / w, (2 * pixels) / h, 0.4 / this.radius];
  }

  /** Pixels per length with which the part is as large as there is room. */
  fit(w, h) {
    const [across, up] = [0, 1].map((i) => this.bounds(this.axes[i])).map(([low, high]) => high - low || this.radius);
    return Math.min((0.9 * (w - this.reserved)) / across, (0.84 * h) / up);
  }

  /** How far the part, at rest and deformed, reaches along a direction. */
  bounds(axis) {
    let low = Infinity, high = -Infinity;
    const { rest, motion } = this, scale = this.header.scale;
    for (let i = 0; i < rest.length; i += 3) {
      for (const s of [0, scale]) {
        let at = 0;
        for (let c = 0; c < 3; c++) at += axis[c] * (rest[i + c] + s * motion[i + c]);
        low = Math.min(low, at);
        high = Math.max(high, at);
      }
    }
    return low <= high ? [low, high] : [0, 0];
  }

  /** How far a deformed vertex is along one of the axes: right, up, towards the eye. */
  along(k, vertex) {
    const axis = this.axes[k], { rest, motion, scale } = this, i = 3 * vertex;
    return axis[0] * (rest[i] + scale * motion[i]) + axis[1] * (rest[i + 1] + scale * motion[i + 1]) +
      axis[2] * (rest[i + 2] + scale * motion[i + 2]);
  }

  /** Whether a triangle that does not have the vertex is in front of it. */
  isHidden(vertex) {
    const list = this.skin.triangles, [x, y, z] = [0, 1, 2].map((k) => this.along(k, vertex));
    for (let i = 0; i < list.length; i += 3) {
      const [a, b, c] = [list[i], list[i + 1], list[i + 2]];
      const ax = this.along(0, a) - x, bx = this.along(0, b) - x, cx = this.along(0, c) - x;
      if ((ax > 0 && bx > 0 && cx > 0) || (ax < 0 && bx < 0 && cx < 0)) continue;
      if (a === vertex || b === vertex || c === vertex) continue;
      const ay = this.along(1, a) - y, by = this.along(1, b) - y, cy = this.along(1, c) - y;
      const u = bx * cy - cx * by, v = cx * ay - ax * cy, w = ax * by - bx * ay;
      if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) continue;
      const depth = (u * this.along(2, a) + v * this.along(2, b) + w * this.along(2, c)) / (u + v + w);
      if (depth > z + 0.01 * this.radius) return true;
    }
    return false;
  }

  /** Where a vertex is: page pixels from the canvas's top left. */
  place(vertex) {
    const zoom = this.factors();
    const at = [0, 1].map((k) => this.along(k, vertex) * zoom[k] + this.shift[k]);
    return [((at[0] + 1) / 2) * this.canvas.clientWidth, ((1 - at[1]) / 2) * this.canvas.clientHeight];
  }

  /** What is seen at a place in pixels of the page: the corners of the triangle in front and their weights. */
  pick(x, y) {
    const { clientWidth: w, clientHeight: h } = this.canvas, zoom = this.factors(), list = this.skin.triangles;
    const [right, up] = [(2 * x) / w - 1, 1 - (2 * y) / h].map((at, k) => (at - this.shift[k]) / zoom[k]);
    let found, nearest = -Infinity;
    for (let i = 0; i < list.length; i += 3) {
      const [a, b, c] = [list[i], list[i + 1], list[i + 2]];
      const ax = this.along(0, a) - right, bx = this.along(0, b) - right, cx = this.along(0, c) - right;
      if ((ax > 0 && bx > 0 && cx > 0) || (ax < 0 && bx < 0 && cx < 0)) continue;
      const ay = this.along(1, a) - up, by = this.along(1, b) - up, cy = this.along(1, c) - up;
      const u = bx * cy - cx * by, v = cx * ay - ax * cy, t = ax * by - bx * ay, sum = u + v + t;
      if (((u < 0 || v < 0 || t < 0) && (u > 0 || v > 0 || t > 0)) || sum === 0) continue;
      const depth = (u * this.along(2, a) + v * this.along(2, b) + t * this.along(2, c)) / sum;
      if (depth > nearest) [nearest, found] = [depth, { corners: [a, b, c], weights: [u / sum, v / sum, t / sum] }];
    }
    return found;
  }

  render() {
    const { gl, canvas } = this;
    const sharp = window.devicePixelRatio || 1;
    const size = [canvas.clientWidth, canvas.clientHeight].map((n) => Math.max(1, Math.round(n * sharp)));
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    gl.viewport(0, 0, ...size);
    gl.clearColor(...this.paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    [["rest", 3], ["motion", 3], ["value", 1]].forEach(([name, width], i) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, width, gl.FLOAT, false, 0, 0);
    });
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
    this.use(this.faces, this.scale, 0);
    gl.uniform2f(this.faces.range, ...this.range);
    gl.uniform3f(this.faces.above, ...this.above);
    gl.uniform1f(this.faces.cut, this.cut ? 1 : 0);
    this.elements(gl.TRIANGLES, "triangles");
    // Only faces: some drivers move lines back too, by their own slope, and then faces hide pieces of their edges.
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    if (this.withOutline && this.header.moves) {
      // Within the deformed part, but seen through what the deformation has moved across it.
      this.use(this.lines, 0, 2e-3 + 0.8 * this.scale * this.header.largest * this.factors()[2]);
      gl.depthMask(false);
      gl.uniform4f(this.lines.ink, 0.55, 0.56, 0.6, 0.9);
      this.elements(gl.LINES, "outline");
      gl.depthMask(true);
    }
    if (this.withEdges) {
      this.use(this.lines, this.scale, 5e-4);
      gl.uniform4f(this.lines.ink, 0.05, 0.05, 0.08, 0.3);
      this.elements(gl.LINES, "edges");
      gl.uniform4f(this.lines.ink, 0.05, 0.05, 0.08, 0.85);
      this.elements(gl.LINES, "outline");
    }
    gl.disable(gl.BLEND);
    if (this.withSymbols && this.solids.count) this.renderSymbols();
  }

  /** Supports and loads, as large on the screen whatever the zoom. */
  renderSymbols() {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.solids.buffer);
    for (let i = 0; i < 4; i++) {
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, 3, gl.FLOAT, false, 48, 12 * i);
    }
    this.use(this.symbols, this.scale, 0);
    const pixels = Math.min(1, this.canvas.clientWidth / 1000) * 0.8;
    gl.uniform1f(this.symbols.size, (2 * pixels) / (this.factors()[0] * this.canvas.clientWidth));
    gl.drawArrays(gl.TRIANGLES, 0, this.solids.count);
    gl.disableVertexAttribArray(3);
  }

  use(program, scale, lead) {
    const gl = this.gl;
    gl.useProgram(program.program);
    const [x, y, z] = this.axes;
    gl.uniformMatrix3fv(program.turn, false, [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]);
    gl.uniform3f(program.zoom, ...this.factors());
    gl.uniform2f(program.shift, ...this.shift);
    gl.uniform1f(program.scale, scale);
    gl.uniform1f(program.lead, lead);
  }

  elements(kind, name) {
    const gl = this.gl;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices[name]);
    gl.drawElements(kind, this.skin[name].length, gl.UNSIGNED_INT, 0);
  }
}
