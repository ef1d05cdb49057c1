import { floatAt } from "../decimal";
import { encode, sizeOf } from "../strings";
import { numberAt, valid } from "../valid";

/** Tells whether a text is JSON. */
export function isJSON(text: string): bool {
  const at = copy(text), is = valid(at, end);
  heap.free(at);
  return is;
}

/** Tells whether a text is a number of JSON, and no larger than a float can be. */
export function isNumber(text: string): bool {
  const at = copy(text), is = numberAt(at, end) == end && isFinite(floatAt(at, end));
  heap.free(at);
  return is;
}

let end: usize = 0;

function copy(text: string): usize {
  const at = heap.alloc(sizeOf(text, false));
  end = encode(at, text, false);
  return at;
}
