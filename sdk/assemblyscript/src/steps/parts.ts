import { JsonObject } from "../object";
import { names } from "../path";
import { beginsWith, Step, take, text } from "./step";

/** A text, and the fields that its parts are. */
abstract class Parts extends Step {
  constructor(
    protected whole: string[],
    protected separator: string,
    protected fromEnd: bool,
    protected parts: string[][],
  ) {
    super();
  }

  /** Cuts a text into as many parts as there are fields, or fewer. */
  protected cut(s: string): string[] {
    const all: string[] = [], size = this.separator.length;
    while (all.length + 1 < this.parts.length) {
      const at = this.fromEnd ? s.lastIndexOf(this.separator) : s.indexOf(this.separator);
      if (at < 0) break;
      all.push(this.fromEnd ? s.substring(at + size) : s.substring(0, at));
      s = this.fromEnd ? s.substring(0, at) : s.substring(at + size);
    }
    all.push(s);
    return this.fromEnd ? all.reverse() : all;
  }
}

class Split extends Parts {
  run(o: JsonObject, item: string[]): void {
    const s = text(o, item, this.whole);
    if (s == null) return;
    const all = this.cut(s);
    o.delete(item.concat(this.whole)); // first, as a part may have its place, or one around or in it
    let own = false;
    for (let i = 0; i < all.length; i++) {
      o.set(item.concat(this.parts[i]), all[i]);
      own = own || beginsWith(this.parts[i], this.whole) || beginsWith(this.whole, this.parts[i]);
    }
    if (!own && o.failed == null) take(o, item, this.whole);
  }
}

/** Makes fields of the parts of a text. `fromEnd` searches separators from the end. */
export function split<P>(whole: P, separator: string, fromEnd: bool, parts: string[][]): Step {
  return new Split(names<P>(whole), separator, fromEnd, parts);
}

class Join extends Parts {
  run(o: JsonObject, item: string[]): void {
    const all = this.present(o, item);
    if (all.length == 0 || o.failed != null) return;
    const s = all.join(this.separator);
    if (!same(this.cut(s), all)) {
      return o.fail("the separator is in one of the parts of " + this.whole.join(".") + ", so that they could not be told from each other again");
    }
    for (let i = 0; i < this.parts.length; i++) take(o, item, this.parts[i]);
    o.set(item.concat(this.whole), s);
  }

  /** The texts of the parts that are there, which are the first ones. */
  private present(o: JsonObject, item: string[]): string[] {
    const all: string[] = [];
    for (let i = 0; i < this.parts.length; i++) {
      const s = text(o, item, this.parts[i]);
      if (s == null) continue;
      if (all.length < i) o.fail(this.parts[i].join(".") + " is there without " + this.parts[all.length].join("."));
      all.push(s);
    }
    return all;
  }
}

/**
 * Makes a text of fields: what undoes `split`. Fields without those before them are
 * refused, and so are parts that could not be told from each other again.
 */
export function join<P>(whole: P, separator: string, fromEnd: bool, parts: string[][]): Step {
  return new Join(names<P>(whole), separator, fromEnd, parts);
}

function same(a: string[], b: string[]): bool {
  if (a.length != b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (a[i] != b[i]) return false;
  }
  return true;
}
