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

/** What can be shown: names and a number for every vertex. */
function fieldsOf(header, skin) {
  const stored = header.fields.map((name, i) => [name, () => skin.planes[6 + i]]);
  if (!header.moves) return stored;
  const [ux, uy, uz] = skin.planes.slice(3, 6);
  const length = () => ux.map((x, i) => Math.hypot(x, uy[i], uz[i]));
  return [...stored, ["displacement", length], ["displacement x", () => ux], ["displacement y", () => uy],
    ["displacement z", () => uz]];
}

/** Numbers from low to high at even places of the legend. */
function legend(viewer, name) {
  const [low, high] = viewer.range, bar = byId("legend-bar");
  byId("legend-title").textContent = name;
  const ticks = byId("legend-ticks");
  ticks.replaceChildren();
  for (let i = 0; i <= 5; i++) {
    const tick = document.createElement("span");
    tick.textContent = written(low + ((high - low) * i) / 5, 3, Math.max(Math.abs(low), Math.abs(high)));
    tick.style.top = bar.offsetTop + bar.offsetHeight * (1 - i / 5) + "px";
    ticks.append(tick);
  }
}

/** Pixels on the right that the part keeps clear of; a narrow screen has none to spare beside a short legend. */
function legendRoom() {
  return byId("view").clientWidth > 600 ? byId("legend").offsetWidth : 24;
}

function start(viewer, header, skin) {
  const fields = fieldsOf(header, skin);
  const colors = header.colors.match(/.{6}/g).filter((_, i) => i % 15 === 0).map((c) => "#" + c);
  byId("legend-bar").style.background = `linear-gradient(to top, ${colors.join(", ")})`;
  byId("field").append(...fields.map(([name], i) => new Option(name, i)));
  let values, bounds, highest;

  const mark = () => {
    const box = byId("mark"), stage = viewer.canvas;
    box.hidden = bounds[0] === bounds[1];
    const [x, y] = viewer.place(highest);
    box.textContent = `max ${written(bounds[1])}${viewer.isHidden(highest) ? " (behind)" : ""}`;
    const left = Math.min(Math.max(x + 14, 4), stage.clientWidth - box.offsetWidth - 4);
    const top = Math.min(Math.max(y - 30, 4), stage.clientHeight - box.offsetHeight - 4);
    box.style.transform = `translate(${left}px, ${top}px)`;
    const dot = byId("dot");
    dot.hidden = box.hidden;
    dot.style.transform = `translate(${x - 6}px, ${y - 6}px)`;
  };
  const recolor = () => {
    const [low, high] = bounds, a = +byId("low").value, b = +byId("high").value;
    // The sliders may pass each other; the range keeps a width and its direction.
    const from = Math.min(a, b, 0.995), to = Math.max(a, b, from + 0.005);
    viewer.range = high > low ? [from, to].map((t) => low + t * (high - low)) : [low - 1, low + 1];
    legend(viewer, fields[byId("field").value][0]);
    viewer.draw();
  };
  const choose = () => {
    values = Float32Array.from(fields[byId("field").value][1]());
    bounds = [Infinity, -Infinity];
    values.forEach((v, i) => {
      if (v < bounds[0]) bounds[0] = v;
      if (v > bounds[1]) [bounds[1], highest] = [v, i];
    });
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
  byId("scale-label").hidden = byId("outline").parentElement.hidden = !header.moves;
  byId("field").onchange = choose;
  byId("low").oninput = byId("high").oninput = recolor;
  byId("scale").oninput = deform;
  byId("edges").onchange = (event) => { viewer.withEdges = event.target.checked; viewer.draw(); };
  byId("outline").onchange = (event) => { viewer.withOutline = event.target.checked; viewer.draw(); };
  byId("home").onclick = () => { byId("scale").value = 1; deform(); viewer.home(); };
  viewer.after = mark;
  handle(viewer);
  new ResizeObserver(() => { viewer.fitted = undefined; viewer.reserved = legendRoom(); recolor(); }).observe(viewer.canvas);
  choose();
  deform();
}

/** Mouse, touch and keys. */
function handle(viewer) {
  const canvas = viewer.canvas, down = new Map();
  const spot = (event) => [event.offsetX, event.offsetY];
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, spot(event));
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => down.delete(event.pointerId);
  canvas.onpointermove = (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = spot(event), [dx, dy] = [now[0] - before[0], now[1] - before[1]];
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
    viewer = new Viewer(byId("view"), header, skin, legendRoom());
    start(viewer, header, skin);
    setTheme(dark, viewer);
    window.viewer = viewer;
  } catch (error) {
    byId("viewer").hidden = true;
    byId("trouble").hidden = false;
    byId("trouble").textContent = `The part cannot be turned here: ${error.message}. The picture shows it.`;
  }
}
main();
