"""A process that receives webhooks, checks their signatures and writes down what it got.

`python receiver.py SECRET-FILE OUT-FILE REFUSE`: prints its port; the first REFUSE attempts of each
message are answered with 500, after they were written down.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

SECRET_FILE, OUT, REFUSE = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEEN: Counter[str] = Counter()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            told = Webhook(Path(SECRET_FILE).read_text()).verify(body, headers)
            good = True
        except WebhookVerificationError as error:
            told, good = str(error), False
        message = headers["webhook-id"]
        with open(OUT, "a") as file:
            file.write(json.dumps({"id": message, "good": good, "told": told}) + "\n")
        SEEN[message] += 1
        self.send_response(500 if SEEN[message] <= REFUSE else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    print(server.server_port, flush=True)
    server.serve_forever()
