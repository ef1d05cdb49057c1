import { floatAt } from "./decimal";
import { insert, Is, Node, Tree } from "./node";
import { names } from "./path";
import { decode, stringOf } from "./strings";
import { Cursor, space } from "./text";
import { numberAt, valid } from "./valid";
import { Writer } from "./writer";

/**
 * One JSON object. Fields are named by a path: `o.string("hostPort")`, or
 * `o.string(["spec", "host"])`. What is not touched stays exactly as it was, numbers
 * included. An object that is handed to a function is valid only during its call.
 */
export class JsonObject {
  constructor(
    /** Internal. */
    readonly tree: Tree,
    /** Internal. */
    readonly root: Node,
  ) {}

  /** Reads an object; null when the text is none. */
  static parse(text: string): JsonObject | null {
    const o = JsonObject.any(text);
    return o != null && o.root.isObject ? o : null;
  }

  /** Internal: reads any value; null when the text is no JSON, or nested too deeply. */
  static any(text: string): JsonObject | null {
    const tree = new Tree();
    const at = tree.keep(text, false), end = tree.kept;
    return valid(at, end) ? new JsonObject(tree, tree.node(space(at, end), trim(at, end), null)) : null;
  }

  /** Internal: the object at the beginning of what was sent; null when there is none. */
  static of(at: usize, end: usize): JsonObject | null {
    const tree = new Tree(), root = tree.node(at, end, null);
    return tree.fill(root, at, end) != 0 && root.is == Is.Fields ? new JsonObject(tree, root) : null;
  }

  /** The object as it stands, as JSON. */
  get json(): string {
    return textOf(this.root);
  }

  /** The field apiVersion, empty when there is none. */
  get apiVersion(): string {
    return this.string("apiVersion");
  }

  /** The field kind, empty when there is none. */
  get kind(): string {
    return this.string("kind");
  }

  /** The field metadata.name, empty when there is none. */
  get name(): string {
    return this.string(["metadata", "name"]);
  }

  /** The field metadata.namespace, empty for objects of the whole cluster. */
  get namespace(): string {
    return this.string(["metadata", "namespace"]);
  }

  /** Internal: names the object in a message: `CronTab default/my-crontab`. */
  get described(): string {
    const namespace = this.namespace;
    return this.kind + " " + (namespace == "" ? "" : namespace + "/") + this.name;
  }

  /** What was wrong first, in this object or in one that is in it; null when nothing was. */
  get failed(): string | null {
    return this.tree.failed;
  }

  /** Says what is wrong: whatever needed this fails with this message. The first one counts. */
  fail(message: string): void {
    if (this.tree.failed == null) this.tree.failed = message;
  }

  private find<P>(path: P): Node | null {
    return this.tree.find(this.root, names<P>(path));
  }

  /** Tells whether a field is there, be it null. */
  has<P>(path: P): bool {
    return this.find<P>(path) != null;
  }

  /** What a field is: string, number, boolean, object, array or null; empty when it is not there. */
  type<P>(path: P): string {
    const n = this.find<P>(path);
    if (n == null) return "";
    if (n.is != Is.Text) return n.is == Is.Fields ? "object" : "array";
    const c: u8 = n.at < n.end ? load<u8>(n.at) : 0;
    if (c == 0x22) return "string";
    if (c == 0x7b) return "object";
    if (c == 0x5b) return "array";
    if (c == 0x74 || c == 0x66) return "boolean";
    return c == 0x6e ? "null" : "number";
  }

  /** The JSON of a field; null when it is not there. */
  raw<P>(path: P): string | null {
    const n = this.find<P>(path);
    return n == null ? null : textOf(n);
  }

  /** A field that is a string. */
  string<P>(path: P, otherwise: string = ""): string {
    const n = this.find<P>(path);
    const text: string | null = n == null || n.is != Is.Text ? null : stringOf(n.at, n.end);
    return text == null ? otherwise : text;
  }

  /** A field that is a bool. */
  bool<P>(path: P, otherwise: bool = false): bool {
    if (this.type<P>(path) != "boolean") return otherwise;
    return load<u8>(this.find<P>(path)!.at) == 0x74;
  }

  /** A field that is an integer that fits. */
  int<P>(path: P, otherwise: i64 = 0): i64 {
    const n = this.find<P>(path);
    if (n == null || n.is != Is.Text || n.at >= n.end) return otherwise;
    const minus = load<u8>(n.at) == 0x2d, begin = n.at + (minus ? 1 : 0);
    if (begin == n.end) return otherwise;
    let value: i64 = 0;
    for (let i = begin; i < n.end; i++) {
      const digit = <i64>load<u8>(i) - 0x30;
      // It grows below zero, where there is one number more.
      if (digit < 0 || digit > 9 || value < (i64.MIN_VALUE + digit) / 10) return otherwise;
      value = value * 10 - digit;
    }
    if (minus) return value;
    return value == i64.MIN_VALUE ? otherwise : -value;
  }

  /** A field that is a number, and no larger than a float can be. */
  float<P>(path: P, otherwise: f64 = NaN): f64 {
    const n = this.find<P>(path);
    if (n == null || n.is != Is.Text || numberAt(n.at, n.end) != n.end) return otherwise;
    const value = floatAt(n.at, n.end);
    return isFinite(value) ? value : otherwise;
  }

