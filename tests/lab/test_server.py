"""Who may speak to the server, and what it answers to bad questions."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra lab")
pytest.importorskip("httpx", reason="Starlette's test client needs httpx")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.lab.questions import ANSWERS, Questions
from earnshaw.lab.server import LARGEST, make_app, open_socket

HOST = "127.0.0.1:8899"


class Here(Questions):
    """Answers in this process: no JAX is started."""

    def ask(self, what: str, body: Any) -> dict[str, Any]:
        if what not in ANSWERS:
            raise EarnshawError("nobody asks that here")
        return ANSWERS[what](body)


@pytest.fixture
def client() -> TestClient:
    app = make_app({HOST, "localhost:8899"}, "the-token", Here())
    return TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)


@pytest.fixture
def inside(client: TestClient) -> TestClient:
    answer = client.get("/?token=the-token")
    assert answer.status_code == 303
    return client


def test_token_is_exchanged_once_for_a_cookie(client):
    assert client.get("/").status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    first = client.get("/?token=the-token")
    assert first.status_code == 303
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "the-token" not in cookie
    assert client.get("/").status_code == 200
    client.cookies.clear()
    again = client.get("/?token=the-token")
    assert again.status_code == 403
    assert "has been used" in again.text


def test_dns_rebinding(inside):
    """A page whose name points here has another Host, cookie or not."""
    for host in ("evil.example:8899", "127.0.0.1.evil.example", "127.0.0.1:8898", ""):
        answer = inside.get("/", headers={"host": host})
        assert answer.status_code == 421
        assert "<" not in answer.text


def test_other_origins(inside):
    for origin in ("http://evil.example", "null", "https://127.0.0.1:8899"):
        answer = inside.post("/ask/formula", json={}, headers={"origin": origin})
        assert answer.status_code == 403
    own = {"origin": f"http://{HOST}"}
    assert inside.get("/tables.json", headers=own).status_code == 200


def test_no_websockets(inside):
    with pytest.raises(WebSocketDisconnect), inside.websocket_connect("/"):
        pass


def test_headers(inside):
    answer = inside.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_files_of_the_page_only(inside):
    assert inside.get("/engine.js").headers["content-type"].startswith("text/javascript")
    for name in ("../server.py", "%2e%2e/server.py", "..%2fserver.py", "server.py", "page/../x.js"):
        assert inside.get(f"/{name}").status_code == 404


def test_bad_questions(inside):
    """Each is one line with what is allowed, and none is executed."""
    assert inside.post("/ask/nothing", json={}).status_code == 422
    assert inside.post("/ask/formula", content=b"{", headers=JSON).status_code == 400
    assert inside.post("/ask/formula", content=b"{}").status_code == 415
    huge = json.dumps({"formula": "x" * 10_000_000, "stage": "circle"})
    assert inside.post("/ask/formula", content=huge, headers=JSON).status_code == 413
    assert len(huge) > LARGEST
    long = {"formula": "x+" * 200 + "x", "stage": "circle"}
    assert "1 to 200 characters" in error(inside, "formula", long)
    code = {"formula": "__import__('os').system('true')", "stage": "circle"}
    assert error(inside, "formula", code)
    assert "unknown stage" in error(inside, "formula", {"formula": "x", "stage": "moon"})
    assert error(inside, "certify", {"stage": "plane", "potential": "no-such"})
    assert "text" in error(inside, "fit", {"table": 3})


JSON = {"content-type": "application/json"}


def error(client: TestClient, what: str, question: dict[str, Any]) -> str:
    answer = client.post(f"/ask/{what}", json=question)
    assert answer.status_code == 422
    words = answer.json()["error"]
    assert "\n" not in words
    return words


@pytest.mark.slow
def test_good_questions(inside):
    found = inside.post("/ask/formula", json={"formula": "x*tanh(x)", "stage": "circle"}).json()
    assert found["table"]["kind"] == "zonal"
    radial = inside.post("/ask/formula", json={"formula": "exp(-r^2)", "stage": "plane"}).json()
    assert radial["table"]["kind"] == "radial"
    about = {"stage": "plane", "potential": "almost-harmonic", "wrt": "positions"}
    charges = {"protons": [[0.0, 0.0], [1.0, 1.0]], "charges": [1.0, 1.0]}
    there = {"positions": [0.0, 0.0, 1.0, 1.0], "weights": [1.0, 1.0]}
    verdict = inside.post("/ask/certify", json=about | charges | there).json()
    assert verdict["kind"] == "cusp-minimum"
    rows = "\n".join(f"{x / 50},{(x / 50) ** 2}" for x in range(-50, 50))
    fitted = inside.post("/ask/fit", json={"table": f"x,y\n{rows}\n"}).json()
    assert fitted["replay"]["stage"] == "plane"
    drawn = fitted["replay"]["fit"]
    assert max(abs(y - x * x) for x, y in drawn["curve"]) < 1e-3
    assert len(drawn["dots"]) == 100
    assert "is text" in error(inside, "fit", {"table": "a,b\nx,hello\ny,there\n"})


@pytest.mark.slow
def test_parameters_of_units(inside):
    """A name with its parameters is a formula too, and nothing else of a teacher can be set."""
    asked = {"formula": "almost-harmonic(radius=0.3, lam=2)", "stage": "plane"}
    table = inside.post("/ask/formula", json=asked).json()["table"]
    phi = ew.potential("almost-harmonic", dim=2, radius=0.3, lam=2.0)
    assert table["self"] == pytest.approx(float(phi.value(0.0)))
    for formula, words in (
        ("almost-harmonic(radius=7)", "radius is 7; allowed"),
        ("tanh(inputs=1)", "parameters are written as"),
        ("tanh(__class__=1)", "parameter"),
        ("no-such(a=1)", "unknown activation"),
    ):
        assert words in error(inside, "formula", {"formula": formula, "stage": "plane"})


def test_port_in_use_gives_the_next():
    first = open_socket("127.0.0.1", 8950)
    second = open_socket("127.0.0.1", first.getsockname()[1])
    assert second.getsockname()[1] > first.getsockname()[1]
    first.close()
    second.close()


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_ended():
    questions = Questions(seconds=0.01)
    with pytest.raises(EarnshawError, match=r"took more than 0\.01 s"):
        questions.ask("formula", {"formula": "x*tanh(x)", "stage": "circle"})
