// Numbers are read digit by digit, and rounded once: the compiler's parseFloat takes some
// that are large for others.

/** How many digits count; what is behind them can only decide between two neighbours. */
const MOST: i32 = 800;

/** A decimal number below 1, of so many digits, times a power of ten. */
class Decimal {
  private digits: StaticArray<u8> = new StaticArray<u8>(MOST + 32);
  private length: i32 = 0;
  private power: i32 = 0;
  /** There was something behind the last digit. */
  private more: bool = false;

  /** Reads a valid number without its sign. */
  constructor(at: usize, end: usize) {
    let dot = false, exponent = 0;
    for (; at < end; at++) {
      const c = load<u8>(at);
      if (c == 0x2e) dot = true;
      else if ((c | 0x20) == 0x65) {
        exponent = exponentAt(at + 1, end);
        break;
      } else if (c == 0x30 && this.length == 0) {
        if (dot) this.power--;
      } else {
        this.add(c - 0x30);
        if (!dot) this.power++;
      }
    }
    this.power += exponent;
  }

  private add(digit: u8): void {
    if (this.length < MOST) this.digits[this.length++] = digit;
    else if (digit != 0) this.more = true;
  }

  private trim(): void {
    while (this.length > 0 && this.digits[this.length - 1] == 0) this.length--;
  }

  /** Divides by a power of two of at most 32. */
  private divide(bits: i32): void {
    const all = this.digits, length = this.length;
    let rest: u64 = 0, begun = false;
    this.length = 0;
    for (let i = 0; i < length || rest != 0; i++) {
      rest = rest * 10 + <u64>(i < length ? all[i] : 0);
      const digit = <u8>(rest >> bits);
      rest &= (<u64>1 << bits) - 1;
      begun = begun || digit != 0;
      if (begun) this.add(digit);
      else this.power--;
      if (i >= length && this.length == MOST && rest != 0) {
        this.more = true;
        break;
      }
    }
    this.trim();
  }

  /** Multiplies by a power of two of at most 32. */
  private multiply(bits: i32): void {
    const all = this.digits;
    let carry: u64 = 0, added = 0;
    for (let i = this.length - 1; i >= 0; i--) {
      carry += <u64>all[i] << bits;
      all[i] = <u8>(carry % 10);
      carry /= 10;
    }
    for (let rest = carry; rest != 0; rest /= 10) added++;
    const length = this.length;
    memory.copy(changetype<usize>(all) + added, changetype<usize>(all), length);
    for (let i = added - 1; i >= 0; i--, carry /= 10) all[i] = <u8>(carry % 10);
    this.power += added;
    this.length = min(length + added, MOST);
    for (let i = this.length; i < length + added; i++) this.more = this.more || all[i] != 0;
    this.trim();
  }

  /** The float that is nearest. */
  float(): f64 {
    this.trim();
    if (this.length == 0 || this.power < -400) return 0;
    if (this.power > 400) return Infinity;
    let exponent = 0; // of two; it is brought to [1/2, 1)
    while (this.power > 0) {
      const bits = bitsOf(this.power);
      this.divide(bits);
      exponent += bits;
    }
    while (this.power < 0 || this.digits[0] < 5) {
      const bits = this.power < 0 ? bitsOf(-this.power) : 1;
      this.multiply(bits);
      exponent -= bits;
    }
    const lost = max(-1021 - exponent, 0); // of the 53 bits, as the number is so small
    if (lost > 53) return 0;
    for (let left = 53 - lost; left > 0; left -= 32) this.multiply(min(left, 32));
    return <f64>this.rounded() * 2.0 ** <f64>(exponent - 53 + lost); // all of it exact
  }

  /** The integer that is nearest, and of two the even one. */
  private rounded(): u64 {
    let n: u64 = 0;
    for (let i = 0; i < this.power; i++) n = n * 10 + <u64>(i < this.length ? this.digits[i] : 0);
    if (this.power < 0 || this.power >= this.length) return n;
    const half = this.digits[this.power] == 5 && this.power + 1 == this.length && !this.more;
    return half ? n + (n & 1) : n + <u64>(this.digits[this.power] >= 5);
  }
}

/** How far to shift a number that has so many digits before its dot, so as not to pass it. */
function bitsOf(digits: i32): i32 {
  return digits < 9 ? digits * 3 : 27;
}

function exponentAt(at: usize, end: usize): i32 {
  const minus = at < end && load<u8>(at) == 0x2d;
  let n = 0;
  for (; at < end; at++) {
    const digit = <i32>load<u8>(at) - 0x30;
    if (digit >= 0 && n < 100000) n = n * 10 + digit;
  }
  return minus ? -n : n;
}

/** Reads a valid number. What is too large becomes infinite. */
export function floatAt(at: usize, end: usize): f64 {
  const minus = at < end && load<u8>(at) == 0x2d;
  const value = new Decimal(minus ? at + 1 : at, end).float();
  return minus ? -value : value;
}
