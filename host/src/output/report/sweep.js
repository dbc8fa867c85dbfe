// Sections of bodies of revolution: r is x, the axis is y.

/** The view of a swept section, from above into its open quarter: right, up, towards the eye. */
const INTO_THE_BODY = [
  [Math.cos(0.5), 0, -Math.sin(0.5)],
  [-(Math.sin(0.5) ** 2), Math.cos(0.5), -Math.sin(0.5) * Math.cos(0.5)],
  [Math.sin(0.5) * Math.cos(0.5), Math.sin(0.5), Math.cos(0.5) ** 2],
];

/** How far a section is swept, and in how many steps: a quarter is left open, so that the inside is seen. */
const SWEEP = 1.5 * Math.PI, SWEEP_STEPS = 54;

/** The edges that only one triangle has: pairs of vertices, one after the other. */
function rimOf(triangles) {
  const count = new Map(), key = (a, b) => Math.min(a, b) * 2 ** 26 + Math.max(a, b);
  const edges = (each) => {
    for (let i = 0; i < triangles.length; i++) each(triangles[i], triangles[i % 3 === 2 ? i - 2 : i + 1]);
  };
  edges((a, b) => count.set(key(a, b), (count.get(key(a, b)) ?? 0) + 1));
  const rim = [];
  edges((a, b) => { if (count.get(key(a, b)) === 1) rim.push(a, b); });
  return rim;
}

/**
 * The skin of a section swept round the axis: the section at both ends, and between them its rim. `origin` has the vertex of
 * the section that each vertex comes from.
 */
function swept({ planes, triangles, outline, edges }) {
  const n = planes[0].length, rim = rimOf(triangles), onRim = [...new Set(rim)];
  const place = new Map(onRim.map((vertex, i) => [vertex, 2 * n + i]));
  const origin = [], angles = [];
  const add = (vertices, angle) => vertices.forEach((vertex) => { origin.push(vertex); angles.push(angle); });
  const section = [...planes[0].keys()];
  add(section, 0);
  add(section, SWEEP);
  for (let step = 0; step <= SWEEP_STEPS; step++) add(onRim, (step / SWEEP_STEPS) * SWEEP);
  const around = [];
  for (let step = 0; step < SWEEP_STEPS; step++) {
    for (let i = 0; i < rim.length; i += 2) {
      const [a, b] = [0, 1].map((k) => place.get(rim[i + k]) + step * onRim.length), next = onRim.length;
      around.push(a, b, b + next, a, b + next, a + next);
    }
  }
  const ends = (list) => [...list, ...Array.from(list, (vertex) => vertex + n)];
  const turned = ([x, z], sign) => Float32Array.from(origin, (vertex, i) => {
    const [sine, cosine] = [Math.sin(angles[i]), Math.cos(angles[i])];
    return sign > 0 ? x[vertex] * cosine + z[vertex] * sine : z[vertex] * cosine - x[vertex] * sine;
  });
  const vector = ([x, y, z]) => [turned([x, z], 1), Float32Array.from(origin, (vertex) => y[vertex]), turned([x, z], -1)];
  return {
    origin,
    axes: INTO_THE_BODY,
    planes: [...vector(planes.slice(0, 3)), ...vector(planes.slice(3, 6))],
    triangles: Uint32Array.from([...ends(triangles), ...around]),
    outline: Uint32Array.from(ends(outline)),
    edges: Uint32Array.from(ends(edges)),
  };
}
