"""Opens reports in headless Chromium and sees whether they do what they should.

    python3 look.py CHROMIUM FOLDER [SCREENSHOTS]

FOLDER holds the reports that run.sh makes. Of each: it loads without a message on the console and without a request, its
canvas is not empty, the controls change what is drawn, turning and zooming too, light and dark, the part is in the frame, edges
are whole, supports and loads are seen, a click reads a value, paper has the picture and the screen the part, and its size is in bounds.
"""

import pathlib
import sys

from playwright.sync_api import sync_playwright

ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
MOST_BYTES = 5_000_000
# Name: (fields to choose from, whether it deforms, whether it converged)
REPORTS = {
    "cantilever": (13, True, True),
    "bracket": (13, True, True),
    "hole": (10, True, True),
    "annulus": (2, False, True),
    "strip": (11, True, False),
    "quadratic": (13, True, True),
    "ring": (11, True, True),
    "cases": (13, True, True),
    "modes": (13, True, True),
    "warming": (3, False, True),
}
# The canvas as drawn: how many pixels differ from the paper, and a sum that tells two drawings apart.
PIXELS = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const canvas = document.getElementById("view"), gl = canvas.getContext("webgl2");
    const { width, height } = canvas, data = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
    let inked = 0, sum = 7;
    for (let i = 0; i < data.length; i += 4) {
        if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) inked++;
        sum = (sum * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2]) >>> 0;
    }
    done({ share: inked / (width * height), sum, paper: data[0] });
})))"""
# Pixels by which the part, at rest or deformed, leaves the canvas; negative if it does not.
BEYOND = """() => {
    const n = viewer.rest.length / 3, { clientWidth: w, clientHeight: h } = viewer.canvas, scale = viewer.scale;
    let beyond = -Infinity;
    for (const s of [0, scale]) {
        viewer.scale = s;
        const zoom = viewer.factors();
        for (let i = 0; i < n; i++) {
            const [x, y] = [0, 1].map((k) => Math.abs(viewer.along(k, i) * zoom[k] + viewer.shift[k]));
            beyond = Math.max(beyond, (x - 1) * w / 2, (y - 1) * h / 2);
        }
    }
    viewer.scale = scale;
    return beyond;
}"""
# The least and the greatest x and y of the skin at rest.
EXTENT = """() => [0, 1].map((c) => {
    const all = Array.from(viewer.rest).filter((_, i) => i % 3 === c).map((x) => x + viewer.middle[c]);
    return [Math.min(...all), Math.max(...all)];
})"""
# The middle of the largest triangle that is seen, and the values at its corners.
MIDDLE_OF_A_FACE = """() => {
    const list = viewer.skin.triangles, values = viewer.skin.planes[6];
    let best;
    for (let i = 0; i < list.length; i += 3 * Math.ceil(list.length / 3000)) {
        const corners = [list[i], list[i + 1], list[i + 2]], at = corners.map((v) => viewer.place(v));
        const [a, b, c] = at, area = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
        const [x, y] = [0, 1].map((k) => (a[k] + b[k] + c[k]) / 3), seen = viewer.pick(x, y);
        if (!seen || seen.corners.some((v, k) => v !== corners[k]) || (best && best.area >= area)) continue;
        const here = corners.map((v) => values[v]);
        best = { area, x, y, low: Math.min(...here), high: Math.max(...here) };
    }
    return best;
}"""
# Of the middles of edges that no other face is in front of, the share that is darker than without edges.
EDGES_SEEN = """async () => {
    const list = viewer.skin.edges, gl = viewer.gl, { width, height } = viewer.canvas, sharp = width / viewer.canvas.clientWidth;
    if (!list.length) return null;
    const shown = [viewer.withOutline, viewer.withEdges];
    viewer.withSymbols = false;
    const look = (edges) => new Promise((done) => {
        [viewer.withOutline, viewer.withEdges] = [false, edges];
        viewer.render();
        const data = new Uint8Array(4 * width * height);
        gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
        done(data);
    });
    const [bare, drawn] = [await look(false), await look(true)];
    [viewer.withOutline, viewer.withEdges] = shown;
    viewer.withSymbols = true;
    viewer.draw();
    let [n, darker] = [0, 0];
    for (let i = 0; i < list.length && n < 200; i += 2 * Math.ceil(list.length / 1000)) {
        const [a, b] = [viewer.place(list[i]), viewer.place(list[i + 1])], [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
        const front = viewer.pick(x, y);
        if (!front || !front.corners.includes(list[i]) || !front.corners.includes(list[i + 1])) continue;
        n++;
        let most = 0;
        for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) {
            const at = 4 * ((height - 1 - Math.floor(y * sharp) + dy) * width + Math.floor(x * sharp) + dx);
            most = Math.max(most, bare[at] + bare[at + 1] + bare[at + 2] - drawn[at] - drawn[at + 1] - drawn[at + 2]);
        }
        if (most > 4) darker++;
    }
    return n < 20 ? null : darker / n;
}"""
# How many pixels of the canvas have a colour in any brightness that shading gives it.
HUE = """([r, g, b]) => {
    const canvas = document.getElementById("view"), gl = canvas.getContext("webgl2"), { width, height } = canvas;
    const data = new Uint8Array(4 * width * height);
    viewer.render();
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) {
        const share = data[i] / r;
        if (share > 0.65 && Math.abs(data[i + 1] - share * g) < 4 && Math.abs(data[i + 2] - share * b) < 4) n++;
    }
    return n;
}"""
SLIDE = """([id, value]) => {
    const slider = document.getElementById(id);
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
}"""


class Report:
    """A page, and what is wrong with it."""

    def __init__(self, page, name):
        self.page, self.name, self.faults = page, name, []
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: self.see(request.url))

    def see(self, url):
        if not url.startswith(("file:", "data:")) or (url.startswith("file:") and not url.endswith(f"/{self.name}.html")):
            self.faults.append(f"requests {url}")

    def expect(self, holds, what):
        if not holds:
            self.faults.append(what)

    def pixels(self):
        return self.page.evaluate(PIXELS)

    def changes(self, what, act):
        """Whether `act` changes the drawing; returns the new one."""
        before = self.pixels()
        act()
        after = self.pixels()
        self.expect(before["sum"] != after["sum"], f"{what} changes nothing")
        self.expect(after["share"] > 0.005, f"{what} leaves an empty canvas")
        return after


def look(report, path, fields, deforms, converged):
    page = report.page
    page.goto(path.as_uri())
    page.wait_for_selector("#viewer:not([hidden])", timeout=20_000)
    first = report.pixels()
    report.expect(0.02 < first["share"] < 0.9, f"{first['share']:.3f} of the canvas are drawn on")
    report.expect(page.locator("#field option").count() == fields, "other fields than expected")
    report.expect(page.locator("#mark").is_visible(), "the largest value is not marked")
    ticks, mark = page.locator("#legend-ticks span").all_inner_texts(), page.locator("#mark").inner_text()
    report.expect(mark.split()[1] == ticks[0], f"the colours end at {ticks[0]}, the mark says {mark}")
    report.expect(converged == (page.locator("#stamp").count() == 0), "wrong stamp on the part")
    report.expect(page.locator("#triad line").count() >= 2, "no axes")
    report.expect(page.locator("figure img").evaluate("image => image.naturalWidth") == 1600, "no picture")
    report.expect(not page.locator("figure").is_visible(), "the picture stands beside the part that can be turned")
    page.emulate_media(media="print")
    report.expect(page.locator("figure").is_visible(), "no picture on paper")
    report.expect(not page.locator("#viewer").is_visible(), "the part that can be turned on paper")
    page.emulate_media(media="screen")
    beyond = page.evaluate(BEYOND)
    report.expect(beyond <= 0, f"the part reaches {beyond:.0f} pixels out of its frame")
    symbols(report)
    principals(report)
    probe(report)
    hidden_edges(report)
    cases(report)
    report.expect(page.locator(".status.bad").count() == (0 if converged else 1), "wrong mark of convergence")
    report.expect(page.locator("#scale").is_visible() == deforms, "wrong slider of deformation")
    slide = lambda *what: lambda: page.evaluate(SLIDE, list(what))
    if deforms:
        report.changes("deformation", slide("scale", 2.5))
        swings(report)
        page.locator("#outline").click()
    report.changes("the colours' upper end", slide("high", 0.4))
    report.changes("the colours' lower end", slide("low", 0.2))
    report.changes("another field", lambda: page.select_option("#field", "1"))
    report.changes("hiding supports and loads", lambda: page.locator("#symbols").click())
    report.expect(not page.locator("#symbols-legend").is_visible(), "the legend of supports and loads stays without them")
    report.changes("showing supports and loads", lambda: page.locator("#symbols").click())
    report.changes("hiding edges", lambda: page.locator("#edges").click())
    report.changes("turning", lambda: drag(page, 90, 40))
    report.changes("zooming", lambda: (hover(page), page.mouse.wheel(0, -300)))
    moved = report.changes("moving", lambda: drag(page, 30, 30, "right"))
    dark = report.changes("the theme", lambda: page.locator("#theme").click())
    report.expect(dark["paper"] < 64 < 192 < moved["paper"], "light and dark do not reach the canvas")
    report.changes("resetting the view", lambda: page.locator("#home").click())
    report.expect(page.locator("#swept-label").is_visible() == page.evaluate("!!viewer.header.revolved"), "wrong switch for sweeping")
    if page.locator("#swept-label").is_visible():
        swept(report)
    page.evaluate("viewer.move(5000, 0)")
    report.pixels()
    report.expect(not page.locator("#mark").is_visible(), "the mark of the largest value stays when its place has left")


def swept(report):
    """A section turns into a body of revolution, as large and as high as it is, and back."""
    page = report.page
    section = page.evaluate(EXTENT)
    report.changes("sweeping", lambda: page.locator("#swept").click())
    body = page.evaluate(EXTENT)
    [outer, height] = section[0][1], section[1]
    close = lambda a, b: abs(a - b) <= 1e-3 * outer
    report.expect(all(map(close, body[0], [-outer, outer])), f"the body reaches over {body[0]}, its radius is {outer}")
    report.expect(all(map(close, body[1], height)), f"the body is {body[1]} high, its section {height}")
    beyond = page.evaluate(BEYOND)
    report.expect(beyond <= 0, f"the body reaches {beyond:.0f} pixels out of its frame")
    report.changes("going back to the section", lambda: page.locator("#swept").click())

def swings(report):
    """The part swings while that is asked for, in another step too, and then has the shape that it had before."""
    page = report.page
    rest = report.pixels()
    page.locator("#animate").click()
    report.changes("time", lambda: page.wait_for_timeout(300))
    page.locator("#animate").click()
    report.expect(report.pixels()["sum"] == rest["sum"], "the part has another shape after it swung")


def cases(report):
    """Another load case or mode changes the part and the tables; the envelope has stress and governing case, and the view stays."""
    page = report.page
    if page.locator("#case").count() == 0:
        return
    marks = page.locator("#case option").evaluate_all("options => options.map((option) => option.value)")
    if page.locator("#step").count():
        times(report, len(marks))
        return
    modes = page.locator("#case option").first.inner_text().startswith("mode")
    report.expect(marks == (["", "-2", "-3"] if modes else ["-1", "", "-0"]), f"load cases {marks}")
    axes = page.evaluate("viewer.axes")

    def choose(mark):
        page.evaluate("window.before = viewer")
        page.select_option("#case", mark)
        # Playwright's own waiting evaluates text in the page, which its policy forbids.
        for _ in range(400):
            if page.evaluate("window.before !== viewer"):
                return
            page.wait_for_timeout(50)
        report.expect(False, f"load case {mark!r} does not come")

    shown = page.locator(".of-case:visible").count()
    report.changes("another load case", lambda: choose("-2" if modes else "-1"))
    report.expect(page.locator(".of-case:visible").count() == shown > 0, "not one load case is shown")
    report.expect(page.evaluate("viewer.axes") == axes, "another load case is seen from another side")
    report.changes("turning another load case", lambda: drag(page, 50, 20))
    swings(report)
    if not modes:
        report.changes("the envelope", lambda: choose("-0"))
        report.expect(page.locator("#field option").count() == 2, "the envelope has other fields than stress and case")
    report.changes("the first load case", lambda: choose(""))


def times(report, n):
    """The slider goes through the times, and the choice with it; probes have curves, and the error is a field."""
    page, end = report.page, report.pixels()
    slide = lambda value: page.evaluate(SLIDE, ["step", value])
    report.expect(page.locator("#step").evaluate("slider => [slider.max, slider.value]") == [str(n - 1)] * 2, "the last time is not shown first")
    warmest = page.evaluate("viewer.header.ranges")
    report.changes("the first time", lambda: (slide(0), page.wait_for_timeout(500)))
    report.expect(page.evaluate("document.getElementById('case').selectedIndex") == 0, "the choice does not follow the slider")
    report.expect(page.evaluate("viewer.header.ranges") != warmest, "the first time has the values of the last")
    report.expect(page.locator(".of-case:visible").count() > 0, "the first time has no tables")
    report.changes("the last time", lambda: (slide(n - 1), page.wait_for_timeout(500)))
    report.expect(report.pixels()["sum"] == end["sum"], "the last time looks otherwise when it comes back")
    curves = page.locator("svg.plot path.curve").evaluate_all("curves => curves.map((curve) => curve.getAttribute('d').split('L').length)")
    report.expect(sum(points > 20 for points in curves) == 2, f"curves of {curves} points, not two over time")
    names = page.locator("#field option").all_inner_texts()
    report.expect(any("error" in name for name in names), f"no error among {names}")
    error = str(next(i for i, name in enumerate(names) if "error" in name))
    report.changes("the error", lambda: page.select_option("#field", error))
    report.changes("the temperature", lambda: page.select_option("#field", "0"))


def symbols(report):
    """Every support and load stands in the legend, and its colour is on the canvas."""
    page = report.page
    # Coming back from paper, the part is fitted anew in the next frame.
    report.pixels()
    groups = page.evaluate("viewer.header.symbols.groups")
    labels = page.locator("#symbols-legend li").all_inner_texts()
    report.expect(len(groups) >= (1 if report.name == "modes" else 2), "supports or loads are missing")
    report.expect([group["label"] for group in groups] == labels[: len(groups)], f"the legend says {labels}")
    for group in groups:
        seen = page.evaluate(HUE, [int(group["color"][i : i + 2], 16) for i in (0, 2, 4)])
        report.expect(seen > 20, f"only {seen} pixels show {group['label']}")


def principals(report):
    """Eigenvalues of tensors that are known, and what all tensors keep: the sum is the trace."""
    if report.page.locator("#field option", has_text="principal").count() == 0:
        return
    found = report.page.evaluate("[[3, 1, 2, 0, 0, 0], [0, 0, 0, 5, 0, 0], [2, 2, 2, 0, 0, 0], [2, 2, 5, 1, 0, 0]].map(principal)")
    wanted = [[3, 1], [5, -5], [2, 2], [5, 1]]
    close = all(abs(a - b) < 1e-9 for pair in zip(found, wanted) for a, b in zip(*pair))
    report.expect(close, f"principal stresses {found}, not {wanted}")


def probe(report):
    """A click on the largest value reads it; one beside the part reads nothing."""
    page = report.page
    page.locator("#view").scroll_into_view_if_needed()
    box = page.locator("#view").bounding_box()
    seen = page.evaluate(MIDDLE_OF_A_FACE)
    page.mouse.click(box["x"] + seen["x"], box["y"] + seen["y"])
    report.pixels()
    text = page.locator("#probe").inner_text()
    value = float(text.split(" at ")[0].replace("−", "-"))
    slack = 1e-3 * abs(seen["high"]) + 0.02 * (seen["high"] - seen["low"])
    report.expect(seen["low"] - slack <= value <= seen["high"] + slack, f"the probe reads {text}, its face has {seen}")
    page.mouse.click(box["x"] + 3, box["y"] + 3)
    report.pixels()
    report.expect(not page.locator("#probe").is_visible(), "the probe stays when the click is beside the part")


def hidden_edges(report):
    """Faces hide no pieces of their own edges, which lie in them: drivers differ in how they round depths."""
    share = report.page.evaluate(EDGES_SEEN)
    report.expect(share is None or share > 0.98, f"faces hide {1 - (share or 1):.2f} of their own edges")


def middle(page):
    box = page.locator("#view").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def hover(page):
    page.mouse.move(*middle(page))


def drag(page, dx, dy, button="left"):
    page.locator("#view").scroll_into_view_if_needed()
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.down(button=button)
    page.mouse.move(x + dx, y + dy, steps=4)
    page.mouse.up(button=button)


def narrow(report, path):
    """On a telephone, dark: nothing wider than the screen."""
    page = report.page
    page.goto(path.as_uri())
    page.wait_for_selector("#viewer:not([hidden])", timeout=20_000)
    width = page.evaluate("document.documentElement.scrollWidth")
    report.expect(width <= 390, f"{width} pixels wide on a screen of 390")
    report.expect(report.pixels()["paper"] < 64, "does not follow the preference for dark")


def self_test(browser):
    """The checks see what they are there to see."""
    page = browser.new_page()
    report = Report(page, "none")
    page.set_content("<canvas id=view></canvas><script>document.getElementById('view').getContext('webgl2');"
                     "console.error('trouble'); fetch('http://127.0.0.1:9/x').catch(() => 0)</script>")
    report.changes("nothing", lambda: None)
    found = " ".join(report.faults)
    for fault in ["trouble", "requests http://127.0.0.1:9/x", "changes nothing", "empty canvas"]:
        assert fault in found, f"the self-test missed {fault}: {found}"
    page.close()


def main():
    chromium, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shots = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else None
    failed = False
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        self_test(browser)
        for name, expected in REPORTS.items():
            path = folder / f"{name}.html"
            faults = []
            for scheme, width, check in [("light", 1280, look), ("dark", 390, narrow)]:
                context = browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme)
                report = Report(context.new_page(), name)
                check(report, path, *(expected if check is look else ()))
                if shots:
                    shots.mkdir(parents=True, exist_ok=True)
                    report.page.screenshot(path=shots / f"{name}-{width}.png", full_page=True)
                faults += report.faults
                context.close()
            size = path.stat().st_size
            if size > MOST_BYTES:
                faults.append(f"{size} bytes")
            print(f"{name}: {'; '.join(faults) or 'good'}, {size / 1e6:.2f} MB")
            failed |= bool(faults)
        browser.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
