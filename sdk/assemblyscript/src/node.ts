import { encode, isKey, sizeOf } from "./strings";
import { Cursor, pass } from "./text";
import { Writer } from "./writer";

/** What a node is: text that nobody looked into, or opened. */
export const enum Is {
  Text,
  Fields,
  Items,
}

/** One JSON value, which stays text until somebody looks into it, and is that text again where nothing was changed. */
export class Node {
  /** The key as it is written, without its quotes. */
  keyAt: usize = 0;
  keyEnd: usize = 0;
  /** The text. */
  at: usize = 0;
  end: usize = 0;
  is: Is = Is.Text;
  /** The text is out of date. */
  edited: bool = false;
  /** It is where it came from: its key stands before its text. */
  whole: bool = false;
  all: Node[] = [];
  parent: Node | null = null;

  /** Makes it a text. */
  put(at: usize, end: usize): void {
    this.at = at;
    this.end = end;
    this.is = Is.Text;
    this.edited = false;
    this.whole = false;
    this.all.length = 0;
  }

  /** Makes it another text. What was in it belongs to nothing from now on: who still changes that changes nothing here. */
  replace(at: usize, end: usize): void {
    const all = this.all;
    for (let i = 0; i < all.length; i++) all[i].parent = null;
    this.put(at, end);
  }

  /** Makes it an object without fields. */
  empty(): void {
    this.put(0, 0);
    this.is = Is.Fields;
    this.touch();
  }

  /** Makes it what another one is. */
  become(other: Node): void {
    this.replace(other.at, other.end);
    this.is = other.is;
    this.edited = other.edited;
    const all = other.all;
    other.all = this.all;
    this.all = all;
    for (let i = 0; i < all.length; i++) all[i].parent = this;
  }

  get isNull(): bool {
    return this.is == Is.Text && this.end == this.at + 4 && load<u32>(this.at) == 0x6c6c756e; // null
  }

  /** Tells whether it is an object; what is not opened is told by its bracket. */
  get isObject(): bool {
    return this.is == Is.Fields || (this.is == Is.Text && this.end > this.at && load<u8>(this.at) == 0x7b);
  }

  /** Where a field or an item is; -1 when there is none, or when this was not opened. */
  index(name: string): i32 {
    const all = this.all;
    if (this.is == Is.Items) return indexOf(name, all.length);
    for (let i = 0; i < all.length; i++) {
      if (isKey(all[i].keyAt, all[i].keyEnd, name)) return i;
    }
    return -1;
  }

  /** Marks it and all around it as changed. */
  touch(): void {
    let n: Node | null = this;
    while (n != null && !n.edited) {
      n.edited = true;
      n = n.parent;
    }
  }

  /** Writes it. What stands side by side in a text is copied at once. */
  write(out: Writer): void {
    if (!this.edited) {
      out.copy(this.at, this.end);
      return;
    }
    const object = this.is == Is.Fields, all = this.all;
    out.byte(object ? 0x7b : 0x5b);
    let from: usize = 0, to: usize = 0;
    for (let i = 0; i < all.length; i++) {
      const n = all[i];
      if (n.whole && !n.edited) {
        const begins = object ? n.keyAt - 1 : n.at;
        if (to == 0 || begins != to + 1 || load<u8>(to) != 0x2c) {
          if (to != 0) out.copy(from, to);
          if (i > 0) out.byte(0x2c);
          from = begins;
        }
        to = n.end;
        continue;
      }
      if (to != 0) out.copy(from, to);
      to = 0;
      if (i > 0) out.byte(0x2c);
      if (object) {
        out.byte(0x22);
        out.copy(n.keyAt, n.keyEnd);
        out.byte(0x22);
        out.byte(0x3a);
      }
      n.write(out);
    }
    if (to != 0) out.copy(from, to);
    out.byte(object ? 0x7d : 0x5d);
  }
}

/** Reads an index; -1 when it is none, or there is no such item. */
export function indexOf(name: string, length: i32): i32 {
  let n = 0;
  if (name.length == 0 || name.length > 9) return -1;
  for (let i = 0; i < name.length; i++) {
    const digit = name.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    n = n * 10 + digit;
  }
  return n < length ? n : -1;
}

