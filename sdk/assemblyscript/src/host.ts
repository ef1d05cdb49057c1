import { JsonObject } from "./object";
import { encode, sizeOf } from "./strings";

// @ts-ignore: a decorator of the compiler
@external("wasmgate", "log")
declare function logLine(at: usize, length: i32): void;
// @ts-ignore: a decorator of the compiler
@external("wasmgate", "lookup")
declare function lookup(at: usize, length: i32): u64;
// @ts-ignore: a decorator of the compiler
@external("wasmgate", "result")
declare function result(at: usize): void;

/** Writes a line to the gateway's log of this module. What was logged last is also shown when a call fails. */
export function log(line: string): void {
  const size = sizeOf(line, false), at = heap.alloc(size);
  encode(at, line, false);
  logLine(at, <i32>size);
  heap.free(at);
}

/** What a lookup told. */
export class Found {
  constructor(
    /** The object; null when there is none, and when it was refused. */
    readonly object: JsonObject | null,
    /** Why it was refused; null when it was not. */
    readonly refused: string | null,
  ) {}
}

/**
 * Looks an object up, as it is stored, in the gateway's cache. It is for functions that
 * judge writes, and for objects that `spec.grants` of the WasmModule names; any other is
 * refused. `group` is "" for the core group, `resource` the plural, `namespace` "" for
 * kinds without.
 */
export function get(group: string, resource: string, namespace: string, name: string): Found {
  const asked = [group, resource, namespace, name].join("/");
  const size = sizeOf(asked, false), at = heap.alloc(size);
  encode(at, asked, false);
  const answer = lookup(at, <i32>size);
  heap.free(at);
  const length = <usize>(answer & 0xffffffff), told = heap.alloc(length);
  result(told);
  const what = <u32>(answer >> 32);
  if (what == 1) return new Found(null, null);
  if (what != 0) return new Found(null, String.UTF8.decodeUnsafe(told, length));
  const object = JsonObject.of(told, told + length);
  return new Found(object, object == null ? "not a JSON object" : null);
}

/** Internal: what the compiler calls where others would throw. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  log((file == null ? "" : file) + ":" + line.toString() + ":" + column.toString() + ": " + (message == null ? "abort" : message));
  unreachable();
}
