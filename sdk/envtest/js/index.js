// Package wasmgate-envtest starts a wasmgate for tests, says how to reach it, and stops it.
// It has no dependencies, and must not know any client of the API.
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How often it is looked whether the gateway serves, in milliseconds. */
const LOOK_EVERY = 50;

/** How much of the end of the log is in an error, in characters. */
const MOST_LOG = 4000;

/** The gateways that end with this process, whatever ends it that lets it say so. */
const running = new Set();
process.on("exit", () => running.forEach((gateway) => gateway.abandon()));

/** Why a gateway did not start, or did not end as it should. */
export class EnvtestError extends Error {
  name = "EnvtestError";
}

/** Starts a gateway and resolves when it serves. */
export async function start(options = {}) {
  const known = ["binary", "args", "startTimeout", "stopTimeout"];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new EnvtestError(`there is no option ${unknown}; there are ${known.join(", ")}`);
  }
  const folder = await mkdtemp(join(tmpdir(), "wasmgate-envtest-"));
  const gateway = new Gateway(folder, options);
  try {
    await gateway.begin(options.args ?? [], options.startTimeout ?? 60_000);
  } catch (err) {
    await gateway.end("SIGKILL");
    throw err;
  }
  return gateway;
}

class Gateway {
  #folder;
  #binary;
  #stopTimeout;
  #process;
  #ended = Promise.resolve();
  #how; // it ended; undefined while it runs
  #stopping;

  constructor(folder, { binary, stopTimeout }) {
    this.#folder = folder;
    this.#binary = binary ?? process.env.WASMGATE_BINARY ?? "wasmgate";
    this.#stopTimeout = stopTimeout ?? 30_000;
    this.kubeconfig = join(folder, "kubeconfig");
    this.logFile = join(folder, "log");
  }

  /** Starts the program and waits until it serves. */
  async begin(args, timeout) {
    const own = ["--bind-address=127.0.0.1", "--secure-port=0", `--data-dir=${join(this.#folder, "data")}`, `--write-kubeconfig=${this.kubeconfig}`];
    // The variables of another gateway, such as those of its etcd, are not for this one.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("WASMGATE_")));
    const log = openSync(this.logFile, "w");
    try {
      this.#process = spawn(this.#binary, ["serve", ...args, ...own], { env, stdio: ["ignore", log, log] });
    } finally {
      closeSync(log);
    }
    running.add(this);
    this.#ended = new Promise((resolve) => {
      this.#process.once("error", (err) => resolve((this.#how = this.#unstartable(err))));
      this.#process.once("exit", (status, signal) => resolve((this.#how ??= `${this.#binary} ended ${signal ? `by ${signal}` : `with status ${status}`}`)));
    });
    const until = Date.now() + timeout;
    while (!(await this.#serves())) {
      if (this.#how !== undefined) {
        throw await this.#failure(this.#process.pid === undefined ? this.#how : `${this.#how} before it served`);
      }
      if (Date.now() >= until) {
        throw await this.#failure(`${this.#binary} did not serve within ${timeout} ms`);
      }
      await this.#within(LOOK_EVERY);
    }
  }

  /** What the gateway has logged until now. */
  async log() {
    return readFile(this.logFile, "utf8");
  }

  /** Stops the gateway and removes what it kept. A gateway that has ended before is an error. */
  stop() {
    return (this.#stopping ??= this.#stop());
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.stop();
  }

  async #stop() {
    if (this.#how !== undefined) {
      const err = await this.#failure(`${this.#how} before it was stopped`);
      await this.end("SIGKILL");
      throw err;
    }
    this.#process.kill("SIGTERM");
    const inTime = await this.#within(this.#stopTimeout);
    const err = inTime ? undefined : await this.#failure(`${this.#binary} did not end within ${this.#stopTimeout} ms and was killed`);
    await this.end("SIGKILL");
    if (err) {
      throw err;
    }
  }

  /** Ends the program, whatever it does, and removes what it kept. */
  async end(signal) {
    if (this.#process?.pid !== undefined) {
      this.#process.kill(signal);
      await this.#ended;
    }
    running.delete(this);
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Does so at the end of this process, which waits for nothing. */
  abandon() {
    this.#process.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Waits until the program ends, and tells whether it did in that time. */
  async #within(milliseconds) {
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)));
    await Promise.race([this.#ended, late]);
    clearTimeout(timer);
    return this.#how !== undefined;
  }

  /** Reads how the gateway is reached, and tells whether it says so. */
  async #serves() {
    const [, url] = /^wasmgate serves (https:\S+)/m.exec(await this.log()) ?? [];
    if (url === undefined || this.#how !== undefined) {
      return false;
    }
    const text = await readFile(this.kubeconfig, "utf8");
    const field = (name) => new RegExp(`^\\s*${name}: (\\S+)$`, "m").exec(text)?.[1];
    const [ca, token] = [field("certificate-authority-data"), field("token")];
    if (ca === undefined || token === undefined) {
      throw new EnvtestError(`the kubeconfig of ${this.#binary} has no authority or no token: is it another version of wasmgate?`);
    }
    this.url = url;
    this.ca = Buffer.from(ca, "base64").toString();
    this.token = token;
    return true;
  }

  #unstartable(err) {
    if (err.code === "ENOENT") {
      return `there is no program ${this.#binary}: have wasmgate on the PATH, or name it by the option binary or by WASMGATE_BINARY`;
    }
    return `${this.#binary} cannot be started: ${err.message}`;
  }

  /** An error that ends with the end of the log. */
  async #failure(what) {
    const log = (await this.log()).trim().slice(-MOST_LOG);
    return new EnvtestError(log === "" ? what : `${what}:\n${log}`);
  }
}
