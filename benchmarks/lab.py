"""The lab in headless Chromium: its pictures, and how many frames a second it draws.

    python benchmarks/lab.py --pictures docs/images     lab-earnshaw.png, -five, -basins, -sign
    python benchmarks/lab.py --scenes FOLDER            all nine, light and dark, wide and narrow
    python benchmarks/lab.py --frames                   32 electrons among 32 protons, field shown

Needs Chromium and Playwright. The browser draws in software, so frames a second are those of two
cores without a GPU.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from earnshaw.lab.page import write_lab

SIZE = {"width": 1360, "height": 830}
PICTURES = {  # what is done before the picture is taken, and the condition that ends it
    "earnshaw": ("lab.controls.openScene('earnshaw')", "lab.seen !== null"),
    "five": ("lab.controls.openScene('five'); lab.play()", "lab.events.length >= 4"),
    "basins": (
        "lab.controls.openScene('five'); lab.map.show(true); lab.controls.update()",
        "lab.map.more === false",
    ),
    "sign": ("lab.controls.openScene('sign')", "lab.seen !== null"),
}
WIDTHS = {"desktop": SIZE, "phone": {"width": 390, "height": 844}}
CROWD = """() => {
  const state = structuredClone(lab.state);
  const ring = (n, k) => Array.from({ length: 32 }, (_, i) =>
    [2.4 * Math.sin(i * n + k), 2 * Math.cos(1.7 * i * k + n)]);
  Object.assign(state, { stage: "plane", dim: 2, potential: "almost-harmonic", method: "flow",
    scene: "", lines: false, protons: ring(1.3, 0.7), electrons: ring(2.1, 1.9), speed: 0.1 });
  state.charges = state.weights = state.protons.map(() => 1);
  state.frozen = state.fixed = state.weights.map(() => false);
  lab.become(state);
  lab.play();
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pictures", type=Path, help="a folder for the pictures")
    parser.add_argument("--scenes", type=Path, help="a folder for pictures of all scenes")
    parser.add_argument("--frames", action="store_true", help="measure frames a second")
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_lab(Path(folder) / "lab.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--enable-unsafe-swiftshader"],
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light", bypass_csp=True)
        page.goto((Path(folder) / "lab.html").as_uri())
        page.wait_for_function("window.lab?.frames > 1")
        if asked.pictures is not None:
            take_pictures(page, asked.pictures)
        if asked.scenes is not None:
            asked.scenes.mkdir(parents=True, exist_ok=True)
            take_scenes(browser, page.url, asked.scenes)
        if asked.frames:
            print(f"first picture after {page.evaluate('lab.opened') / 1000:.2f} s")
            for words in frames(page):
                print(words)
        browser.close()


def take_pictures(page: Any, folder: Path) -> None:
    """One of each scene that the README and docs/lab.md show."""
    for name, (act, condition) in PICTURES.items():
        page.evaluate(act)
        page.wait_for_function(condition, timeout=300_000)
        page.evaluate("lab.pause()")
        page.wait_for_timeout(800)
        page.screenshot(path=folder / f"lab-{name}.png")
        print(folder / f"lab-{name}.png")


def take_scenes(browser: Any, address: str, folder: Path) -> None:
    """Every scene as it begins, whole pages: to be looked at."""
    for width, viewport in WIDTHS.items():
        for theme in ("light", "dark"):
            page = browser.new_page(viewport=viewport, color_scheme=theme, bypass_csp=True)
            page.goto(address)
            page.wait_for_function("window.lab?.frames > 1")
            names = page.evaluate("[...lab.controls.scene.options].map(one => one.value)")
            for name in filter(None, names):
                page.evaluate("name => lab.controls.openScene(name)", name)
                page.wait_for_function("lab.seen !== null")
                page.wait_for_timeout(600)  # energy and functions are drawn a little later
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)
            page.close()
            print(f"{len(names) - 1} scenes, {width}, {theme}")


def frames(page: Any, seconds: float = 10.0) -> list[str]:
    """While 32 electrons move among 32 protons in the plane, the field shown.

    Frames a second are those of this machine as it is; the milliseconds that a frame takes the
    page's main thread and its worker depend less on what else is running.
    """
    page.evaluate(CROWD)
    page.wait_for_timeout(2000)
    page.evaluate(
        """() => { window.spent = 0; const tick = lab.tick.bind(lab);
          lab.tick = (now) => {
            const began = performance.now(); tick(now); spent += performance.now() - began; }; }"""
    )
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def look() -> dict[str, float]:
        metrics = client.send("Performance.getMetrics")["metrics"]
        found = {one["name"]: one["value"] for one in metrics}
        frames, now, spent = page.evaluate("[lab.frames, performance.now(), spent]")
        return found | {"frames": frames, "now": now, "spent": spent}

    before = look()
    page.wait_for_timeout(1000 * seconds)
    after = look()
    passed = {name: after[name] - before[name] for name in after if name in before}
    count = passed["frames"]
    load = os.getloadavg()[0]
    return [
        f"{1000 * count / passed['now']:.1f} frames a second, the load of the machine {load:.1f}",
        f"{passed['spent'] / count:.1f} ms of script a frame",
        f"{1000 * passed['TaskDuration'] / count:.1f} ms of the main thread a frame, in all",
    ]


if __name__ == "__main__":
    main()
