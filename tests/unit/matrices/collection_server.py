"""A loopback stand-in for the collection's server that misbehaves on request."""

import io
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MATRIX = b"%%MatrixMarket matrix coordinate pattern symmetric\n"


def archive(name: str, *members: tuple[str, bytes], content: bytes | None = None) -> bytes:
    """A .tar.gz with ``<name>/<name>.mtx`` and further members."""
    own = [] if content is None else [(f"{name}/{name}.mtx", content)]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, data in [*own, *members]:
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return packed.getvalue()


class Server:
    """Serves ``files`` by path; ``behaviour`` names what goes wrong, and how often."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.behaviour = "well"
        self.times = 10**9
        self.requests: list[str] = []
        self.active = 0
        self.most_active = 0
        self.lock = threading.Lock()
        self.url = ""

    def misbehaves(self) -> bool:
        with self.lock:
            self.times -= 1
            return self.times >= 0


@contextmanager
def serving() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with state.lock:
                state.requests.append(self.path)
                state.active += 1
                state.most_active = max(state.active, state.most_active)
            try:
                self.answer()
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                with state.lock:
                    state.active -= 1

        def answer(self) -> None:
            body = state.files.get(self.path.removeprefix("/moved"))
            behaviour = state.behaviour if state.misbehaves() else "well"
            if behaviour.isdigit():
                self.send_error(int(behaviour))
            elif behaviour == "html":
                self.reply(b"<!DOCTYPE html><html>Please log in</html>")
            elif behaviour == "redirect" and not self.path.startswith("/moved"):
                self.send_response(302)
                self.send_header("Location", f"/moved{self.path}")
                self.end_headers()
            elif behaviour == "circle":
                self.send_response(302)
                self.send_header("Location", self.path)
                self.end_headers()
            elif body is None:
                self.send_error(404)
            elif behaviour == "truncate":
                self.reply(body, sent=body[: len(body) // 2])
            elif behaviour == "truncate silently":
                self.reply(body[: len(body) // 2])
            elif behaviour == "stall":
                self.reply(body, sent=body[:100])
                time.sleep(3)
            elif behaviour == "corrupt":
                self.reply(body[:-30] + bytes(30))
            elif behaviour == "slow":
                time.sleep(0.2)
                self.reply(body)
            else:
                self.reply(body)

        def reply(self, body: bytes, sent: bytes | None = None) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if sent is None else sent)
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
