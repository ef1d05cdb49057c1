import { JsonObject } from "../object";

/** Changes an object, or the item of a list that is at a place in it. */
export abstract class Step {
  /** Internal: does it, to what is at a place; the object fails where that cannot be. */
  abstract run(o: JsonObject, item: string[]): void;
}
