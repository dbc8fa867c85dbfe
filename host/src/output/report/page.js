// The controls around the viewer, and the page's own: light and dark.
const byId = (id) => document.getElementById(id);

/** The exponent that numbers up to this size are written with: a multiple of three, as in the rest of the report. */
function exponentOf(size) {
  return size === 0 || (size >= 1e-2 && size < 1e5) ? 0 : Math.floor(Math.log10(size * (1 + 1e-9)) / 3) * 3;
}

/** A number with some significant digits; of several, with as many decimals and the exponent as the largest has. */
function written(value, digits = 4, largest = Math.abs(value)) {
  if (value === 0) return "0";
  const exponent = exponentOf(largest), plain = value / 10 ** exponent;
  const decimals = digits - 1 - Math.floor(Math.log10((largest / 10 ** exponent) * (1 + 1e-9)));
  const text = plain.toFixed(Math.max(decimals, 0));
  return +text === 0 ? "0" : (text + (exponent ? "e" + exponent : "")).replace(/-/g, "−");
}

function darkAtFirst() {
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function setTheme(dark, viewer) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  if (viewer) {
    const paper = getComputedStyle(document.body).backgroundColor;
    viewer.paper = paper.match(/[\d.]+/g).slice(0, 3).map((c) => c / 255);
    viewer.draw();
  }
}

/** The largest and the smallest eigenvalue of a symmetric tensor xx, yy, zz, xy, yz, xz (Smith 1961). */
function principal([xx, yy, zz, xy, yz, xz]) {
  const mean = (xx + yy + zz) / 3, [a, b, c] = [xx - mean, yy - mean, zz - mean];
  const p = Math.sqrt((a * a + b * b + c * c + 2 * (xy * xy + yz * yz + xz * xz)) / 6);
  if (p === 0) return [mean, mean];
  const det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
  const angle = Math.acos(Math.min(Math.max(det / (2 * p ** 3), -1), 1)) / 3;
  return [mean + 2 * p * Math.cos(angle), mean + 2 * p * Math.cos(angle + (2 * Math.PI) / 3)];
}

/** What can be shown: names, a number for every vertex, and the exact least and greatest where they are known. */
function fieldsOf(header, skin) {
  const stored = header.fields.map((name, i) => ({ name, unit: header.labels[i], values: () => skin.planes[6 + i], bounds: header.ranges[6 + i] }));
  // The colours of the first field may end below its largest value.
  stored[0].cap = header.cap;
  const tensor = ["xx", "yy", "zz", "xy", "yz", "xz"].map((name) => stored.find((field) => field.name === `stress ${name}`));
  if (tensor.some(Boolean)) {
    const of = (pick) => () => {
      const parts = tensor.map((part) => part?.values());
      return skin.planes[0].map((_, i) => principal(parts.map((part) => part?.[i] ?? 0))[pick]);
    };
    stored.push({ name: "largest principal stress", values: of(0), bounds: [] });
    stored.push({ name: "smallest principal stress", values: of(1), bounds: [] });
  }
  if (!header.moves) return stored;
  const [ux, uy, uz] = skin.planes.slice(3, 6);
  const length = () => ux.map((x, i) => Math.hypot(x, uy[i], uz[i]));
  const whole = { name: "displacement", values: length, bounds: [undefined, header.largest] };
  const along = ["x", "y", "z"].map((axis, i) =>
    ({ name: `displacement ${axis}`, values: () => skin.planes[3 + i], bounds: header.ranges[3 + i] }));
  // That of a mode is stored, as its first.
  return [...stored, ...(stored[0].name === whole.name ? [] : [whole]), ...along];
}

/** A field's name, with its unit if the case names its units. */
function titled({ name, unit: known }, { length, stress }) {
  const unit = known ?? (name.includes("stress") ? stress : name.startsWith("displacement") ? length : null);
  return unit ? `${name} [${unit}]` : name;
}

/** Round numbers between low and high, some five. */
function roundTicks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough * (1 - 1e-9)) ?? rough;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  return [ticks, step];
}

/** A number with some digits of its own, and the exponent of the largest. */
function beside(value, largest) {
  const exponent = exponentOf(largest), plain = Math.abs(value) / 10 ** exponent;
  if (plain < 1e-4) return value === 0 ? "0" : written(value);
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(plain * (1 + 1e-9))));
  return ((value / 10 ** exponent).toFixed(decimals) + (exponent ? "e" + exponent : "")).replace(/-/g, "−");
}

/** A round number, with as many decimals as its step needs and the exponent of the largest. */
function writtenRound(value, step, largest) {
  const exponent = exponentOf(largest);
  const decimals = Math.max(0, exponent - Math.floor(Math.log10(step * 1.001)));
  const text = (value / 10 ** exponent).toFixed(decimals);
  return +text === 0 ? "0" : (text + (exponent ? "e" + exponent : "")).replace(/-/g, "−");
}

