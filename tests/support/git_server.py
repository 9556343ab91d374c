"""Servers of git repositories on this machine: git's own HTTP backend behind a small server, an OpenSSH server, a
stand-in for ssh, and a server that never answers."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from secateur.system.processes import Child
from support.systems import IS_ROOT

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
"""The program of the OpenSSH server, which starts only where it is named by its whole path."""

_PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


@contextmanager
def http_backend(root: Path, certificate: Path | None = None) -> Iterator[str]:
    """The repositories below `root` by git's own backend; gives the address that stands for `root`.

    Args:
        certificate: a file of a key and its certificate, for https.
    """

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            env = _PLAIN | {
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type") or "",
                "CONTENT_LENGTH": str(length),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
                "REMOTE_ADDR": "127.0.0.1",
            }
            body = self.rfile.read(length)
            words = ["git", "-c", "safe.directory=*", "http-backend"]
            done = subprocess.run(words, env=env, input=body, capture_output=True, check=True)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
            self.send_response(next((int(value[:3]) for name, value in fields if name == "Status"), 200))
            for name, value in fields:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815 - the names that the base class looks for

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@contextmanager
def silent_server() -> Iterator[tuple[str, threading.Event]]:
    """An address that takes connections and never answers, and an event that is set at the first one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        met, held = threading.Event(), []

        def accept() -> None:
            try:
                while True:
                    held.append(listener.accept()[0])
                    met.set()
            except OSError:  # it was closed
                pass

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/shop", met
        for connection in held:
            connection.close()


def ssh_stand_in(folder: Path) -> str:
    """A command in place of ssh: it notes its words in `folder`/words and runs what ssh would run over there, here."""
    program = folder / "ssh.py"
    program.write_text(
        "import subprocess, sys\n"
        f"open({str(folder / 'words')!r}, 'w').write('\\n'.join(sys.argv[1:]))\n"
        'assert sys.argv[-1].startswith("git-upload-pack \'"), sys.argv\n'
        "sys.exit(subprocess.call(['sh', '-c', sys.argv[-1]]))\n"
    )
    return f"{sys.executable} {program}"


@contextmanager
def ssh_server(folder: Path) -> Iterator[tuple[str, str]]:
    """An OpenSSH server on the loopback interface, which lets in whoever has the key that is made for it.

    Yields `USER@127.0.0.1:PORT`, and the command that reaches it: with the key, and the server's as the only one known.
    """
    folder.mkdir()
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "authorized").write_bytes((folder / "user.pub").read_bytes())
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    lines = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "PasswordAuthentication": "no",
        "StrictModes": "no",
        "PidFile": "none",
        "PermitRootLogin": "prohibit-password",
    }
    (folder / "config").write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
    if IS_ROOT:  # where the server keeps the part of it that has no rights
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    command = [str(SSHD), "-D", "-e", "-f", str(folder / "config")]
    server = Child(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, group=True)
    try:
        assert server.stderr is not None
        assert any(b"Server listening" in line for line in server.stderr), "it ended"
        keys = f"-i {folder / 'user'} -oIdentitiesOnly=yes -oUserKnownHostsFile={folder / 'known'}"
        yield f"{getpass.getuser()}@127.0.0.1:{port}", f"ssh -F none -oBatchMode=yes -oStrictHostKeyChecking=yes {keys}"
    finally:
        server.end_group()
        server.wait()
        if server.stderr is not None:
            server.stderr.close()
