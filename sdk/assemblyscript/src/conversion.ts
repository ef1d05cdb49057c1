import { kindOf } from "./module";
import { Tree } from "./node";
import { JsonObject } from "./object";
import { Hop } from "./route";
import { stringOf, isKey } from "./strings";
import { Cursor, space } from "./text";
import { Writer } from "./writer";

const NO_REVIEW = "the request is not a ConversionReview";

/** What is being answered. Addresses are those of JSON in the request; 0 for what it has not. */
class Conversion {
  apiVersionAt: usize = 0;
  apiVersionEnd: usize = 0;
  uidAt: usize = 0;
  uidEnd: usize = 0;
  /** The version that is asked for. */
  desired: string | null = null;
  /** Where the objects are that were passed, as the version was not there yet. */
  objects: usize = 0;
  problem: string | null = null;
  /** The route of the object before, which is nearly always the next one's. */
  from: string = "";
  kind: string = "";
  route: Hop[] = [];

  constructor(private end: usize, private out: Writer) {}

  /** Converts objects as they are found, where the version comes before them, as it does. */
  read(at: usize): void {
    const review = new Cursor(at, this.end);
    while (review.next()) {
      if (isKey(review.keyAt, review.keyEnd, "request")) {
        if (review.passed(this.readRequest(review.value)) == 0) return this.fail(NO_REVIEW);
        continue;
      }
      const stop = review.pass();
      if (stop == 0) return this.fail(NO_REVIEW);
      if (isKey(review.keyAt, review.keyEnd, "apiVersion")) {
        this.apiVersionAt = review.value;
        this.apiVersionEnd = stop;
      }
    }
    if (review.stop == 0) return this.fail(NO_REVIEW);
    if (this.objects != 0) this.convertObjects(this.objects);
  }

  /** Returns where the request ends; 0 when it does not. */
  private readRequest(at: usize): usize {
    const request = new Cursor(at, this.end);
    while (request.next()) {
      const keyAt = request.keyAt, keyEnd = request.keyEnd, value = request.value;
      if (isKey(keyAt, keyEnd, "objects")) {
        if (this.desired == null) this.objects = value;
        else if (request.passed(this.convertObjects(value)) != 0) continue;
      }
      const stop = request.pass();
      if (stop == 0) return 0;
      if (isKey(keyAt, keyEnd, "uid")) {
        this.uidAt = value;
        this.uidEnd = stop;
      } else if (isKey(keyAt, keyEnd, "desiredAPIVersion")) {
        const desired = stringOf(value, stop);
        this.desired = desired == null ? "" : desired;
      }
    }
    return request.stop;
  }

  /** Converts the array of objects at an address, and returns where it ends; 0 with a problem. */
  private convertObjects(at: usize): usize {
    const desired = this.desired;
    if (desired == null || desired == "") return this.failed("the request has no desiredAPIVersion");
    const all = new Cursor(at, this.end);
    if (all.isObject) return this.failed(NO_REVIEW);
    const begin = this.out.length;
    while (all.next()) {
      if (this.out.length > begin) this.out.byte(0x2c);
      if (all.passed(this.convertOne(all.value, desired)) == 0) return 0;
    }
    return all.stop != 0 ? all.stop : this.failed(NO_REVIEW);
  }

  private convertOne(at: usize, desired: string): usize {
    tree.reset();
    const root = tree.node(at, at, null);
    if (load<u8>(at) != 0x7b) return this.failed("an element of objects is not an object");
    const stop = tree.fill(root, at, this.end);
    if (stop == 0) return this.failed(NO_REVIEW);
    const o = new JsonObject(tree, root);
    this.convert(o, desired);
    const problem = o.failed;
    if (problem != null) return this.failed(o.described + ": " + problem);
    root.write(this.out);
    return stop;
  }

  private convert(o: JsonObject, desired: string): void {
    const from = o.apiVersion, kind = o.kind;
    if (from == desired) return;
    if (this.route.length == 0 || from != this.from || kind != this.kind) {
      this.route = routeOf(o, from, desired, kind);
      this.from = from;
      this.kind = kind;
    }
    for (let i = 0; i < this.route.length && o.failed == null; i++) {
      const hop = this.route[i];
      hop.run(o);
      const group = groupOf(desired);
      o.set("apiVersion", group == "" ? hop.to : group + "/" + hop.to);
    }
  }

  private fail(problem: string): void {
    if (this.problem == null) this.problem = problem;
  }

  private failed(problem: string): usize {
    this.fail(problem);
    return 0;
  }
}

/** The memory of objects that are converted, one after the other. */
const tree: Tree = new Tree();

/** Finds the way of an object to a version; without one the object fails. */
function routeOf(o: JsonObject, from: string, desired: string, kind: string): Hop[] {
  const group = groupOf(from), wanted = groupOf(desired);
  if (group != wanted) {
    o.fail("cannot convert from group " + group + " to group " + wanted);
    return [];
  }
  const own = kindOf(kind), any = kindOf("");
  const known = own != null ? own : any;
  const route: Hop[] = known == null ? [] : known.route(versionOf(from), versionOf(desired));
  if (route.length == 0) {
    o.fail("this module has no conversion from " + versionOf(from) + " to " + versionOf(desired));
  }
  return route;
}

function groupOf(apiVersion: string): string {
  return apiVersion.substring(0, max(apiVersion.indexOf("/"), 0));
}

function versionOf(apiVersion: string): string {
  return apiVersion.substring(apiVersion.indexOf("/") + 1);
}

/** Answers a ConversionReview. Conversions that fail give a review whose result is Failed. */
export function handleConversion(at: usize, end: usize, out: Writer): void {
  out.clear();
  out.reserve(end - at + 256); // most replies are about as long
  out.text('{"kind":"ConversionReview","response":{"convertedObjects":[');
  const c = new Conversion(end, out);
  c.read(space(at, end));
  const problem = c.problem;
  if (problem == null) {
    out.text('],"result":{"status":"Success"}');
  } else {
    out.clear();
    out.text('{"kind":"ConversionReview","response":{"result":{"status":"Failed","message":');
    out.quote(problem);
    out.byte(0x7d);
  }
  out.text(',"uid":');
  if (c.uidAt != 0) out.copy(c.uidAt, c.uidEnd);
  else out.text('""');
  out.text('},"apiVersion":');
  if (c.apiVersionAt != 0) out.copy(c.apiVersionAt, c.apiVersionEnd);
  else out.text('"apiextensions.k8s.io/v1"');
  out.byte(0x7d);
}
