"""The server: HTTP on sockets, the writer behind it, and the process they run in."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.server.process import prepare as prepare
    from patientbandits.live.server.protocol import HTTPProtocol as HTTPProtocol
    from patientbandits.live.server.protocol import ServerState as ServerState
    from patientbandits.live.server.run import serve as serve
    from patientbandits.live.server.writer import Writer as Writer

__all__, __getattr__, __dir__ = lazy_exports(__name__)
