import { quoted } from "../configuration";
import { JsonObject } from "../object";
import { names } from "../path";
import { count, counted, isCount, unitOf } from "./duration";
import { isNumber } from "./json";
import { Step, text } from "./step";

/** A step that changes what is at one place. */
abstract class Value extends Step {
  constructor(protected place: string[]) {
    super();
  }

  run(o: JsonObject, item: string[]): void {
    this.change(o, item, item.concat(this.place));
  }

  /** Does it; `at` is the place of the item and that in it. */
  protected abstract change(o: JsonObject, item: string[], at: string[]): void;

  protected fail(o: JsonObject, what: string): void {
    o.fail(this.place.join(".") + what);
  }
}

class Replace extends Value {
  constructor(place: string[], private values: string[][]) {
    super(place);
  }

  protected change(o: JsonObject, item: string[], at: string[]): void {
    const s = text(o, item, this.place);
    if (s == null) return;
    let taken = false;
    for (let i = this.values.length - 1; i >= 0; i--) {
      if (this.values[i][0] == s) return o.set(at, this.values[i][1]);
      if (this.values[i][1] == s) taken = true;
    }
    if (taken) this.fail(o, " is " + quoted(s) + ", which would not come back");
  }
}

/** Gives values other names, each the second for the first. One that would not come back is refused. */
export function replace<P>(place: P, values: string[][]): Step {
  return new Replace(names<P>(place), values);
}

class Fill extends Value {
  constructor(place: string[], private json: string) {
    super(place);
  }

  protected change(o: JsonObject, item: string[], at: string[]): void {
    const around = this.place.slice(0, max(this.place.length - 1, 0));
    if (o.has(at) || (around.length > 0 && !o.has(item.concat(around)))) return;
    o.setRaw(at, this.json);
  }
}

/** Gives a field that is not there, in an object that is, a value, which is JSON. */
export function fill<P>(place: P, json: string): Step {
  return new Fill(names<P>(place), json);
}

class Empty extends Value {
  constructor(place: string[], private json: string) {
    super(place);
  }

  protected change(o: JsonObject, item: string[], at: string[]): void {
    const raw = o.raw(at);
    if (raw != null && raw == this.json) o.delete(at);
  }
}

/** Takes a value away: what undoes `fill`. */
export function empty<P>(place: P, json: string): Step {
  return new Empty(names<P>(place), json);
}

class ToText extends Value {
  protected change(o: JsonObject, item: string[], at: string[]): void {
    const type = o.type(at), raw = o.raw(at);
    if (raw == null || type == "null") return;
    if (type == "number" || type == "boolean") o.set(at, raw);
    else this.fail(o, " is no number and no bool");
  }
}

/** Makes a text of a number or a bool. */
export function toText<P>(place: P): Step {
  return new ToText(names<P>(place));
}

class ToValue extends Value {
  constructor(place: string[], private kind: string) {
    super(place);
  }

  protected change(o: JsonObject, item: string[], at: string[]): void {
    const s = text(o, item, this.place);
    if (s == null) return;
    if (this.is(s)) o.setRaw(at, s);
    else this.fail(o, " is " + quoted(s) + ", which is no " + this.kind);
  }

  private is(s: string): bool {
    if (this.kind == "boolean") return s == "true" || s == "false";
    return isNumber(s) && (this.kind != "integer" || isCount(s));
  }
}

/** Makes a value of a text: `kind` is integer, boolean or number. */
export function toValue<P>(place: P, kind: string): Step {
  return new ToValue(names<P>(place), kind);
}

class ToDuration extends Value {
  constructor(place: string[], private unit: string) {
    super(place);
  }

  protected change(o: JsonObject, item: string[], at: string[]): void {
    const raw = o.raw(at);
    if (raw == null || o.type(at) == "null") return;
    if (isCount(raw)) o.set(at, raw + this.unit);
    else this.fail(o, " is not a number");
  }
}

/** Makes `30s` of 30. */
export function toDuration<P>(place: P, unit: string): Step {
  return new ToDuration(names<P>(place), unit);
}

class ToCount extends Value {
  constructor(place: string[], private unit: string) {
    super(place);
  }

  protected change(o: JsonObject, item: string[], at: string[]): void {
    const s = text(o, item, this.place);
    if (s == null) return;
    const unit = unitOf(this.unit);
    if (unit == 0) return o.fail(quoted(this.unit) + " is no unit of durations");
    if (count(s, unit)) o.set(at, counted);
    else this.fail(o, " is no duration in " + this.unit + " that can be written as a number");
  }
}

/** Makes 30 of `30s`: what undoes `toDuration`. */
export function toCount<P>(place: P, unit: string): Step {
  return new ToCount(names<P>(place), unit);
}

class ToList extends Value {
  protected change(o: JsonObject, item: string[], at: string[]): void {
    const raw = o.raw(at);
    if (raw != null) o.setRaw(at, "[" + raw + "]");
  }
}

/** Makes a list with one item of a value. */
export function toList<P>(place: P): Step {
  return new ToList(names<P>(place));
}

class FromList extends Value {
  protected change(o: JsonObject, item: string[], at: string[]): void {
    if (o.type(at) != "array") return;
    const length = o.len(at);
    if (length == 1) o.move(at.concat(["0"]), at);
    else this.fail(o, " has " + length.toString() + " items, and the other version holds one");
  }
}

/** Takes the one item out of a list: what undoes `toList`. */
export function fromList<P>(place: P): Step {
  return new FromList(names<P>(place));
}
