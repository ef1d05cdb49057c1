import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { EnvtestError, start } from "wasmgate-envtest";

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "envtest-"));
  process.env.TMPDIR = folder; // where only these tests leave something
});
after(() => rm(folder, { recursive: true }));

/** Sends a request, and returns the status and what the body says. */
function ask(gateway, method, path, token, body) {
  return new Promise((resolve, reject) => {
    const sent = request(gateway.url + path, { method, ca: gateway.ca, agent: false, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } }, (answer) => {
      let text = "";
      answer.on("data", (piece) => (text += piece));
      answer.on("end", () => resolve([answer.statusCode, JSON.parse(text)]));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A program that is no gateway. */
async function program(name, script) {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o700);
  return path;
}

function isThere(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "mine" } };

test("gateways serve side by side, each its own objects, and are gone when they are stopped", async () => {
  const [one, other] = await Promise.all([start(), start({ args: ["--controllers="] })]);
  assert.notEqual(one.url, other.url);
  assert.equal((await ask(one, "POST", "/api/v1/namespaces", one.token, namespace))[0], 201);
  assert.equal((await ask(one, "GET", "/api/v1/namespaces/mine", one.token))[1].metadata.name, "mine");
  assert.equal((await ask(other, "GET", "/api/v1/namespaces/mine", other.token))[0], 404);
  assert.equal((await ask(one, "GET", "/api/v1/namespaces", other.token))[0], 401);
  const kubeconfig = await readFile(one.kubeconfig, "utf8");
  assert.ok(kubeconfig.includes(one.url) && kubeconfig.includes(one.token));
  assert.match(await one.log(), /wasmgate serves/);
  await Promise.all([one.stop(), other[Symbol.asyncDispose]()]);
  await one.stop(); // once more does nothing
  await assert.rejects(ask(one, "GET", "/version", one.token), { code: "ECONNREFUSED" });
  assert.ok(!existsSync(one.kubeconfig) && !existsSync(other.logFile));
});

test("variables of another gateway count for nothing", async () => {
  process.env.WASMGATE_ETCD_SERVERS = "http://127.0.0.1:1";
  try {
    const gateway = await start();
    await gateway.stop();
  } finally {
    delete process.env.WASMGATE_ETCD_SERVERS;
  }
});

test("a gateway that cannot start says why, and leaves nothing", async () => {
  const refused = (options, message) => assert.rejects(start(options), (err) => err instanceof EnvtestError && message.test(err.message) ? true : assert.fail(`${err}`));
  await refused({ binary: join(folder, "none") }, /there is no program .*none: have wasmgate on the PATH, or name it by/);
  await refused({ binary: folder }, /cannot be started: .*EACCES/);
  await refused({ args: ["--no-such-flag"] }, /ended with status 2 before it served:\nError: unknown flag: --no-such-flag/);
  await refused({ binary: await program("other", "echo hello") }, /ended with status 0 before it served:\nhello$/);
  await refused({ binary: await program("killed", "kill -9 $$") }, /ended by SIGKILL before it served$/);
  await refused({ binary: await program("silent", "exec sleep 600"), startTimeout: 200 }, /did not serve within 200 ms$/);
  await refused({ timeout: 1 }, /there is no option timeout; there are binary, args/);
  assert.deepEqual((await readdir(folder)).filter((name) => name.startsWith("wasmgate-envtest-")), []);
});

test("a program that ends by itself, or does not end, is told of when it is stopped", async () => {
  const serves = (then) => `echo "it is $$"
for flag; do case $flag in --write-kubeconfig=*) printf 'certificate-authority-data: YQ==\\ntoken: t\\n' > "\${flag#*=}";; esac; done
echo "wasmgate serves https://127.0.0.1:1 (of a test)"
${then}`;
  const ends = await start({ binary: await program("ends", serves(`until [ -e ${folder}/enough ]; do sleep 0.1; done; echo broken; exit 3`)) });
  await writeFile(join(folder, "enough"), "");
  for (const pid = /it is (\d+)/.exec(await ends.log())[1]; isThere(pid); ) {
    await new Promise(setImmediate);
  }
  await assert.rejects(ends.stop(), /ended with status 3 before it was stopped:\n[^]*broken$/);
  const stays = await start({ binary: await program("stays", `trap '' TERM; ${serves("while :; do sleep 1; done")}`), stopTimeout: 200 });
  await assert.rejects(stays.stop(), /did not end within 200 ms and was killed/);
  assert.ok(!existsSync(ends.logFile) && !existsSync(stays.logFile));
  const none = await start({ binary: await program("none", serves("sleep 600").replace("token: t\\n", "")) }).catch((err) => err);
  assert.match(none.message, /has no authority or no token/);
});