/** Numbers beside the colours: the ends exactly, round ones between; `most` is the largest value where it is above them. */
function legend(viewer, name, most) {
  const [low, high] = viewer.range, bar = byId("legend-bar"), largest = Math.max(Math.abs(low), Math.abs(high));
  byId("legend-title").textContent = name;
  const ticks = byId("legend-ticks"), above = byId("legend-above");
  ticks.replaceChildren();
  above.hidden = most === undefined;
  const put = (top, text) => {
    const tick = document.createElement("span");
    tick.textContent = text;
    tick.style.top = top + "px";
    ticks.append(tick);
  };
  const at = (value) => bar.offsetTop + bar.offsetHeight * (1 - (value - low) / (high - low));
  put(at(high), beside(high, largest));
  put(at(low), beside(Math.abs(low) < 1e-9 * largest ? 0 : low, largest));
  if (most !== undefined) put(above.offsetTop + above.offsetHeight / 2, `to ${beside(most, largest)}`);
  const [round, step] = roundTicks(low, high);
  for (const value of round) {
    if (at(value) > at(high) + 18 && at(value) < at(low) - 18) put(at(value), writtenRound(value, step, largest));
  }
}

const GRAVITY = "#963cdc";

/** What the symbols of supports and loads mean, and whether they are shown. */
function symbols(viewer, { symbols: { groups }, gravity }) {
  const all = groups.map(({ label, color }) => [label, "#" + color]);
  if (gravity) all.push([`gravity g: ${written(Math.hypot(...gravity))}`, GRAVITY]);
  byId("symbols-legend").replaceChildren(...all.map(([label, color]) => {
    const item = document.createElement("li"), swatch = document.createElement("i");
    swatch.style.background = color;
    item.append(swatch, label);
    return item;
  }));
  byId("symbols-label").hidden = byId("symbols-legend").hidden = !all.length;
  byId("symbols").onchange = (event) => {
    viewer.withSymbols = event.target.checked;
    byId("symbols-legend").hidden = !event.target.checked;
    viewer.draw();
  };
}

/** The directions of x, y and z as they are turned, and of gravity. */
function triad(viewer) {
  const box = byId("triad"), { gravity } = viewer.header, size = gravity && Math.hypot(...gravity);
  const directions = [["x", [1, 0, 0], "#be3228"], ["y", [0, 1, 0], "#288c3c"], ["z", [0, 0, 1], "#4a72d8"]];
  if (gravity && viewer.withSymbols) directions.push(["g", gravity.map((c) => c / size), GRAVITY]);
  const parts = directions.flatMap(([name, along, color]) => {
    const [right, up] = viewer.axes.map((axis) => axis.reduce((sum, c, i) => sum + c * along[i], 0)), length = Math.hypot(right, up);
    if (length < 0.1) return [];
    const make = (kind, attributes) => {
      const part = document.createElementNS(box.namespaceURI, kind);
      Object.entries(attributes).forEach(([key, value]) => part.setAttribute(key, value));
      return part;
    };
    const reach = (l) => [48 + l * right, 48 - l * up];
    const [x2, y2] = reach(30), [x, y] = reach(30 + 10 / length);
    const label = make("text", { x, y, fill: color });
    label.textContent = name;
    return [make("line", { x1: 48, y1: 48, x2, y2, stroke: color }), label];
  });
  box.replaceChildren(...parts);
}

/** Pixels on the right that the part keeps clear of; a narrow screen has none to spare beside a short legend. */
function legendRoom() {
  return byId("view").clientWidth > 600 ? byId("legend").offsetWidth : 24;
}

