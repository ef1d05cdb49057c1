// What comes from elsewhere than the gateway is looked at whole before it is taken.
import { space } from "./text";

/** How deeply arrays and objects may be nested in what a module brings, as in Go's encoding/json. */
const MOST: i32 = 10000;

/** A bit for each array or object that is open: set for an object. */
const open: usize = memory.data(1256);

/** Tells whether all there is from one address to another is one JSON value. */
export function valid(at: usize, end: usize): bool {
  let i = space(at, end), depth = 0;
  while (i < end) {
    const c = load<u8>(i), closer = c + 2;
    if (c == 0x7b || c == 0x5b) {
      if (depth == MOST) return false;
      mark(depth++, c == 0x7b);
      i = space(i + 1, end);
      if (i >= end || load<u8>(i) != closer) {
        if (c == 0x7b) i = key(i, end);
        if (i == 0) return false;
        continue;
      }
      depth--;
      i++;
    } else {
      i = scalar(i, end);
    }
    for (;;) {
      if (i == 0) return false;
      i = space(i, end);
      if (depth == 0) return i == end;
      if (i >= end) return false;
      const c = load<u8>(i), object = marked(depth - 1);
      i++;
      if (c == 0x2c) {
        i = space(i, end);
        if (object) i = key(i, end);
        if (i == 0) return false;
        break;
      }
      if (c != (object ? <u8>0x7d : <u8>0x5d)) return false;
      depth--;
    }
  }
  return false;
}

function mark(depth: i32, object: bool): void {
  const place = open + (depth >> 3), bit = <u8>1 << <u8>(depth & 7);
  const bits = load<u8>(place);
  store<u8>(place, object ? bits | bit : bits & ~bit);
}

function marked(depth: i32): bool {
  return (load<u8>(open + (depth >> 3)) & (<u8>1 << <u8>(depth & 7))) != 0;
}

/** Passes a key and its colon; 0 when there is none. */
function key(at: usize, end: usize): usize {
  if (at >= end || load<u8>(at) != 0x22) return 0;
  const i = textAt(at, end);
  if (i == 0) return 0;
  const colon = space(i, end);
  if (colon >= end || load<u8>(colon) != 0x3a) return 0;
  return space(colon + 1, end);
}

function scalar(at: usize, end: usize): usize {
  const c = load<u8>(at);
  if (c == 0x22) return textAt(at, end);
  if (c == 0x74) return word(at, end, "true");
  if (c == 0x66) return word(at, end, "false");
  if (c == 0x6e) return word(at, end, "null");
  return numberAt(at, end);
}

function word(at: usize, end: usize, text: string): usize {
  if (at + text.length > end) return 0;
  for (let i = 0; i < text.length; i++) {
    if (load<u8>(at + i) != <u8>text.charCodeAt(i)) return 0;
  }
  return at + text.length;
}

function textAt(at: usize, end: usize): usize {
  for (let i = at + 1; i < end; i++) {
    let c = load<u8>(i);
    if (c == 0x22) return i + 1;
    if (c < 0x20) return 0;
    if (c != 0x5c) continue;
    if (++i >= end) return 0;
    c = load<u8>(i);
    if (c == 0x75) {
      if (i + 4 >= end) return 0;
      for (const stop = i + 4; i < stop; ) {
        c = load<u8>(++i);
        if (!digit(c) && !((c | 0x20) >= 0x61 && (c | 0x20) <= 0x66)) return 0;
      }
    } else if (c != 0x22 && c != 0x5c && c != 0x2f && c != 0x62 && c != 0x66 && c != 0x6e && c != 0x72 && c != 0x74) return 0;
  }
  return 0;
}

/** Passes a number; 0 when there is none. */
export function numberAt(at: usize, end: usize): usize {
  let i = at;
  if (i < end && load<u8>(i) == 0x2d) i++;
  const zero = i < end && load<u8>(i) == 0x30;
  const whole = digits(i, end);
  if (whole == 0 || (zero && whole > i + 1)) return 0;
  i = whole;
  if (i < end && load<u8>(i) == 0x2e) {
    i = digits(i + 1, end);
    if (i == 0) return 0;
  }
  if (i < end && (load<u8>(i) | 0x20) == 0x65) {
    i++;
    if (i < end && (load<u8>(i) == 0x2b || load<u8>(i) == 0x2d)) i++;
    i = digits(i, end);
  }
  return i;
}

/** Passes digits; 0 when there are none. */
function digits(at: usize, end: usize): usize {
  let i = at;
  while (i < end && digit(load<u8>(i))) i++;
  return i > at ? i : 0;
}

function digit(c: u8): bool {
  return c >= 0x30 && c <= 0x39;
}
