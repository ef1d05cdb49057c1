import { decode } from "./strings";
import { Cursor } from "./text";
import { Writer } from "./writer";

/** The fields of an object, each name once: the last one of a name counts. */
class Fields {
  readonly names: string[] = [];
  readonly at: usize[] = [];
  readonly end: usize[] = [];
  private places: Map<string, i32> = new Map<string, i32>();

  /** Where a field is; -1 when there is none. */
  index(name: string): i32 {
    return this.places.has(name) ? this.places.get(name) : -1;
  }

  /** Reads the fields; false when it is no object. */
  read(at: usize, end: usize): bool {
    const c = new Cursor(at, end);
    while (c.next()) {
      const stop = c.pass();
      if (stop == 0) return false;
      const name = decode(c.keyAt, c.keyEnd);
      let i = this.index(name);
      if (i < 0) {
        i = this.names.length;
        this.places.set(name, i);
        this.names.push(name);
        this.at.push(0);
        this.end.push(0);
      }
      this.at[i] = c.value;
      this.end[i] = stop;
    }
    return c.isObject && c.stop == end;
  }
}

/**
 * Writes the operations of a JSON patch (RFC 6902) that make what is after of what was
 * before, at a path, without the bracket that ends it. Objects are compared field by field;
 * anything else is replaced as a whole, and what is written the same is the same.
 */
export function changes(out: Writer, path: string, at: usize, end: usize, newAt: usize, newEnd: usize): void {
  if (end - at == newEnd - newAt && memory.compare(at, newAt, end - at) == 0) return;
  const was = new Fields(), is = new Fields();
  if (!was.read(at, end) || !is.read(newAt, newEnd)) {
    operation(out, "replace", path, newAt, newEnd);
    return;
  }
  for (let i = 0; i < was.names.length; i++) {
    const place = path + "/" + pointer(was.names[i]), now = is.index(was.names[i]);
    if (now < 0) operation(out, "remove", place, 0, 0);
    else changes(out, place, was.at[i], was.end[i], is.at[now], is.end[now]);
  }
  for (let i = 0; i < is.names.length; i++) {
    if (was.index(is.names[i]) < 0) operation(out, "add", path + "/" + pointer(is.names[i]), is.at[i], is.end[i]);
  }
}

/** A field's name as a part of a JSON pointer (RFC 6901). */
function pointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function operation(out: Writer, op: string, path: string, at: usize, end: usize): void {
  out.text(out.length == 0 ? '[{"op":"' : ',{"op":"');
  out.text(op);
  out.text('","path":');
  out.quote(path);
  if (at != 0) {
    out.text(',"value":');
    out.copy(at, end);
  }
  out.byte(0x7d);
}
