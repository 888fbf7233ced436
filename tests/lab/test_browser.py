"""The lab in real Chromium: what a hand does, what a scene says, what an address restores."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image

import earnshaw as ew
from earnshaw.lab.fits import drawn
from earnshaw.lab.replay import start_of
from lab_page import HOST, Opened

pytestmark = [pytest.mark.browser, pytest.mark.slow]

START = "() => ({ ...lab.state, time: 0 })"
SHOWN = "() => { const now = lab.now(); return { x: [...now.x], c: [...now.c] }; }"


def scene(page: Any, name: str) -> None:
    page.evaluate("name => lab.controls.openScene(name)", name)
    page.wait_for_function("lab.seen !== null")


def played(page: Any, condition: str, timeout: float = 120_000) -> Any:
    """Play until a condition holds; the verdict there."""
    page.evaluate("lab.play()")
    page.wait_for_function(condition, timeout=timeout)
    page.evaluate("lab.pause()")
    page.wait_for_function("lab.examined.includes(` ${lab.now().time} `)")
    page.wait_for_timeout(400)
    return page.evaluate("({ kind: lab.seen.kind, words: lab.seen.words, loss: lab.seen.loss })")


def test_drag_a_charge(lab):
    """The mouse takes an electron along, to the place under it, and the numbers follow."""
    scene(lab, "five")
    before = lab.evaluate(SHOWN)
    loss = lab.evaluate("lab.seen.loss")
    box = lab.locator("canvas.stage").bounding_box()
    x, y, _ = lab.evaluate("lab.stage.place(lab.now().x, 0)")
    lab.mouse.move(box["x"] + x, box["y"] + y)
    lab.mouse.down()
    lab.mouse.move(box["x"] + x + 60, box["y"] + y - 40, steps=5)
    lab.mouse.up()
    there = lab.evaluate("([x, y]) => lab.stage.unplace(x, y)", [x + 60, y - 40])
    after = lab.evaluate(SHOWN)
    assert np.allclose(after["x"][:2], there, atol=1e-4)
    assert after["x"][2:] == before["x"][2:]
    lab.wait_for_function("loss => lab.seen && lab.seen.loss !== loss", arg=loss)
    lab.locator("canvas.stage").press("Control+z")
    assert lab.evaluate(SHOWN)["x"] == before["x"]


def test_keys_and_wheel(lab):
    """Charges are selected, moved, charged, added and removed without a mouse."""
    scene(lab, "five")
    stage = lab.locator("canvas.stage")
    stage.focus()
    lab.keyboard.press("n")
    assert lab.evaluate("lab.selected") == {"what": "proton", "index": 0}
    place = lab.evaluate("lab.state.protons[0]")
    lab.keyboard.press("ArrowRight")
    assert lab.evaluate("lab.state.protons[0][0]") > place[0]
    lab.keyboard.press("+")
    assert lab.evaluate("lab.state.charges[0]") == pytest.approx(1.1)
    lab.keyboard.press("e")
    assert lab.evaluate("lab.state.electrons.length") == 6
    lab.keyboard.press("Delete")
    assert lab.evaluate("lab.state.electrons.length") == 5
    box = stage.bounding_box()
    x, y, _ = lab.evaluate("lab.stage.place(lab.now().x, 0)")
    lab.mouse.move(box["x"] + x, box["y"] + y)
    lab.mouse.wheel(0, -100)
    lab.wait_for_function("lab.state.weights[0] > 1.05")


def test_one_step_goes_to_the_next_record(lab):
    """However long a step of the flow is: the clock stands at it, and the charges have moved."""
    scene(lab, "five")
    start = lab.evaluate(SHOWN)
    lab.get_by_role("button", name="One step").click()
    lab.wait_for_function("lab.clock > 1e-8")
    assert lab.evaluate("lab.history.some(record => record.time === lab.clock)")
    assert lab.evaluate(SHOWN) != start


def test_charges_are_what_was_typed(lab):
    scene(lab, "five")
    lab.get_by_text("The charges").click()
    weight = lab.get_by_label("weight of electron 2")
    weight.fill("0.12345")
    weight.press("Enter")
    assert lab.evaluate("lab.state.weights[1]") == 0.12345
    lab.get_by_text("The charges").click()


def test_an_open_theorem_stays_open(lab):
    """While a proton is dragged and the numbers change."""
    scene(lab, "earnshaw")
    card = lab.locator(".theorems details")
    card.locator("summary").click()
    loss = lab.evaluate("lab.seen.loss")
    lab.evaluate("lab.moveCharge({ what: 'proton', index: 2 }, [0.1, 0.7], true)")
    lab.wait_for_function("loss => lab.seen && lab.seen.loss !== loss", arg=loss)
    assert card.evaluate("one => one.open")
    card.locator("summary").click()


def test_a_scene_forgets_what_was_selected_and_typed(lab):
    lab.evaluate("lab.selected = { what: 'electron', index: 0 }; lab.changed()")
    lab.get_by_label("Formula").fill("x^3")
    lab.evaluate("document.activeElement.blur()")
    scene(lab, "sign")
    assert lab.evaluate("lab.selected") is None
    assert lab.get_by_label("Formula").input_value() == ""


def test_a_replay_without_a_table_shows_no_other_numbers(lab):
    """What the library has computed is shown; of what the page cannot compute nothing is left."""
    scene(lab, "relu")
    replay = start_of(ew.Teacher([[0.0, 0.0]], [0.0], "gaussian"), ew.Student([[1.0, 0.2]], [1.0]))
    replay |= {"table": None, "potential": "", "unit": "point"}
    lab.evaluate("replay => lab.openReplay(replay)", replay)
    lab.wait_for_timeout(400)
    assert lab.locator(".badge").inner_text() == "no verdict"
    assert lab.locator(".numbers").inner_text() == ""
    assert lab.locator(".theorem").count() == 0
    assert lab.get_by_text("The functions").is_hidden()
    assert "null" not in lab.locator(".story").inner_text()
    scene(lab, "relu")
    assert lab.get_by_text("The functions").is_visible()


def test_values_where_the_pointer_is(lab):
    """Of a charge, and of the potential where none is, on the sphere too; the wheel zooms there."""
    scene(lab, "sign")
    box = lab.locator("canvas.stage").bounding_box()
    lab.mouse.move(box["x"] + 60, box["y"] + 60)
    tip = lab.locator(".tip")
    assert tip.inner_text().startswith("potential ")
    place, protons, electrons = (
        np.asarray(lab.evaluate(what))
        for what in ("lab.stage.unplace(60, 60)", "lab.state.protons", "lab.state.electrons")
    )
    charges, weights = map(np.asarray, lab.evaluate("[lab.state.charges, lab.state.weights]"))
    phi = ew.potential("sign", dim=3)
    felt = float(phi(protons @ place) @ charges - phi(electrons @ place) @ weights)
    assert float(tip.inner_text().split()[1].replace("−", "-")) == pytest.approx(felt, rel=6e-3)
    x, y, _ = lab.evaluate("lab.stage.place(lab.now().x, 6)")
    lab.mouse.move(box["x"] + x, box["y"] + y)
    assert tip.inner_text().startswith("electron 3 at")
    lab.mouse.move(box["x"] + 60, box["y"] + 60)
    span = lab.evaluate("lab.stage.span")
    lab.mouse.wheel(0, 100)
    lab.wait_for_function("span => lab.stage.span > span", arg=span)
    lab.mouse.move(0, 0)


def test_rewind_gives_the_same_start(lab):
    """To the last bit; and the same motion again."""
    scene(lab, "five")
    start = lab.evaluate(SHOWN)
    played(lab, "lab.clock > 1.5")
    first = lab.evaluate("lab.history.slice(0, 40).map(record => [record.time, ...record.x])")
    lab.evaluate("lab.rewind()")
    assert lab.evaluate(SHOWN) == start
    lab.evaluate("lab.begin()")
    played(lab, "lab.clock > 1.5")
    again = lab.evaluate("lab.history.slice(0, 40).map(record => [record.time, ...record.x])")
    assert first == again


def test_address_restores_the_state(lab, chromium):
    """To the last bit, in a few hundred characters, and the time with it."""
    scene(lab, "five")
    played(lab, "lab.clock > 0.7")
    lab.evaluate(
        "lab.edit(state => { state.seed = 7; state.frozen[1] = true; })"
    )  # a start of 17 digits
    state, text = lab.evaluate(START), lab.evaluate("lab.text()")
    assert len(text) < 700
    with Opened(chromium, f"{HOST}#{text}") as page:
        page.wait_for_function("window.lab?.frames > 1")
        assert page.evaluate(START) == state
        assert page.evaluate("lab.text()") == text


HOSTILE = [
    "v1;plane;almost-harmonic;flow;positions;p0,0,1;e<script>,1,1",
    "v1;plane;gaussian;flow;positions;p1e999,0,1",
    "v1;moon;gaussian;flow;positions;p0,0,1",
    "v1;plane;__proto__;flow;positions;p0,0,1",
    "v1;plane;gaussian;constructor;positions;p0,0,1",
    "v1;sphere;sign;flow;positions;p3,0,0,1",
    "v1;plane;gaussian;flow;positions;p0,0,1;speed=-1",
    "v1;plane;formula;flow;positions;p0,0,1;formula=%E0%A4%A",
    "v1;plane;gaussian;flow;positions;p0,0,1;scene=../../etc",
    "%3Cimg src=x onerror=alert(1)%3E",
    "v1;" + "p0,0,1;" * 40000,
]


def test_hostile_addresses(chromium):
    """One line that says what is wrong, the first scene, and nothing executed."""
    with Opened(chromium, f"{HOST}#{HOSTILE[0]}") as page:
        page.on("dialog", lambda dialog: pytest.fail("a script was executed"))
        page.wait_for_function("window.lab?.frames > 1")
        for text in HOSTILE:
            page.evaluate("text => { lab.controls.banner.hidden = true; lab.open(text); }", text)
            assert page.locator(".banner").is_visible(), text[:60]
            assert page.evaluate("lab.state.scene") == "earnshaw"
            assert page.locator("img").count() == 0


def test_earnshaw_scene(lab):
    """A saddle off the protons, by the theorem; a nudge, and it falls on one."""
    scene(lab, "earnshaw")
    seen = lab.evaluate("lab.seen")
    assert seen["kind"] == "strict-saddle"
    assert seen["laplacians"][0] == 0
    assert all(each["holds"] for each in seen["theorems"][0]["hypotheses"])
    lab.evaluate("lab.moveCharge({ what: 'electron', index: 0 }, [0.02, 0.05], true)")
    lab.wait_for_timeout(200)
    played(lab, "lab.stop === 'collision'")


def test_five_scene(lab):
    scene(lab, "five")
    found = played(lab, "lab.stop && lab.clock >= lab.last.time")
    assert found["kind"] == "cusp-minimum"
    assert found["loss"] == 0
    assert lab.evaluate("[...lab.now().bound].sort()") == [0, 1, 2, 3, 4]


def test_gaussian_scene(lab):
    """Both stay left, and the loss stays large; almost-harmonic charges find both."""
    scene(lab, "gaussian")
    lab.evaluate("lab.state.speed = 40")
    played(lab, "lab.clock > 60")
    shown = lab.evaluate(SHOWN)
    assert max(shown["x"][::2]) < 0
    assert lab.evaluate("lab.seen.loss") > 1
    lab.evaluate("lab.rewind(); lab.change({ potential: 'almost-harmonic' })")
    lab.evaluate("lab.state.speed = 400")
    played(lab, "lab.stop && lab.clock >= lab.last.time")
    assert sorted(lab.evaluate("[...lab.now().bound]")) == [0, 1]


def test_sign_scene(lab):
    """At rest, held, with a loss of 0.13; pulled away a little it comes back."""
    scene(lab, "sign")
    found = played(lab, "lab.clock > 20 || lab.stop")
    assert found["kind"] == "cusp-minimum"
    assert found["loss"] == pytest.approx(0.1325, abs=1e-3)
    home = np.asarray(lab.evaluate(SHOWN)["x"][6:])
    moved = (home + np.array([0.01, -0.01, 0.0])).tolist()
    lab.evaluate("to => lab.moveCharge({ what: 'electron', index: 2 }, to, true)", moved)
    lab.evaluate("lab.state.speed = 100")
    played(lab, "lab.clock > 600 || lab.stop")
    assert np.allclose(lab.evaluate(SHOWN)["x"][6:], home, atol=2e-3)


def test_relu_scene(lab):
    scene(lab, "relu")
    lab.evaluate("lab.state.speed = 200")
    found = played(lab, "lab.stop || lab.clock > 700")
    assert found["kind"] == "minimum"
    assert found["loss"] == pytest.approx(0.00753, rel=0.01)


def test_node_wise_scene(lab):
    scene(lab, "node-wise")
    lab.evaluate("lab.state.speed = 20")
    found = played(lab, "lab.stop === 'placed' && lab.clock >= lab.last.time")
    assert found["loss"] == pytest.approx(0, abs=1e-12)


def test_plateau_scene(lab):
    """The loss waits at 0.74 for a while, then goes to 0."""
    scene(lab, "plateau")
    lab.evaluate("lab.state.speed = 20")
    found = played(lab, "lab.stop && lab.clock >= lab.last.time")
    assert found["kind"] == "minimum"
    waiting = lab.evaluate(
        "lab.history.filter(r => r.energy > 0.7 && r.energy < 0.8).map(r => r.time)"
    )
    assert waiting[-1] - waiting[0] > 2


def test_chain_scene(lab):
    scene(lab, "chain")
    found = played(lab, "lab.stop && lab.clock >= lab.last.time")
    assert found["kind"] == "cusp-minimum"
    assert lab.evaluate("[...lab.now().bound]") == [0, 1, 2, 3, 4]


def test_csv_scene_is_grey_without_python(lab):
    scene(lab, "csv")
    lab.evaluate("lab.ask = null; lab.controls.update()")
    button = lab.get_by_role("button", name="fit a CSV …")
    assert button.is_disabled()
    assert "needs Python" in button.get_attribute("title")
    assert lab.get_by_text("Formulas, certificates and fits need Python").is_visible()
    lab.evaluate("lab.ask = lab.options.ask; lab.controls.update()")


def test_csv_scene_with_python(lab):
    """Units of a fit as charges, and the fit drawn through the rows: what Python would answer."""
    x = np.linspace(-2, 2, 80)
    places, weights = [[1.0, 0.2], [-0.5, 0.1], [2.0, -1.0]], [1.0, -0.4, 0.7]
    shown = drawn(x[:, None], np.sin(2 * x), lambda x: np.sin(2 * x[:, 0]), ("x",), "y")
    replay = start_of(ew.Teacher([[0.0, 0.0]], [0.0], "gaussian"), ew.Student(places, weights))
    replay |= {"table": None, "potential": "", "unit": "point", "fit": shown}
    answer = {"words": "3 units", "replay": replay}
    scene(lab, "csv")
    lab.evaluate(
        """answer => { lab.ask = async () => answer; lab.controls.update();
                       const chooser = new DataTransfer();
                       chooser.items.add(new File(["x,y"], "table.csv"));
                       lab.controls.csv.files = chooser.files;
                       lab.controls.csv.dispatchEvent(new Event("change")); }""",
        answer,
    )
    lab.wait_for_selector(".card:has-text('The fit') canvas")
    lab.wait_for_function("!lab.controls.fitCard.hidden")
    assert lab.evaluate("[...lab.now().c]") == weights
    inked = lab.evaluate(
        """() => { const { fitChart: one } = lab.controls;
          const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
          return data.filter((value, n) => n % 4 === 3 && value).length; }"""
    )
    assert inked > 500
    lab.evaluate("void (lab.ask = lab.options.ask)")


def test_a_potential_is_realized_or_refused_in_words(lab):
    """What Python says of a typed potential stands on the page; a refusal leaves the last units."""
    scene(lab, "five")
    words = "the Fourier transform is -0.02 < 0 at |omega| = 6.8"
    lab.evaluate(
        """words => { lab.ask = async (_, { formula }) => {
             if (formula === "0/0") throw new Error("division by zero");
             return { table: lab.table, activation: null, words }; }; lab.controls.update(); }""",
        words,
    )
    field = lab.get_by_label("Formula")
    field.fill("max(1 - r, 0)")
    field.press("Enter")
    lab.get_by_text(words).wait_for()
    assert lab.evaluate("lab.state.formula") == "max(1 - r, 0)"
    field.fill("0/0")
    field.press("Enter")
    lab.get_by_text("division by zero").wait_for()
    assert lab.evaluate("lab.state.formula") == "max(1 - r, 0)"
    lab.evaluate("void (lab.ask = lab.options.ask)")


def test_every_potential_on_every_stage(lab):
    """All of the catalogue draws and examines without an error."""
    pairs = lab.evaluate(
        "Object.entries(lab.tables.entries).flatMap(([name, one]) =>"
        " Object.keys(one.stages).map(stage => [stage, name]))"
    )
    assert len(pairs) > 80
    assert ["plane", "tanh"] in pairs
    lab.evaluate(
        """pairs => { for (const [stage, potential] of pairs) {
          lab.change({ stage, potential });
          lab.tick(performance.now());
        } }""",
        pairs,
    )
    lab.wait_for_function("lab.seen !== null && Number.isFinite(lab.seen.loss)")


def test_dot_product_units_of_any_length(lab):
    """tanh in the plane: the field under the charges, the loss, and a flow that learns."""
    scene(lab, "csv")
    lab.evaluate("lab.change({ potential: 'tanh' }); lab.tick(performance.now())")
    lab.wait_for_function("lab.seen !== null")
    assert lab.locator("figure").first.is_visible()
    place = [0.7, -0.4]
    shown = lab.evaluate("place => lab.stage.potentialAt(lab.picture(), place)", place)
    protons, electrons = lab.evaluate("[lab.state.protons, lab.state.electrons]")
    teacher = ew.Teacher([*protons, *electrons], [1, 1, -1, -1], "tanh")
    felt = ew.population_loss(teacher).gradient(ew.Student([place], [0.0])).weights[0] / -2
    assert shown == pytest.approx(float(felt), abs=2e-3)
    points = np.random.default_rng(0).normal(size=(4000, 2))
    f = sum(np.tanh(points @ w) for w in np.asarray(protons))
    g = sum(np.tanh(points @ w) for w in np.asarray(electrons))
    assert lab.evaluate("lab.seen.loss") == pytest.approx(np.mean((f - g) ** 2), rel=0.1)
    lab.evaluate("lab.state.speed = 30")
    found = played(lab, "lab.stop || lab.clock > 60")
    assert found["loss"] < 1e-3


def test_hypotheses_are_ticked_under_every_potential(lab):
    for name, holds in (("harmonic", True), ("gaussian", False), ("relu", False)):
        lab.evaluate("potential => lab.change({ potential })", name)
        lab.wait_for_function("lab.seen !== null")
        first = lab.evaluate("lab.seen.theorems[0]")
        assert first["theorem"].startswith("Earnshaw")
        assert first["hypotheses"][0]["holds"] is holds
        assert bool(first["hypotheses"][0]["here"]) is not holds


def test_exports(lab, tmp_path):
    """The library reads the JSON, runs the Python, and both mean what the stage shows."""
    scene(lab, "five")
    for name, file in (("teacher JSON", "teacher.json"), ("student JSON", "student.json")):
        with lab.expect_download() as download:
            lab.get_by_role("button", name=name).click()
        download.value.save_as(tmp_path / file)
    teacher, student = (ew.load(tmp_path / file) for file in ("teacher.json", "student.json"))
    assert np.asarray(teacher.positions).tolist() == lab.evaluate("lab.state.protons")
    loss = float(ew.population_loss(teacher).value(student))
    assert loss == pytest.approx(lab.evaluate("lab.seen.loss"), rel=1e-10)
    svg = lab.evaluate("import('/exports.js').then(one => one.svgOf(lab))")
    assert svg.count("<circle") == 10
    code = lab.evaluate("import('/exports.js').then(one => one.pythonOf(lab))")
    scope: dict[str, Any] = {}
    exec(compile(code, "lab.py", "exec"), scope)
    assert scope["path"].energy[0] == pytest.approx(loss)
    with lab.expect_download() as download:
        lab.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "lab.png"


def test_film(lab, tmp_path):
    """WebM of one play, from the start to the end."""
    scene(lab, "five")
    with lab.expect_download(timeout=90_000) as download:
        lab.get_by_role("button", name="film").click()
    download.value.save_as(tmp_path / "lab.webm")
    content = (tmp_path / "lab.webm").read_bytes()
    assert content[:4] == b"\x1aE\xdf\xa3"  # what a WebM file begins with
    assert len(content) > 2000


def test_gif(lab, tmp_path):
    """Of the motion so far: frames that differ, and the first and the last as on the stage."""
    scene(lab, "chain")
    played(lab, "lab.stop && lab.clock >= lab.last.time")
    with lab.expect_download(timeout=90_000) as download:
        lab.get_by_role("button", name="GIF").click()
    download.value.save_as(tmp_path / "lab.gif")
    with Image.open(tmp_path / "lab.gif") as film:
        assert film.n_frames > 60
        first = np.asarray(film.convert("RGB"), dtype=float)
        film.seek(film.n_frames - 1)
        last = np.asarray(film.convert("RGB"), dtype=float)
    lab.evaluate("lab.goTo(lab.last.time); lab.tick(performance.now())")
    bytes_ = lab.evaluate("lab.controls.canvas.toDataURL()").split(",")[1]
    stage = Image.open(io.BytesIO(base64.b64decode(bytes_))).convert("RGB")
    expected = np.asarray(stage.resize(last.shape[1::-1]), dtype=float)
    assert np.mean(np.abs(last - expected)) < 6
    assert np.mean(np.abs(first - last)) > 4


def test_every_control_has_a_name(lab):
    """For screen readers: no button, field or chooser without words."""
    nameless = lab.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas")].filter(one =>
          !(one.getAttribute("aria-label") || one.textContent.trim() || one.closest("label"))
        ).map(one => one.outerHTML.slice(0, 90))"""
    )
    assert nameless == []