  /** How many items an array has, or fields an object; else 0. */
  len<P>(path: P): i32 {
    const n = this.find<P>(path);
    return n != null && this.tree.open(n) ? n.all.length : 0;
  }

  /** The names of the fields of an object. */
  keys<P>(path: P): string[] {
    const n = this.find<P>(path), all: string[] = [];
    if (n == null || !this.tree.open(n) || n.is != Is.Fields) return all;
    for (let i = 0; i < n.all.length; i++) all.push(decode(n.all[i].keyAt, n.all[i].keyEnd));
    return all;
  }

  /** An object that is in this one, and is changed with it; null when there is none. */
  object<P>(path: P): JsonObject | null {
    const n = this.find<P>(path);
    return n != null && n.isObject && this.tree.open(n) ? new JsonObject(this.tree, n) : null;
  }

  /** Calls `f` for every item of an array that is an object, with its index; items may be changed. It stops where one fails. */
  each<P>(path: P, f: (item: JsonObject, i: i32) => void): void {
    const n = this.find<P>(path);
    if (n == null || !this.tree.open(n) || n.is != Is.Items) return;
    const all = n.all.slice(0);
    for (let i = 0; i < all.length && this.tree.failed == null; i++) {
      if (all[i].isObject && this.tree.open(all[i])) f(new JsonObject(this.tree, all[i]), i);
    }
  }

  /**
   * Makes a field a text, a number or a bool. Objects on the way to it are made where they
   * are missing. It fails where something on the way is there and is not an object.
   */
  set<P, V>(path: P, value: V): void {
    if (isString<V>()) {
      const at = this.tree.keep(changetype<string>(value), true);
      this.put(names<P>(path), at, this.tree.kept);
    } else if (isBoolean<V>()) {
      this.plain(names<P>(path), value ? "true" : "false");
    } else if (isInteger<V>()) {
      this.plain(names<P>(path), value.toString());
    } else if (isFloat<V>()) {
      if (isFinite(value)) this.plain(names<P>(path), value.toString());
      else this.fail(names<P>(path).join(".") + " cannot be " + value.toString());
    } else {
      ERROR("a field is set to a string, a number or a bool; setRaw takes JSON");
    }
  }

  /** Makes a field what a JSON text says; see `set`. */
  setRaw<P>(path: P, json: string): void {
    const at = this.tree.keep(json, false), end = this.tree.kept;
    if (valid(at, end)) this.put(names<P>(path), space(at, end), trim(at, end));
    else this.fail("that is no JSON");
  }

  private plain(path: string[], text: string): void {
    const at = this.tree.keep(text, false);
    this.put(path, at, this.tree.kept);
  }

  private put(path: string[], at: usize, end: usize): void {
    const n = this.place(path);
    if (n == null) return;
    n.replace(at, end);
    n.parent!.touch();
  }

  /** The node of a field, made if need be; null, and a failure, where that cannot be. */
  private place(path: string[]): Node | null {
    let n = this.root;
    if (path.length == 0) {
      this.fail("the object itself cannot be replaced");
      return null;
    }
    for (let i = 0; i < path.length; i++) {
      if (n.isNull || (n.is == Is.Text && n.at == n.end)) n.empty();
      const child = this.tree.grow(n, path[i]);
      if (child == null) {
        this.fail(path.slice(0, i).join(".") + " is not an object");
        return null;
      }
      n = child;
    }
    return n;
  }

  /** Removes a field, if it is there. */
  delete<P>(path: P): void {
    this.take(names<P>(path));
  }

  /** Takes a field out of what holds it; null when it is not there. */
  private take(path: string[]): Node | null {
    const n = path.length > 0 ? this.tree.find(this.root, path) : null;
    if (n == null) return null;
    const holder = n.parent!;
    holder.all.splice(holder.all.indexOf(n), 1);
    holder.touch();
    n.parent = null;
    return n;
  }

  /**
   * Puts a field somewhere else in the object, unchanged, in the place of what is there.
   * Without the field nothing happens. It fails as `set` does, and then nothing has moved.
   */
  move<P, Q>(from: P, to: Q): void {
    const n = this.tree.find(this.root, names<P>(from));
    const holder: Node | null = n == null || n == this.root ? null : n.parent;
    if (n == null || holder == null) return;
    const i = holder.all.indexOf(n);
    holder.all.splice(i, 1);
    const place = this.place(names<Q>(to));
    if (place == null) {
      insert(holder.all, i, n);
      return;
    }
    holder.touch();
    place.become(n);
    n.parent = null;
    place.parent!.touch();
  }
}

function textOf(n: Node): string {
  if (!n.edited) return String.UTF8.decodeUnsafe(n.at, n.end - n.at);
  const out = new Writer();
  n.write(out);
  return String.UTF8.decodeUnsafe(out.at, out.length);
}

/** Where a valid text ends, without the spaces behind it. */
function trim(at: usize, end: usize): usize {
  while (end > at && load<u8>(end - 1) <= 0x20) end--;
  return end;
}
