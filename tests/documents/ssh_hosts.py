"""Hosts that pages reach by ssh: loopback addresses of a real sshd, with keys of its own. It neither
reads nor changes the user's ssh configuration."""

import os
import pathlib
import socket
import subprocess
import tempfile
import time

SSHD = next((path for path in ("/usr/sbin/sshd", "/usr/local/sbin/sshd")
             if os.access(path, os.X_OK)), None)
SECONDS = 30


class Hosts:
    """`names` become 127.0.0.1, 127.0.0.2, ... in renamed(); `environment` finds an ssh that
    reaches them."""

    def __init__(self, environment, names):
        self.addresses = {name: f"127.0.0.{i}" for i, name in enumerate(names, 1)}
        self.environment = dict(environment)

    def renamed(self, text):
        for name, address in self.addresses.items():
            text = text.replace(name, address)
        return text

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        at = pathlib.Path(self.folder.name)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at / key],
                           check=True)
        passed = " ".join(f"{name}={self.environment[name]}"
                          for name in ("XDG_RUNTIME_DIR", "TRIREME_CACHE"))
        (at / "config").write_text("\n".join([
            f"Port {port}", f"HostKey {at}/host", f"AuthorizedKeysFile {at}/user.pub",
            "PidFile none", "UsePAM no", "StrictModes no", "UseDNS no",
            "PasswordAuthentication no", "PermitRootLogin yes", "PrintMotd no", "PrintLastLog no",
            f"SetEnv {passed}",
            *(f"ListenAddress {address}" for address in self.addresses.values())]) + "\n")
        (at / "ssh").write_text(
            f'#!/bin/sh\nexec {_which("ssh")} -F none -o StrictHostKeyChecking=no '
            f'-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes '
            f'-i {at}/user -p {port} "$@"\n')
        (at / "ssh").chmod(0o755)
        self.environment["PATH"] = f"{at}:{self.environment['PATH']}"
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.log = open(at / "log", "w")
        self.server = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", SSHD, "-D", "-e", "-f",
                                        at / "config"], stderr=self.log)
        self._wait(at / "log")
        return self

    def _wait(self, log):
        until = time.monotonic() + SECONDS
        while log.read_text().count("Server listening on ") < len(self.addresses):
            if self.server.poll() is not None or time.monotonic() > until:
                raise RuntimeError("sshd does not answer: " + log.read_text())
            time.sleep(0.01)

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        self.log.close()
        self.folder.cleanup()


def _which(name):
    return subprocess.run(["sh", "-c", f"command -v {name}"], check=True, text=True,
                          capture_output=True).stdout.strip()