def test_basin_map(lab):
    """The colours agree with where ew.simulate ends from the same starts."""
    scene(lab, "five")
    for _ in range(4):
        lab.evaluate("lab.selected = { what: 'electron', index: 1 }; lab.remove()")
    starts = [[-2.0, 0.5], [1.0, 0.9], [0.5, -2.0], [-0.4, -0.5]]
    asked = {
        "starts": starts,
        "box": [-3.0, 3.0, 3.0, -3.0],
    }
    ends = lab.evaluate(
        """async ({ starts, box }) => {
          const { basinRows } = await import("/basins.js");
          const n = 60;
          const found = basinRows({ table: lab.table, box, width: n, height: n, id: 0,
            sources: Float64Array.from(lab.state.protons.flat()), protons: 5,
            charges: Float64Array.from(lab.state.charges) });
          return starts.map(([x, y]) =>
            found.ends[Math.floor((3 - y) / 6 * n) * n + Math.floor((x + 3) / 6 * n)]);
        }""",
        asked,
    )
    teacher = ew.Teacher(lab.evaluate("lab.state.protons"), np.ones(5), "almost-harmonic")
    for start, end in zip(starts, ends, strict=True):
        cell = (np.floor((np.asarray(start) + 3) * 10) + 0.5) / 10 - 3  # the middle of its pixel
        path = ew.simulate(teacher, ew.Student([cell], [1.0]), 100.0)
        assert path.bound.tolist() == [end]
    lab.evaluate("lab.map.show(true)")
    lab.wait_for_function("lab.stage.map !== null", timeout=60_000)