function start(viewer, header, skin) {
  const fields = fieldsOf(header, skin);
  const colors = header.colors.match(/.{6}/g).filter((_, i) => i % 15 === 0).map((c) => "#" + c);
  byId("legend-bar").style.background = `linear-gradient(to top, ${colors.join(", ")})`;
  // Of another load case the same field, if it has that.
  const before = byId("field").selectedOptions[0]?.text;
  byId("field").replaceChildren(...fields.map(({ name }, i) => new Option(name, i)));
  byId("field").value = Math.max(fields.findIndex(({ name }) => name === before), 0);
  byId("legend-above").style.background = "#" + header.above;
  let values, bounds, highest, field, probed;

  const mark = () => {
    const box = byId("mark"), stage = viewer.canvas;
    const [x, y] = viewer.place(highest);
    const inView = x >= 0 && y >= 0 && x <= stage.clientWidth && y <= stage.clientHeight;
    box.hidden = bounds[0] === bounds[1] || !inView;
    box.textContent = `max ${written(bounds[1])}${viewer.isHidden(highest) ? " (behind)" : ""}`;
    const left = Math.min(Math.max(x + 14, 4), stage.clientWidth - box.offsetWidth - 4);
    const top = Math.min(Math.max(y - 30, 4), stage.clientHeight - box.offsetHeight - 4);
    box.style.transform = `translate(${left}px, ${top}px)`;
    const dot = byId("dot");
    dot.hidden = box.hidden;
    dot.style.transform = `translate(${x - 6}px, ${y - 6}px)`;
  };
  // The value at the place that was clicked on, which follows the part.
  const probe = () => {
    const box = byId("probe"), stage = viewer.canvas, dot = byId("probed");
    const mean = (of) => probed.corners.reduce((sum, vertex, k) => sum + probed.weights[k] * of(vertex), 0);
    const [x, y] = probed ? [0, 1].map((k) => mean((vertex) => viewer.place(vertex)[k])) : [-1, -1];
    box.hidden = dot.hidden = !(x >= 0 && y >= 0 && x <= stage.clientWidth && y <= stage.clientHeight);
    if (box.hidden) return;
    const at = [0, 1, 2].map((c) => viewer.middle[c] + mean((vertex) => viewer.rest[3 * vertex + c]));
    const size = Math.max(...at.map(Math.abs));
    const place = at.map((c) => (Math.abs(c) < 1e-6 * size ? "0" : beside(c, size))).join(", ");
    box.textContent = `${written(mean((vertex) => values[vertex]))} at (${place})`;
    const left = Math.min(Math.max(x + 12, 4), stage.clientWidth - box.offsetWidth - 4);
    const top = Math.min(Math.max(y + 10, 4), stage.clientHeight - box.offsetHeight - 4);
    box.style.transform = `translate(${left}px, ${top}px)`;
    dot.style.transform = `translate(${x - 4}px, ${y - 4}px)`;
  };
  viewer.clicked = (x, y) => { probed = viewer.pick(x, y); viewer.draw(); };
  const recolor = () => {
    const [low, top] = bounds, high = field.cap ?? top, a = +byId("low").value, b = +byId("high").value;
    // The sliders may pass each other; the range keeps a width and its direction.
    const from = Math.min(a, b, 0.995), to = Math.max(a, b, from + 0.005);
    viewer.range = high > low ? [from, to].map((t) => low + t * (high - low)) : [low - 1, low + 1];
    viewer.cut = field.cap != null && to === 1;
    legend(viewer, titled(field, header.units), viewer.cut ? top : undefined);
    viewer.draw();
  };
  const choose = () => {
    field = fields[byId("field").value];
    values = Float32Array.from(field.values());
    const { origin } = viewer.skin;
    if (origin) values = Float32Array.from(origin, (vertex) => values[vertex]);
    bounds = [Infinity, -Infinity];
    values.forEach((v, i) => {
      if (v < bounds[0]) bounds[0] = v;
      if (v > bounds[1]) [bounds[1], highest] = [v, i];
    });
    bounds = bounds.map((bound, i) => field.bounds[i] ?? bound);
    // A span of rounding errors is none.
    if (bounds[1] - bounds[0] <= 1e-6 * Math.max(...bounds.map(Math.abs))) bounds[0] = bounds[1];
    byId("low").value = 0;
    byId("high").value = 1;
    viewer.show(values);
    recolor();
  };
  const deform = () => {
    viewer.scale = header.scale * byId("scale").value;
    const factor = Number(viewer.scale.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
    byId("scale-text").textContent = header.moves ? `deformation × ${factor}` : "";
    viewer.draw();
  };
  // Once to and fro in two seconds, from where the shape is now.
  const swing = (now, began = now) => {
    if (!byId("animate").checked || viewer.canvas !== byId("view")) return;
    viewer.scale = header.scale * byId("scale").value * Math.cos(((now - began) * Math.PI) / 1000);
    viewer.draw();
    requestAnimationFrame((later) => swing(later, began));
  };
  byId("animate").onchange = (event) => { if (event.target.checked) requestAnimationFrame((now) => swing(now)); else deform(); };
  for (const id of ["scale-label", "animate-label", "outline-label"]) byId(id).hidden = !header.moves;
  byId("swept-label").hidden = !header.revolved;
  byId("swept").onchange = (event) => {
    viewer.take(event.target.checked ? swept(skin) : skin);
    probed = undefined;
    viewer.home();
    choose();
  };
  byId("field").onchange = choose;
  byId("low").oninput = byId("high").oninput = recolor;
  byId("scale").oninput = deform;
  byId("edges").onchange = (event) => { viewer.withEdges = event.target.checked; viewer.draw(); };
  byId("outline").onchange = (event) => { viewer.withOutline = event.target.checked; viewer.draw(); };
  symbols(viewer, header);
  byId("home").onclick = () => { byId("scale").value = 1; deform(); viewer.home(); };
  viewer.after = () => { mark(); probe(); triad(viewer); };
  handle(viewer);
  viewer.observer = new ResizeObserver(() => { viewer.fitted = undefined; viewer.reserved = legendRoom(); recolor(); });
  viewer.observer.observe(viewer.canvas);
  choose();
  deform();
  byId("animate").onchange({ target: byId("animate") });
}

/** Mouse, touch and keys. */
function handle(viewer) {
  const canvas = viewer.canvas, down = new Map();
  let still;
  const spot = (event) => [event.offsetX, event.offsetY];
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, spot(event));
    // A click is a press of one pointer that does not go far.
    still = down.size === 1 && event.button === 0 ? spot(event) : undefined;
  };
  canvas.onpointercancel = (event) => down.delete(event.pointerId);
  canvas.onpointerup = (event) => {
    down.delete(event.pointerId);
    if (still) viewer.clicked(...spot(event));
    still = undefined;
  };
  canvas.onpointermove = (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = spot(event), [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (still && Math.hypot(now[0] - still[0], now[1] - still[1]) > 4) still = undefined;
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      viewer.move(dx / 2, dy / 2);
      viewer.zoom(gap(now) / gap(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (event.shiftKey || event.buttons & 6) {
      viewer.move(dx, dy);
    } else {
      viewer.turn(-dx / 150, dy / 150);
    }
    down.set(event.pointerId, now);
  };
  canvas.oncontextmenu = (event) => event.preventDefault();
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    viewer.zoom(Math.exp(-event.deltaY / 500), ...spot(event));
  }, { passive: false });
  const keys = {
    ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1],
  };
  canvas.onkeydown = (event) => {
    const middle = [canvas.clientWidth / 2, canvas.clientHeight / 2];
    if (keys[event.key]) viewer.turn(...keys[event.key]);
    else if (event.key === "+" || event.key === "=") viewer.zoom(1.2, ...middle);
    else if (event.key === "-") viewer.zoom(1 / 1.2, ...middle);
    else return;
    event.preventDefault();
  };
}

