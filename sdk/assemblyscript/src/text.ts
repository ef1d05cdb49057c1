// JSON as bytes from one address to another. Nothing here is called again for what is
// nested, and nothing reads beyond the end: what is no JSON ends a pass with 0.

/** Returns where the spaces at an address end. */
export function space(at: usize, end: usize): usize {
  while (at < end) {
    const c = load<u8>(at);
    if (c > 0x20 || (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09)) break;
    at++;
  }
  return at;
}

/** Returns where the value at an address ends, which is behind that; 0 when there is none. */
export function pass(at: usize, end: usize): usize {
  if (at >= end) return 0;
  const c = load<u8>(at);
  if (c == 0x22) return passString(at, end);
  if (c == 0x7b || c == 0x5b) return passNested(at, end);
  let i = at;
  while (i < end && !ends(load<u8>(i))) i++;
  return i > at ? i : 0;
}

/** Tells whether a byte ends a number or a name. */
// @ts-ignore: a decorator of the compiler
@inline
function ends(c: u8): bool {
  return c <= 0x20 || c == 0x2c || c == 0x5d || c == 0x7d || c == 0x3a || c == 0x22;
}

const ONES: u64 = 0x0101010101010101;
const HIGH: u64 = 0x8080808080808080;

/** Returns where the string at an address ends, behind its quote; 0 when it does not. */
export function passString(at: usize, end: usize): usize {
  let i = at + 1;
  while (i < end) {
    while (i + 8 <= end) {
      const eight = load<u64>(i);
      const quote = eight ^ (ONES * 0x22), slash = eight ^ (ONES * 0x5c);
      const found = (((quote - ONES) & ~quote) | ((slash - ONES) & ~slash)) & HIGH;
      if (found != 0) {
        i += <usize>(ctz(found) >> 3);
        break;
      }
      i += 8;
    }
    if (i >= end) return 0;
    const c = load<u8>(i);
    if (c == 0x22) return i + 1;
    i += c == 0x5c ? 2 : 1;
  }
  return 0;
}

function passNested(at: usize, end: usize): usize {
  let depth = 0;
  for (let i = at; i < end; ) {
    const c = load<u8>(i);
    if (c == 0x22) {
      i = passString(i, end);
      if (i == 0) return 0;
      continue;
    }
    i++;
    if ((c | 0x20) == 0x7b) depth++;
    else if ((c | 0x20) == 0x7d && --depth == 0) return i;
  }
  return 0;
}

/** Visits what is in the object or array at an address: `next`, and then `pass`, until either says no. */
export class Cursor {
  /** The key as it is written, without its quotes; items have none. */
  keyAt: usize = 0;
  keyEnd: usize = 0;
  /** Where the value is. */
  value: usize = 0;
  /** Where all of it ends, once it did; 0 when it turned out to be neither, or broken. */
  stop: usize = 0;
  readonly isObject: bool;
  private closer: u8;
  private first: bool = true;

  constructor(private at: usize, private end: usize) {
    const c: u8 = at < end ? load<u8>(at) : 0;
    this.isObject = c == 0x7b;
    this.closer = c + 2;
    if (c == 0x7b || c == 0x5b) this.at++;
    else this.at = end;
  }

  /** Goes to the next field or item. */
  next(): bool {
    const end = this.end;
    let i = space(this.at, end);
    if (i >= end) return false;
    let c = load<u8>(i);
    if (c == this.closer) {
      this.stop = i + 1;
      return false;
    }
    if (!this.first) {
      if (c != 0x2c) return false;
      i = space(i + 1, end);
    }
    this.first = false;
    if (this.isObject) {
      if (i >= end || load<u8>(i) != 0x22) return false;
      this.keyAt = i + 1;
      i = passString(i, end);
      if (i == 0) return false;
      this.keyEnd = i - 1;
      i = space(i, end);
      if (i >= end || load<u8>(i) != 0x3a) return false;
      i = space(i + 1, end);
    }
    this.value = i;
    return i < end;
  }

  /** Passes the value, and returns where it ends; 0 when it does not. */
  pass(): usize {
    return this.passed(pass(this.value, this.end));
  }

  /** Goes on where the value ended, as who looked into it says. */
  passed(end: usize): usize {
    if (end != 0) this.at = end;
    return end;
  }
}