def test_basin_map_of_dot_product_units(lab):
    """tanh: places where ew.simulate ends, from the same starts."""
    protons = [[1.2, 0.3], [-0.4, 1.0]]
    lab.evaluate(
        """protons => { lab.controls.openScene("csv");
          lab.edit(state => { Object.assign(state, { protons, charges: [1, 1],
            electrons: [[0.1, 0.2]], weights: [1], frozen: [false], fixed: [false] }); });
          lab.change({ potential: "tanh" }); }""",
        protons,
    )
    starts = [[0.9, -0.8], [-1.5, 0.2], [-1.0, -1.0]]
    found = lab.evaluate(
        """async starts => {
          const { basinRows } = await import("/basins.js");
          const { hillOf } = await import("/hills.js");
          const box = [-3, 3, 3, -3];
          const hill = hillOf(lab.stage.lookup, lab.table,
            Float64Array.from(lab.state.protons.flat()), Float64Array.from([1, 1]), box);
          const n = 60;
          const { ends } = basinRows({ table: lab.table, box, width: n, height: n, id: 0, hill,
            sources: hill.peaks, protons: hill.peaks.length / 2,
            charges: new Float64Array(hill.peaks.length / 2).fill(1) });
          return { places: hill.places, cell: hill.cell, ends: starts.map(([x, y]) =>
            ends[Math.floor((3 - y) / 6 * n) * n + Math.floor((x + 3) / 6 * n)]) };
        }""",
        starts,
    )
    teacher = ew.Teacher(protons, np.ones(2), "tanh")
    for start, end in zip(starts, found["ends"], strict=True):
        path = ew.simulate(teacher, ew.Student([start], [1.0]), 200.0)
        place = found["places"][end]
        assert np.allclose(place, path.positions[-1, 0], atol=1.5 * found["cell"])
    lab.evaluate("lab.map.show(true)")
    lab.wait_for_function("lab.stage.map !== null", timeout=60_000)
    lab.evaluate("lab.map.show(false)")


def test_memory_stays_flat(lab):
    """The short version of half an hour: many records and frames, with time speeded up."""
    scene(lab, "five")
    lab.evaluate(
        "lab.edit(s => { s.method = 'noisy-sgd'; s.wrt = 'both'; s.step = 0.001; s.speed = 500; })"
    )
    lab.evaluate("lab.play()")
    lab.wait_for_function("lab.clock > 3000", timeout=60_000)
    before = _heap(lab)
    lab.wait_for_function("lab.clock > 40000", timeout=120_000)
    assert lab.evaluate("lab.history.length") <= 4200
    assert _heap(lab) < before + 8e6


def _heap(page: Any) -> float:
    client = page.context.new_cdp_session(page)
    client.send("HeapProfiler.collectGarbage")
    return float(client.send("Runtime.getHeapUsage")["usedSize"])


def test_state_json_is_plain(lab):
    """What the page keeps of itself is plain values: JSON gives it back."""
    state = lab.evaluate(START)
    assert json.loads(json.dumps(state)) == state
