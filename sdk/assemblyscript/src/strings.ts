// Strings of JSON, which are UTF-8, and those of the language, which are UTF-16.

/** Decodes what is between the quotes of a string. Lone surrogates become U+FFFD, as in Go's encoding/json, and so does what is no UTF-8. */
export function decode(at: usize, end: usize): string {
  let plain = true;
  for (let i = at; i < end && plain; i++) {
    const c = load<u8>(i);
    plain = c < 0x80 && c != 0x5c;
  }
  const length = plain ? end - at : units(at, end, 0);
  const text = changetype<string>(__new(length << 1, idof<string>()));
  let to = changetype<usize>(text);
  if (!plain) {
    units(at, end, to);
    return text;
  }
  for (let i = at; i < end; i++, to += 2) store<u16>(to, load<u8>(i));
  return text;
}

/** Decodes a whole value; null when it is no string. */
export function stringOf(at: usize, end: usize): string | null {
  if (end < at + 2 || load<u8>(at) != 0x22) return null;
  return decode(at + 1, end - 1);
}

/** What the last character was, and where it ended. */
let rune: u32 = 0;
let after: usize = 0;

/** Counts the units of a string, and stores them if there is a place for them. */
function units(at: usize, end: usize, to: usize): usize {
  let count: usize = 0;
  while (at < end) {
    if (load<u8>(at) == 0x5c) escape(at, end);
    else character(at, end);
    at = after;
    const pair = rune >= 0x10000;
    if (to != 0) {
      const place = to + (count << 1);
      if (pair) {
        store<u16>(place, <u16>(0xd800 + ((rune - 0x10000) >> 10)));
        store<u16>(place, <u16>(0xdc00 + ((rune - 0x10000) & 0x3ff)), 2);
      } else store<u16>(place, <u16>rune);
    }
    count += pair ? 2 : 1;
  }
  return count;
}

/** Reads the escape at an address. */
function escape(at: usize, end: usize): void {
  rune = 0xfffd;
  after = at + 2;
  if (after > end) {
    after = end;
    return;
  }
  const c = load<u8>(at, 1);
  switch (c) {
    case 0x62: rune = 8; return;
    case 0x66: rune = 12; return;
    case 0x6e: rune = 10; return;
    case 0x72: rune = 13; return;
    case 0x74: rune = 9; return;
    case 0x75: break;
    default:
      if (c < 0x80) rune = c;
      else character(at + 1, end);
      return;
  }
  const high = hex(at + 2, end);
  if (high < 0) return;
  after = at + 6;
  if (high < 0xd800 || high > 0xdfff) {
    rune = <u32>high;
    return;
  }
  if (high > 0xdbff || at + 12 > end || load<u16>(at, 6) != 0x755c) return;
  const low = hex(at + 8, end);
  if (low < 0xdc00 || low > 0xdfff) return;
  rune = 0x10000 + ((<u32>high - 0xd800) << 10) + (<u32>low - 0xdc00);
  after = at + 12;
}

/** Reads four digits; -1 when there are none. */
function hex(at: usize, end: usize): i32 {
  if (at + 4 > end) return -1;
  let n = 0;
  for (let i: usize = 0; i < 4; i++) {
    const c = load<u8>(at + i), letter = c | 0x20;
    if (c >= 0x30 && c <= 0x39) n = (n << 4) | (c - 0x30);
    else if (letter >= 0x61 && letter <= 0x66) n = (n << 4) | (letter - 0x57);
    else return -1;
  }
  return n;
}

/** Reads the character at an address. */
function character(at: usize, end: usize): void {
  const c = <u32>load<u8>(at);
  rune = c;
  after = at + 1;
  if (c < 0x80) return;
  const more: usize = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
  rune = 0xfffd;
  if (c < 0xc2 || c > 0xf4 || at + more >= end) return;
  let n = c & (0x3f >> <u32>more);
  for (let i: usize = 1; i <= more; i++) {
    const next = <u32>load<u8>(at + i);
    if ((next & 0xc0) != 0x80) return;
    n = (n << 6) | (next & 0x3f);
  }
  if ((more == 2 && n < 0x800) || (more == 3 && (n < 0x10000 || n > 0x10ffff)) || (n >= 0xd800 && n <= 0xdfff)) return;
  rune = n;
  after = at + 1 + more;
}

