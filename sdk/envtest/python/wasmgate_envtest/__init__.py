"""Starts a wasmgate for tests, says how to reach it, and stops it.

It has no dependencies, and must not know any client of the API.
"""

from __future__ import annotations

import atexit
import base64
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Sequence

__all__ = ["EnvtestError", "Gateway", "start"]

LOOK_EVERY = 0.05  # seconds between two looks whether the gateway serves
MOST_LOG = 4000  # characters of the end of the log that are in an error


class EnvtestError(Exception):
    """Why a gateway did not start, or did not end as it should; with the end of its log."""


class Gateway:
    """A gateway that serves: one of its own data, on a free port. start() makes it.

    In a with statement it is stopped at the end.

    url         where it is, such as https://127.0.0.1:41234
    kubeconfig  the path of a kubeconfig of an administrator
    ca          the authority that verifies its certificate, as PEM
    token       the administrator's bearer token
    log_file    the path of its log, while it runs
    """

    def __init__(self, binary: str, folder: str, stop_timeout: float) -> None:
        self._binary = binary
        self._folder = Path(folder)
        self._stop_timeout = stop_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self.url = self.ca = self.token = ""
        self.kubeconfig = str(self._folder / "kubeconfig")
        self.log_file = str(self._folder / "log")

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def log(self) -> str:
        """What the gateway has logged until now."""
        return Path(self.log_file).read_text(errors="replace")

    def stop(self) -> None:
        """Stops the gateway and removes what it kept; an error if it had ended by itself."""
        if self._stopped or self._process is None:
            return
        error = None
        if self._process.poll() is not None:
            error = self._failure(f"{self._ended()} before it was stopped")
        else:
            self._process.terminate()
            try:
                self._process.wait(self._stop_timeout)
            except subprocess.TimeoutExpired:
                error = self._failure(f"{self._binary} did not end within {self._stop_timeout} s and was killed")
        self._end()
        if error is not None:
            raise error

    def _begin(self, args: Sequence[str], timeout: float) -> None:
        own = [
            "--bind-address=127.0.0.1",
            "--secure-port=0",
            f"--data-dir={self._folder / 'data'}",
            f"--write-kubeconfig={self.kubeconfig}",
        ]
        # The variables of another gateway, such as those of its etcd, are not for this one.
        env = {name: value for name, value in os.environ.items() if not name.startswith("WASMGATE_")}
        with open(self.log_file, "wb") as log:
            try:
                self._process = subprocess.Popen(
                    [self._binary, "serve", *args, *own], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            except FileNotFoundError:
                raise EnvtestError(
                    f"there is no program {self._binary}: have wasmgate on the PATH, "
                    "or name it by the argument binary or by WASMGATE_BINARY"
                ) from None
            except OSError as err:
                raise EnvtestError(f"{self._binary} cannot be started: {err}") from err
        until = time.monotonic() + timeout
        while not self._serves():
            if self._process.poll() is not None:
                raise self._failure(f"{self._ended()} before it served")
            if time.monotonic() >= until:
                raise self._failure(f"{self._binary} did not serve within {timeout} s")
            try:
                self._process.wait(LOOK_EVERY)
            except subprocess.TimeoutExpired:
                pass

    def _serves(self) -> bool:
        """Reads how the gateway is reached, and tells whether it says so."""
        says = re.search(r"^wasmgate serves (https:\S+)", self.log(), re.MULTILINE)
        if says is None or self._process is None or self._process.poll() is not None:
            return False
        text = Path(self.kubeconfig).read_text()
        authority, token = (
            re.search(rf"^\s*{name}: (\S+)$", text, re.MULTILINE) for name in ("certificate-authority-data", "token")
        )
        if authority is None or token is None:
            raise EnvtestError(
                f"the kubeconfig of {self._binary} has no authority or no token: is it another version of wasmgate?"
            )
        self.url, self.token = says[1], token[1]
        self.ca = base64.b64decode(authority[1]).decode()
        return True

    def _end(self) -> None:
        """Ends the program, whatever it does, and removes what it kept."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()  # does nothing to one that has ended
            self._process.wait()
        atexit.unregister(self._end)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ended(self) -> str:
        status = self._process.returncode if self._process is not None else 0
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return f"{self._binary} ended {how}"

    def _failure(self, what: str) -> EnvtestError:
        """An error that ends with the end of the log."""
        log = self.log().strip()[-MOST_LOG:]
        return EnvtestError(f"{what}:\n{log}" if log else what)


def start(
    binary: str | None = None,
    args: Sequence[str] = (),
    start_timeout: float = 60.0,
    stop_timeout: float = 30.0,
) -> Gateway:
    """Starts a gateway, and returns when it serves.

    binary is the program: its path, or its name on the PATH; by default WASMGATE_BINARY, or
    wasmgate. args are further flags of `wasmgate serve`; where it listens and keeps things is
    not theirs to say. Times are in seconds; after stop_timeout the program is killed.
    """
    if isinstance(args, str):
        raise EnvtestError(f"args is a text, not a list of flags: [{args!r}]")
    folder = tempfile.mkdtemp(prefix="wasmgate-envtest-")
    gateway = Gateway(binary or os.environ.get("WASMGATE_BINARY") or "wasmgate", folder, stop_timeout)
    atexit.register(gateway._end)
    try:
        gateway._begin(args, start_timeout)
    except BaseException:
        gateway._end()
        raise
    return gateway