/** The viewer of the load case with this mark, in place of the one before, seen from the same side. */
async function another(before, mark) {
  const header = JSON.parse(byId("skin-header" + mark).textContent), skin = await unpack(header, byId("skin" + mark).textContent);
  before.observer.disconnect();
  before.after = before.render = () => {};
  const canvas = before.canvas.cloneNode();
  before.canvas.replaceWith(canvas);
  before.gl.getExtension("WEBGL_lose_context")?.loseContext();
  const viewer = new Viewer(canvas, header, skin, before.reserved), { axes, magnify, shift, paper, withEdges, withOutline, withSymbols } = before;
  Object.assign(viewer, { axes, magnify, shift, paper, withEdges, withOutline, withSymbols });
  start(viewer, header, skin);
  byId("symbols-legend").hidden ||= !withSymbols;
  return viewer;
}

/** Shows what belongs to the load case with this mark. */
function showCase(mark) {
  document.querySelectorAll(".of-case").forEach((part) => { part.hidden = part.dataset.case !== mark; });
}

async function main() {
  let viewer, dark = darkAtFirst();
  setTheme(dark);
  byId("theme").onclick = () => setTheme((dark = !dark), viewer);
  window.matchMedia("(prefers-color-scheme: dark)").onchange = (event) => setTheme((dark = event.matches), viewer);
  const header = JSON.parse(byId("skin-header").textContent);
  if (!header.triangles) return;
  try {
    const skin = await unpack(header, byId("skin").textContent);
    byId("viewer").hidden = false;
    // The picture is for paper then.
    document.body.classList.add("live");
    viewer = new Viewer(byId("view"), header, skin, legendRoom());
    start(viewer, header, skin);
    setTheme(dark, viewer);
    window.viewer = viewer;
    const choice = byId("case");
    if (!choice) return;
    const step = byId("step");
    let busy = false;
    showCase(choice.value);
    choice.onchange = async () => {
      if (step) step.value = choice.selectedIndex;
      showCase(choice.value);
      // While one is made others may be chosen: the last is shown.
      if (busy) return;
      busy = true;
      for (let shown = null; shown !== choice.value; ) {
        shown = choice.value;
        window.viewer = viewer = await another(viewer, shown);
      }
      busy = false;
    };
    if (step) step.oninput = () => ((choice.selectedIndex = step.value), choice.onchange());
  } catch (error) {
    byId("viewer").hidden = true;
    document.body.classList.remove("live");
    byId("trouble").hidden = false;
    byId("trouble").textContent = `The part cannot be turned here: ${error.message}. The picture shows it.`;
  }
}
main();
