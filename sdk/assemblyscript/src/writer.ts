import { encode, sizeOf } from "./strings";

/** Bytes that are written one after the other. They are never freed: after a call the gateway puts the memory back. */
export class Writer {
  at: usize = 0;
  length: usize = 0;
  private room: usize = 0;

  /** Makes room for so many more bytes. */
  reserve(more: usize): void {
    const need = this.length + more;
    if (need <= this.room) return;
    const room = max(need, this.room * 2);
    const moved = heap.alloc(room);
    if (this.room > 0) {
      memory.copy(moved, this.at, this.length);
      heap.free(this.at);
    }
    this.at = moved;
    this.room = room;
  }

  /** Writes a byte. */
  byte(c: u8): void {
    if (this.length == this.room) this.reserve(64);
    store<u8>(this.at + this.length++, c);
  }

  /** Writes what is from one address to another. */
  copy(at: usize, end: usize): void {
    const size = end - at;
    this.reserve(size);
    memory.copy(this.at + this.length, at, size);
    this.length += size;
  }

  /** Writes a text as it is, in UTF-8. */
  text(text: string): void {
    this.put(text, false);
  }

  /** Writes a text as a string of JSON. */
  quote(text: string): void {
    this.put(text, true);
  }

  private put(text: string, quoted: bool): void {
    this.reserve(sizeOf(text, quoted));
    this.length = encode(this.at + this.length, text, quoted) - this.at;
  }

  /** Forgets what was written, but not the room. */
  clear(): void {
    this.length = 0;
  }

  /** Where what was written ends. */
  get end(): usize {
    return this.at + this.length;
  }

  /** What was written, as an export returns it. */
  get reply(): u64 {
    return (<u64>this.at << 32) | <u64>this.length;
  }
}
