import json
import os
import ssl
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import wasmgate_envtest
from wasmgate_envtest import EnvtestError

SERVES = """for flag; do case $flag in --write-kubeconfig=*) printf 'certificate-authority-data: YQ==\\ntoken: t\\n' > "${flag#*=}";; esac; done
echo "wasmgate serves https://127.0.0.1:1 (of a test)"
"""


def ask(gateway, method, path, token, body=None):
    """Sends a request, and returns the status and what the body says."""
    sent = urllib.request.Request(
        gateway.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=ssl.create_default_context(cadata=gateway.ca))
    )
    try:
        with opener.open(sent, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as err:
        with err:
            return err.code, json.load(err)


class EnvtestTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        before = tempfile.tempdir
        tempfile.tempdir = folder.name  # where only these tests leave something
        self.addCleanup(setattr, tempfile, "tempdir", before)

    def program(self, name, script):
        """A program that is no gateway."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        return str(path)

    def test_side_by_side(self):
        with wasmgate_envtest.start() as one, wasmgate_envtest.start(args=["--controllers="]) as other:
            self.assertNotEqual(one.url, other.url)
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}
            self.assertEqual(ask(one, "POST", "/api/v1/namespaces", one.token, namespace)[0], 201)
            self.assertEqual(ask(one, "GET", "/api/v1/namespaces/mine", one.token)[1]["metadata"]["name"], "mine")
            self.assertEqual(ask(other, "GET", "/api/v1/namespaces/mine", other.token)[0], 404)
            self.assertEqual(ask(one, "GET", "/api/v1/namespaces", other.token)[0], 401)
            kubeconfig = Path(one.kubeconfig).read_text()
            self.assertTrue(one.url in kubeconfig and one.token in kubeconfig)
            self.assertIn("wasmgate serves", one.log())
        one.stop()  # once more does nothing
        with self.assertRaises(urllib.error.URLError):
            ask(one, "GET", "/version", one.token)
        self.assertEqual(os.listdir(self.folder), [])

    def test_variables_of_another_gateway(self):
        os.environ["WASMGATE_ETCD_SERVERS"] = "http://127.0.0.1:1"
        self.addCleanup(os.environ.pop, "WASMGATE_ETCD_SERVERS")
        wasmgate_envtest.start().stop()

    def test_no_start(self):
        for message, options in {
            "there is no program .*/none: have wasmgate on the PATH, or name it by": {"binary": str(self.folder / "none")},
            "cannot be started: .*Permission denied": {"binary": str(self.folder)},
            "ended with status 2 before it served:\nError: unknown flag: --no-such-flag": {"args": ["--no-such-flag"]},
            "ended with status 0 before it served:\nhello$": {"binary": self.program("other", "echo hello")},
            "ended by SIGKILL before it served$": {"binary": self.program("killed", "kill -9 $$")},
            "did not serve within 0.2 s$": {"binary": self.program("silent", "exec sleep 600"), "start_timeout": 0.2},
            "args is a text": {"args": "--controllers="},
            "has no authority or no token": {"binary": self.program("odd", SERVES.replace("token: t\\n", "") + "exec sleep 600")},
        }.items():
            with self.assertRaisesRegex(EnvtestError, message):
                wasmgate_envtest.start(**options)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("wasmgate-envtest-")], [])

    def test_no_good_end(self):
        ends = wasmgate_envtest.start(self.program("ends", f"{SERVES}until [ -e {self.folder}/enough ]; do sleep 0.1; done; echo broken; exit 3"))
        (self.folder / "enough").touch()
        ends._process.wait()
        with self.assertRaisesRegex(EnvtestError, "ended with status 3 before it was stopped:\n[^$]*broken$"):
            ends.stop()
        with self.assertRaisesRegex(EnvtestError, "did not end within 0.2 s and was killed"):
            with wasmgate_envtest.start(self.program("stays", "trap '' TERM; " + SERVES + "while :; do sleep 1; done"), stop_timeout=0.2):
                pass
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("wasmgate-envtest-")], [])


if __name__ == "__main__":
    unittest.main()
