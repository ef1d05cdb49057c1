// Runs named steps and tells the Go test that started this program about them:
// one JSON document a line on standard output, replies on standard input.

import { createInterface } from 'node:readline';

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const say = (document) => process.stdout.write(JSON.stringify(document) + '\n');

// step runs one step and reports how it went; a step that fails does not end
// the program.
export async function step(name, run) {
  try {
    const skipped = await run();
    say({ step: name, ok: true, skipped: skipped || '' });
  } catch (err) {
    say({ step: name, ok: false, message: err?.body ? `${err.stack}\n${JSON.stringify(err.body)}` : String(err?.stack ?? err) });
  }
}

// ask has the Go test do something to the server, and tells whether it could.
export async function ask(what) {
  say({ ask: what });
  const { value } = await input.next();
  return value === 'done';
}

// refused runs a request that has to fail with this code and reason.
export async function refused(code, reason, request) {
  let made;
  try {
    made = await request();
  } catch (err) {
    const status = typeof err.body === 'string' ? JSON.parse(err.body) : err.body;
    if (err.code === code && status?.kind === 'Status' && status.code === code && status.reason === reason) {
      return status;
    }
    throw err;
  }
  throw new Error(`not refused: ${JSON.stringify(made)}`);
}

// within ends a wait that takes too long.
export function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing after ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Recorder keeps what happened in order, and lets a step wait for it.
export class Recorder {
  seen = [];
  #waiting = [];

  add(what) {
    this.seen.push(what);
    this.#waiting = this.#waiting.filter((check) => !check());
  }

  // until waits until everything wanted was seen, in any order.
  until(...wanted) {
    const missing = () => wanted.filter((w) => !this.seen.includes(w));
    const all = new Promise((resolve) => {
      const check = () => {
        if (missing().length > 0) return false;
        resolve();
        return true;
      };
      if (!check()) this.#waiting.push(check);
    });
    return within(30, `waiting for ${wanted}`, all).catch((err) => {
      throw new Error(`${err.message}; missing ${missing()}, seen ${this.seen}`);
    });
  }
}

// finish ends the program although connections may be open.
export function finish() {
  say({ finished: true });
  process.stdout.write('', () => process.exit(0));
}