/** Tells whether a key, as it is written, is a name. */
export function isKey(at: usize, end: usize, name: string): bool {
  const length = name.length;
  let i = 0;
  for (; at + i < end; i++) {
    const c = load<u8>(at + i);
    if (c == 0x5c || c >= 0x80) return decode(at, end) == name;
    if (i >= length || c != <u32>name.charCodeAt(i)) return false;
  }
  return i == length;
}

/** The character of a text at an index, of two units where it has them. */
// @ts-ignore: a decorator of the compiler
@inline
function runeAt(text: string, i: i32): u32 {
  const c = <u32>text.charCodeAt(i);
  if (c < 0xd800 || c > 0xdfff) return c;
  const next = i + 1 < text.length ? <u32>text.charCodeAt(i + 1) : 0;
  if (c > 0xdbff || next < 0xdc00 || next > 0xdfff) return 0xfffd;
  return 0x10000 + ((c - 0xd800) << 10) + (next - 0xdc00);
}

/** How many bytes a text has as a string of JSON, with its quotes, or else as UTF-8. */
export function sizeOf(text: string, quoted: bool): usize {
  let n: usize = quoted ? 2 : 0;
  for (let i = 0; i < text.length; i++) {
    const c = runeAt(text, i);
    if (c < 0x80) n += quoted ? escaped(c) : 1;
    else if (c < 0x800) n += 2;
    else if (c < 0x10000) n += 3;
    else {
      n += 4;
      i++;
    }
  }
  return n;
}

/** How many bytes a character below 0x80 has in a string of JSON. */
function escaped(c: u32): usize {
  if (c >= 0x20) return c == 0x22 || c == 0x5c ? 2 : 1;
  return c == 8 || c == 9 || c == 10 || c == 12 || c == 13 ? 2 : 6;
}

/** Stores a text as a string of JSON, with its quotes, or else as UTF-8, and returns where that ends. */
export function encode(to: usize, text: string, quoted: bool): usize {
  if (quoted) store<u8>(to++, 0x22);
  for (let i = 0; i < text.length; i++) {
    const c = runeAt(text, i);
    if (c < 0x80) {
      if (quoted && escaped(c) > 1) to = storeEscape(to, c);
      else store<u8>(to++, <u8>c);
      continue;
    }
    if (c < 0x800) {
      store<u8>(to++, <u8>(0xc0 | (c >> 6)));
    } else if (c < 0x10000) {
      store<u8>(to++, <u8>(0xe0 | (c >> 12)));
      store<u8>(to++, <u8>(0x80 | ((c >> 6) & 0x3f)));
    } else {
      store<u8>(to++, <u8>(0xf0 | (c >> 18)));
      store<u8>(to++, <u8>(0x80 | ((c >> 12) & 0x3f)));
      store<u8>(to++, <u8>(0x80 | ((c >> 6) & 0x3f)));
      i++;
    }
    store<u8>(to++, <u8>(0x80 | (c & 0x3f)));
  }
  if (quoted) store<u8>(to++, 0x22);
  return to;
}

const DIGITS = "0123456789abcdef";

function storeEscape(to: usize, c: u32): usize {
  store<u8>(to++, 0x5c);
  switch (c) {
    case 8: store<u8>(to++, 0x62); return to;
    case 9: store<u8>(to++, 0x74); return to;
    case 10: store<u8>(to++, 0x6e); return to;
    case 12: store<u8>(to++, 0x66); return to;
    case 13: store<u8>(to++, 0x72); return to;
  }
  if (c >= 0x20) {
    store<u8>(to++, <u8>c);
    return to;
  }
  store<u32>(to, 0x30303075); // u000
  store<u8>(to, <u8>(0x30 + (c >> 4)), 3);
  store<u8>(to, <u8>DIGITS.charCodeAt(<i32>(c & 15)), 4);
  return to + 5;
}
