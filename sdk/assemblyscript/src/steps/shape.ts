import { JsonObject } from "../object";
import { names } from "../path";
import { isJSON } from "./json";
import { beginsWith, Step, take } from "./step";

class Each extends Step {
  constructor(private list: string[], private step: Step) {
    super();
  }

  run(o: JsonObject, item: string[]): void {
    const list = item.concat(this.list);
    const keys = o.keys(list).sort();
    const isObject = o.type(list) == "object", length = o.len(list);
    for (let i = 0; i < length && o.failed == null; i++) {
      this.step.run(o, list.concat([isObject ? keys[i] : i.toString()]));
    }
  }
}

/** Does a step to every item of a list, or every value of a map. */
export function each<P>(list: P, step: Step): Step {
  return new Each(names<P>(list), step);
}

class Move extends Step {
  constructor(private from: string[], private to: string[]) {
    super();
  }

  run(o: JsonObject, item: string[]): void {
    const from = item.concat(this.from), to = item.concat(this.to);
    if (!o.has(from)) return;
    o.move(from, to);
    // Where one place is in the other, what is around them is there to stay.
    if (o.failed == null && !beginsWith(this.to, this.from) && !beginsWith(this.from, this.to)) take(o, item, this.from);
  }
}

/** Puts a field at another place. */
export function move<P, Q>(from: P, to: Q): Step {
  return new Move(names<P>(from), names<Q>(to));
}

/** Gives a field another name, where it is. */
export function rename<P>(place: P, name: string): Step {
  const from = names<P>(place);
  return new Move(from, from.slice(0, from.length - 1).concat([name]));
}

class Remove extends Step {
  constructor(private place: string[]) {
    super();
  }

  run(o: JsonObject, item: string[]): void {
    if (o.has(item.concat(this.place))) take(o, item, this.place);
  }
}

/** Drops a field. */
export function remove<P>(place: P): Step {
  return new Remove(names<P>(place));
}

class Keep extends Step {
  constructor(private place: string[], private annotation: string) {
    super();
  }

  run(o: JsonObject, item: string[]): void {
    const raw = o.raw(item.concat(this.place));
    if (raw == null) return;
    take(o, item, this.place);
    o.set(["metadata", "annotations", this.annotation], raw);
  }
}

/** Puts a field into an annotation, from where `restore` takes it. */
export function keep<P>(place: P, annotation: string): Step {
  return new Keep(names<P>(place), annotation);
}

class Restore extends Step {
  constructor(private place: string[], private annotation: string) {
    super();
  }

  run(o: JsonObject, item: string[]): void {
    const kept = ["metadata", "annotations", this.annotation];
    if (o.type(kept) != "string") return;
    const text = o.string(kept);
    if (!isJSON(text)) return o.fail("the annotation " + this.annotation + " holds no JSON: remove it, or mend it");
    take(o, [], kept);
    o.setRaw(item.concat(this.place), text);
  }
}

/** Takes a field out of an annotation. */
export function restore<P>(place: P, annotation: string): Step {
  return new Restore(names<P>(place), annotation);
}
