// Durations as Go writes them, such as `1h30m` or `-1.5s`, of at most 64 bits.

/** A unit in nanoseconds; 0 when it is none. */
export function unitOf(name: string): i64 {
  if (name == "ns") return 1;
  if (name == "us" || name == "µs" || name == "μs") return 1000;
  if (name == "ms") return 1000000;
  if (name == "s") return 1000000000;
  if (name == "m") return 60000000000;
  return name == "h" ? 3600000000000 : 0;
}

/** Tells whether a text is an integer of at most 64 bits. */
export function isCount(s: string): bool {
  const minus = s.startsWith("-");
  let n: i64 = 0;
  for (let i = minus ? 1 : 0; i < s.length; i++) {
    const digit = <i64>(s.charCodeAt(i) - 0x30);
    if (digit < 0 || digit > 9 || n < (i64.MIN_VALUE + digit) / 10) return false;
    n = n * 10 - digit;
  }
  return s.length > (minus ? 1 : 0) && (minus || n > i64.MIN_VALUE);
}

/** What was counted last. */
export let counted: i64 = 0;

/** Counts how many units a duration has; false when it is none, or has a rest. */
export function count(s: string, unit: i64): bool {
  const minus = s.startsWith("-");
  let rest = minus || s.startsWith("+") ? s.substring(1) : s;
  counted = 0;
  if (rest == "0") return true;
  let sum: i64 = 0; // below zero, where there is one number more
  do {
    const number = span(rest, 0, true), end = span(rest, number, false);
    const part = nanoseconds(rest.substring(0, number), unitOf(rest.substring(number, end)));
    if (part == 1 || sum < i64.MIN_VALUE - part) return false;
    sum += part;
    rest = rest.substring(end);
  } while (rest != "");
  if (sum % unit != 0 || (!minus && sum == i64.MIN_VALUE)) return false;
  counted = minus ? sum / unit : -(sum / unit);
  return true;
}

/** Where digits and dots end, or what is none. */
function span(s: string, from: i32, digits: bool): i32 {
  let i = from;
  for (; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (((c >= 0x30 && c <= 0x39) || c == 0x2e) != digits) break;
  }
  return i;
}

/** A decimal number of units, below zero, what is less than a nanosecond cut off; 1 when it is none, or too large. */
function nanoseconds(number: string, unit: i64): i64 {
  const dot = number.indexOf("."), whole = dot < 0 ? number : number.substring(0, dot);
  const part = dot < 0 ? "" : number.substring(dot + 1);
  if (unit == 0 || (whole == "" && part == "") || part.includes(".")) return 1;
  let n: i64 = 0;
  for (let i = 0; i < whole.length; i++) {
    const digit = <i64>(whole.charCodeAt(i) - 0x30);
    if (n < (i64.MIN_VALUE / unit + digit) / 10) return 1;
    n = n * 10 - digit;
  }
  let rest: i64 = 0; // of the digits behind the dot, from the last
  for (let i = min(part.length, 18) - 1; i >= 0; i--) rest = (rest + <i64>(part.charCodeAt(i) - 0x30) * unit) / 10;
  n *= unit;
  return n < i64.MIN_VALUE + rest ? 1 : n - rest;
}
