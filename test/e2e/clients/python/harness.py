"""Runs named steps and tells the Go test that started this program about them:
one JSON document a line on standard output, replies on standard input.
"""

import json
import sys
import time
import traceback

from kubernetes.client.rest import ApiException
from kubernetes.dynamic.exceptions import DynamicApiError


def say(**document):
    print(json.dumps(document), flush=True)


def step(name, run):
    """Runs one step and reports how it went; a failure does not end the program."""
    try:
        say(step=name, ok=True, skipped=run() or "")
    except Exception:  # whatever a step ends with is its result
        say(step=name, ok=False, message=traceback.format_exc())


def ask(what):
    """Has the Go test do something to the server, and tells whether it could."""
    say(ask=what)
    return sys.stdin.readline().strip() == "done"


def equal(got, want):
    if got != want:
        raise AssertionError("got %r, want %r" % (got, want))


def refused(code, reason, request):
    """Makes a request that has to fail with this code and reason; returns the Status."""
    try:
        made = request()
    except (ApiException, DynamicApiError) as err:
        status = json.loads(err.body)
        equal((err.status, status["kind"], status["code"], status["reason"]), (code, "Status", code, reason))
        return status
    raise AssertionError("not refused: %r" % (made,))


def eventually(what, condition, seconds=60):
    """Waits until condition returns something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > deadline:
            raise AssertionError("%s: not after %d s" % (what, seconds))
        time.sleep(0.05)
