import { Is, Node } from "../node";
import { JsonObject } from "../object";
import { stringOf } from "../strings";

/** Changes an object, or the item of a list that is at a place in it. */
export abstract class Step {
  /** Internal: does it, to what is at a place; the object fails where that cannot be. */
  abstract run(o: JsonObject, item: string[]): void;
}

/** The text at a place; null where there is none. The object fails where there is something else. */
export function text(o: JsonObject, item: string[], place: string[]): string | null {
  const n: Node | null = o.tree.find(o.root, item.concat(place));
  if (n == null || n.isNull) return null;
  const text = n.is == Is.Text ? stringOf(n.at, n.end) : null;
  if (text == null) o.fail(place.join(".") + " is not a string");
  return text;
}

/** Removes a field, and the objects around it that have nothing left. */
export function take(o: JsonObject, item: string[], place: string[]): void {
  o.delete(item.concat(place));
  for (let n = place.length - 1; n > 0; n--) {
    const around = item.concat(place.slice(0, n));
    if (o.type(around) != "object" || o.len(around) > 0) return;
    o.delete(around);
  }
}

/** Tells whether a path begins with another one. */
export function beginsWith(path: string[], other: string[]): bool {
  if (other.length > path.length) return false;
  for (let i = 0; i < other.length; i++) {
    if (path[i] != other[i]) return false;
  }
  return true;
}