/** The memory of one object, and what it failed with. Objects of a review have it one after the other. */
export class Tree {
  /** The first thing that was wrong; null when nothing was. */
  failed: string | null = null;
  private nodes: Node[] = [];
  private used: i32 = 0;
  private room: usize = 0;
  private left: usize = 0;
  private begin: usize = 0;
  private size: usize = 0;

  /** Forgets what there was, but not the memory. */
  reset(): void {
    this.failed = null;
    this.used = 0;
    this.room = this.begin;
    this.left = this.size;
  }

  /** Returns a node that is a text. */
  node(at: usize, end: usize, parent: Node | null): Node {
    if (this.used == this.nodes.length) this.nodes.push(new Node());
    const n = this.nodes[this.used++];
    n.put(at, end);
    n.keyAt = 0;
    n.keyEnd = 0;
    n.parent = parent;
    return n;
  }

  /** Reads the object or array at an address into a node, and returns where it ends; 0 when there is none. */
  fill(n: Node, at: usize, end: usize): usize {
    const c = new Cursor(at, end);
    n.put(at, at);
    while (c.next()) {
      const stop = c.pass();
      if (stop == 0) return 0;
      const child = this.node(c.value, stop, n);
      child.keyAt = c.keyAt;
      child.keyEnd = c.keyEnd;
      child.whole = true;
      n.all.push(child);
    }
    if (c.stop == 0) {
      n.all.length = 0;
      return 0;
    }
    n.end = c.stop;
    n.is = c.isObject ? Is.Fields : Is.Items;
    return c.stop;
  }

  /** Looks into a node; false when it is neither an object nor an array. */
  open(n: Node): bool {
    if (n.is != Is.Text) return true;
    if (n.at >= n.end || (load<u8>(n.at) | 0x20) != 0x7b) return false;
    const at = n.at, end = n.end, whole = n.whole;
    const opened = this.fill(n, at, end) == end;
    if (!opened) n.put(at, end);
    n.whole = whole;
    return opened;
  }

  /** What a path leads to; null when it leads nowhere. */
  find(n: Node, path: string[]): Node | null {
    for (let i = 0; i < path.length; i++) {
      const at = this.open(n) ? n.index(path[i]) : -1;
      if (at < 0) return null;
      n = n.all[at];
    }
    return n;
  }

  /**
   * The field with a name, made if need be; null when this is not an object and has no such
   * item. A new field goes to its place by the alphabet, if the others are in theirs: in
   * that order objects are stored.
   */
  grow(n: Node, name: string): Node | null {
    if (!this.open(n)) return null;
    const i = n.index(name);
    if (i >= 0) return n.all[i];
    if (n.is != Is.Fields) return null;
    const key = this.keep(name, true);
    const child = this.node(0, 0, n);
    child.keyAt = key + 1;
    child.keyEnd = this.room - 1;
    let at = n.all.length;
    while (at > 0 && later(n.all[at - 1], child)) at--;
    insert(n.all, at, child);
    return child;
  }

  /** Keeps a text, as a string of JSON or as it is, and returns where: it ends at `kept`. */
  keep(text: string, quoted: bool): usize {
    const size = sizeOf(text, quoted);
    if (size > this.left) {
      this.size = max<usize>(size, 4096);
      this.begin = heap.alloc(this.size);
      this.room = this.begin;
      this.left = this.size;
    }
    const at = this.room;
    this.room = encode(at, text, quoted);
    this.left -= size;
    return at;
  }

  /** Where what was kept last ends. */
  get kept(): usize {
    return this.room;
  }
}

/** Puts a node into a list. */
export function insert(all: Node[], at: i32, n: Node): void {
  all.push(n);
  for (let i = all.length - 1; i > at; i--) all[i] = all[i - 1];
  all[at] = n;
}

/** Tells whether one node's key is behind another's. */
function later(a: Node, b: Node): bool {
  const one = a.keyEnd - a.keyAt, other = b.keyEnd - b.keyAt;
  const order = memory.compare(a.keyAt, b.keyAt, min(one, other));
  return order > 0 || (order == 0 && one > other);
}
