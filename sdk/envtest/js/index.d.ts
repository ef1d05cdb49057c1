/// <reference lib="esnext.disposable" />

/** How a gateway is started. */
export interface Options {
  /** The program: its path, or its name on the PATH. By default WASMGATE_BINARY, or "wasmgate". */
  binary?: string;
  /** Further flags of `wasmgate serve`. Where it listens and keeps things is not theirs to say. */
  args?: readonly string[];
  /** How long the start may take, in milliseconds (60,000). */
  startTimeout?: number;
  /** How long the end may take before the program is killed, in milliseconds (30,000). */
  stopTimeout?: number;
}

/** A gateway that serves. */
export interface Gateway extends AsyncDisposable {
  /** Where it is, such as https://127.0.0.1:41234. */
  readonly url: string;
  /** The path of a kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** The authority that verifies its certificate, as PEM. */
  readonly ca: string;
  /** The administrator's bearer token. */
  readonly token: string;
  /** The path of its log, while it runs. */
  readonly logFile: string;
  /** What it has logged until now. */
  log(): Promise<string>;
  /** Stops it and removes what it kept; rejects if it had ended by itself. */
  stop(): Promise<void>;
}

/** Why a gateway did not start, or did not end as it should; with the end of its log. */
export class EnvtestError extends Error {}

/** Starts a gateway of its own data on a free port, and resolves when it serves. */
export function start(options?: Options): Promise<Gateway>;
