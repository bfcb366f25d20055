"""A proxy that loses answers: the request arrives, and nobody hears of it."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from urllib.parse import urlsplit


class LossyProxy:
    """Passes bytes on to ``target``; closes a connection instead of passing on an answer.

    share   of the answers that are lost
    """

    def __init__(self, target: str, share: float, seed: int = 1) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self.share = share
        self._random = random.Random(seed)
        self.lost = 0
        self.passed = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.suppress(OSError))
            stack.enter_context(client)
            server = stack.enter_context(socket.create_connection(self._target))
            back = threading.Thread(target=self._answers, args=(server, client), daemon=True)
            back.start()
            while data := client.recv(65536):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
            back.join(120)

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if self._random.random() < self.share:
                    self.lost += 1
                    client.shutdown(socket.SHUT_RDWR)
                    return
                self.passed += 1
                client.sendall(data)

    def __enter__(self) -> LossyProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
