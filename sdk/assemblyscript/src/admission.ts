import { changes } from "./changes";
import { Judge, mutates, validates } from "./module";
import { Node } from "./node";
import { JsonObject } from "./object";
import { Review } from "./review";
import { space } from "./text";
import { Writer } from "./writer";

const NO_REVIEW = "the request is not an AdmissionReview";

/** Answers an AdmissionReview. */
export function handleAdmission(at: usize, end: usize, out: Writer): void {
  const sent = JsonObject.of(space(at, end), end);
  const patch = new Writer();
  const r: Review | null = sent == null ? null : reviewOf(sent);
  const why: string | null = r == null ? NO_REVIEW : judge(r, patch);
  out.clear();
  out.text('{"kind":"AdmissionReview","apiVersion":');
  rawOf(sent, ["apiVersion"], '"admission.k8s.io/v1"', out);
  out.text(',"response":{"uid":');
  rawOf(sent, ["request", "uid"], '""', out);
  if (why != null) {
    out.text(',"allowed":false,"status":{"code":403,"reason":"Forbidden","message":');
    out.quote(why);
    out.byte(0x7d);
  } else {
    out.text(',"allowed":true');
    if (patch.length > 0) {
      out.text(',"patchType":"JSONPatch","patch":"');
      base64(patch, out);
      out.byte(0x22);
    }
  }
  if (r != null) said(r, out);
  out.text("}}");
}

/** Writes the JSON of a field, or other JSON where it is not there. */
export function rawOf(o: JsonObject | null, path: string[], otherwise: string, out: Writer): void {
  const n: Node | null = o == null ? null : o.tree.find(o.root, path);
  if (n == null) out.text(otherwise);
  else n.write(out);
}

function reviewOf(sent: JsonObject): Review | null {
  const inner = sent.tree.find(sent.root, ["request"]);
  const request: JsonObject | null = inner == null ? null : JsonObject.of(inner.at, inner.end);
  if (request == null) return null;
  const r = new Review(request);
  const object = nodeOf(request, "object"), old = nodeOf(request, "oldObject");
  if (object != null) r.object = JsonObject.of(object.at, object.end);
  if (old != null) r.old = JsonObject.of(old.at, old.end);
  return (object != null && r.object == null) || (old != null && r.old == null) ? null : r;
}

/** The node of a field that is not null. */
function nodeOf(o: JsonObject, name: string): Node | null {
  const n = o.tree.find(o.root, [name]);
  return n == null || n.isNull ? null : n;
}

/** Judges a write, and returns why it is refused; null when it is not. Writes the patch. */
function judge(r: Review, patch: Writer): string | null {
  const change: Judge | null = mutates, check: Judge | null = validates;
  if (change == null && check == null) return "this module judges no writes: it was built without mutate and validate";
  if (change != null) {
    change(r);
    if (r.refused != null) return r.refused;
    const object = r.object, sent = nodeOf(r.request, "object");
    if (object != null && sent != null && object.root.edited) {
      const after = new Writer();
      object.root.write(after);
      changes(patch, "", sent.at, sent.end, after.at, after.end);
      if (patch.length > 0) patch.byte(0x5d);
    }
  }
  if (check != null) check(r);
  return r.refused;
}

/** Writes the warnings and annotations. */
function said(r: Review, out: Writer): void {
  if (r.warnings.length > 0) {
    out.text(',"warnings":');
    list(r.warnings, out);
  }
  if (r.annotations.size == 0) return;
  const names = r.annotations.keys();
  out.text(',"auditAnnotations":{');
  for (let i = 0; i < names.length; i++) {
    if (i > 0) out.byte(0x2c);
    out.quote(names[i]);
    out.byte(0x3a);
    out.quote(r.annotations.get(names[i]));
  }
  out.byte(0x7d);
}

/** Writes texts as an array. */
export function list(all: string[], out: Writer): void {
  out.byte(0x5b);
  for (let i = 0; i < all.length; i++) {
    if (i > 0) out.byte(0x2c);
    out.quote(all[i]);
  }
  out.byte(0x5d);
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64(from: Writer, out: Writer): void {
  for (let i = from.at; i < from.end; i += 3) {
    const left = from.end - i;
    const three = (<u32>load<u8>(i) << 16) | (left > 1 ? <u32>load<u8>(i + 1) << 8 : 0) | (left > 2 ? <u32>load<u8>(i + 2) : 0);
    for (let k: u32 = 0; k < 4; k++) {
      out.byte(k <= <u32>left ? <u8>LETTERS.charCodeAt((three >> (18 - 6 * k)) & 63) : 0x3d);
    }
  }
}
