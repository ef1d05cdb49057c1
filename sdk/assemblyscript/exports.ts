// What a module exports: `export * from "wasmgate-sdk/exports"`. The gateway calls one
// function at a time, and each call finds the memory as it was before.
import { handleAdmission } from "./src/admission";
import { describe, handleConfiguration } from "./src/configuration";
import { handleConversion } from "./src/conversion";
import { handlePriority } from "./src/priority";
import { Writer } from "./src/writer";

/** Room for requests, and how much. */
let room: usize = 0;
let size: usize = 0;

/** What is replied. */
const out: Writer = new Writer();

export function wasmgate_abi_v1(): void {}

/**
 * Returns room for a request. The gateway asks for as much as usual before the first call,
 * and begins every call with what the instance was then: so the memory of usual calls and of
 * their replies does not have to grow.
 */
export function wasmgate_alloc(length: u32): usize {
  if (room == 0 || <usize>length > size) {
    if (room != 0) heap.free(room);
    room = heap.alloc(length);
    size = length;
    out.reserve(<usize>length + 256);
  }
  return room;
}

export function wasmgate_convert(at: usize, length: u32): u64 {
  handleConversion(at, at + length, out);
  return out.reply;
}

export function wasmgate_admit(at: usize, length: u32): u64 {
  handleAdmission(at, at + length, out);
  return out.reply;
}

export function wasmgate_prioritize(at: usize, length: u32): u64 {
  handlePriority(at, at + length, out);
  return out.reply;
}

export function wasmgate_configure(at: usize, length: u32): u64 {
  handleConfiguration(at, at + length, out);
  return out.reply;
}

export function wasmgate_describe(): u64 {
  describe(out);
  return out.reply;
}
