"""The page with Python behind it, for one person at one machine.

Who may speak to it:

- the address that is printed has a random token, which is exchanged once for a cookie; without the
  cookie nothing is answered but a line that says so;
- Host must be the name that the server was started under, so that a page elsewhere cannot reach it
  by letting its own name point here (DNS rebinding), and Origin, where a browser sends one, must be
  the server's own;
- there are no WebSockets, and every request to open one is refused;
- a question is JSON of at most `LARGEST` bytes, answered in a process that is ended after a while
  (`questions.py`).
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
from typing import Any

from earnshaw.errors import EarnshawError, MissingExtra
from earnshaw.lab.page import FOLDER
from earnshaw.lab.questions import Questions
from earnshaw.results import plain_values

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route
except ImportError:
    raise MissingExtra("earnshaw lab", "Starlette and uvicorn", "lab") from None

COOKIE = "earnshaw-lab"
LARGEST = 3_000_000  # bytes of a question
PORTS = 20  # that are tried
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
}


class Door:
    """Who comes in, before anything else is looked at: an ASGI application around another."""

    def __init__(self, inner: Any, hosts: set[str], token: str) -> None:
        self.inner, self.hosts, self.token = inner, hosts, token
        self.cookie = secrets.token_urlsafe(32)
        self.used = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = self._refusal(Request(scope, receive))
        await (self.inner if answer is None else answer)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """What is answered instead of the page, or None for who may see it."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host not in self.hosts:
            return _said(f"this server is not {host!r}", 421)
        if origin is not None and origin not in {f"http://{one}" for one in self.hosts}:
            return _said("a page of another origin may not ask here", 403)
        if hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self.cookie.encode()):
            return None
        given = request.query_params.get("token", "")
        right = hmac.compare_digest(given.encode(), self.token.encode())
        if request.url.path == "/" and request.method == "GET" and right and not self.used:
            self.used = True
            answer = RedirectResponse("/", 303, HEADERS)
            answer.set_cookie(COOKIE, self.cookie, httponly=True, samesite="strict", path="/")
            return answer
        if right and self.used:
            return _said("this address has been used; start earnshaw lab again for a new one", 403)
        return _said("open the address that earnshaw lab has printed: it has a token", 403)


def _said(words: str, status: int) -> Response:
    return PlainTextResponse(f"earnshaw lab: {words}\n", status, HEADERS)


def make_app(
    hosts: set[str], token: str, questions: Questions, replay: dict[str, Any] | None = None
) -> Door:
    """The page, its files, a replay and the questions, behind the door."""
    plain = json.dumps(plain_values(replay), allow_nan=False)

    async def file(request: Request) -> Response:
        name = request.path_params.get("name") or "index.html"
        path = FOLDER / name
        known = path.parent == FOLDER and path.suffix in KINDS and path.is_file()
        if not known:
            return _said("there is no such file", 404)
        return Response(path.read_bytes(), 200, HEADERS, KINDS[path.suffix])

    async def replayed(request: Request) -> Response:
        return Response(plain, 200, HEADERS, "application/json")

    async def ask(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LARGEST:
                return _error(f"a question has at most {LARGEST} bytes", 413)
        if request.headers.get("content-type", "").split(";")[0] != "application/json":
            return _error("a question is JSON", 415)
        try:
            question = json.loads(body)
        except (ValueError, RecursionError):
            return _error("a question is JSON", 400)
        try:
            found = await run_in_threadpool(questions.ask, request.path_params["what"], question)
        except EarnshawError as error:
            return _error(str(error), 422)
        return JSONResponse(found, 200, HEADERS)

    routes = [
        Route("/", file),
        Route("/replay.json", replayed),
        Route("/ask/{what}", ask, methods=["POST"]),
        Route("/{name}", file),
    ]
    return Door(Starlette(routes=routes), hosts, token)


def _error(words: str, status: int) -> Response:
    return JSONResponse({"error": words}, status, HEADERS)


def open_socket(host: str, port: int) -> socket.socket:
    """A socket at the port, or at the next that is free."""
    for tried in range(port, min(port + PORTS, 65536)):
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, tried))
        except (OSError, UnicodeError) as error:
            found.close()
            if getattr(error, "errno", None) not in _IN_USE:
                why = getattr(error, "strerror", None) or "no address of this machine"
                raise EarnshawError(f"cannot listen at {host}:{tried}: {why}") from None
            continue
        found.listen(64)
        return found
    raise EarnshawError(f"the ports from {port} to {port + PORTS - 1} are all in use")


_IN_USE = {98, 48, 10048}  # EADDRINUSE: Linux, macOS, Windows


class Serving:
    """A lab that listens: `url` with its token, and `run` until Ctrl-C."""

    def __init__(
        self, host: str = "127.0.0.1", port: int = 8899, replay: dict[str, Any] | None = None
    ) -> None:
        self.socket = open_socket(host, port)
        self.port = int(self.socket.getsockname()[1])
        token = secrets.token_urlsafe(24)
        shown = "127.0.0.1" if host == "0.0.0.0" else host
        self.url = f"http://{shown}:{self.port}/?token={token}"
        self.questions = Questions()
        names = {shown, host, "127.0.0.1", "localhost"}
        hosts = {f"{name}:{self.port}" for name in names}
        self.app = make_app(hosts, token, self.questions, replay)

    def run(self) -> None:
        """Serve until Ctrl-C, which ends it in good order."""
        config = uvicorn.Config(self.app, log_level="error", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        try:
            server.run(sockets=[self.socket])
        except KeyboardInterrupt:
            pass
        finally:
            self.questions.close()
            self.socket.close()
