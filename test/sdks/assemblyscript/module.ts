// The module of test/sdks in AssemblyScript: it must not do more than those in other languages.
import { configure, convert, get, JsonObject, kind, mutate, prioritize, Review, validate } from "wasmgate-sdk";

export * from "wasmgate-sdk/exports";

let suffix = "";

kind("Gadget")
  .convert("v1alpha1", "v1beta1", (o) => o.move(["spec", "size"], ["spec", "dimensions", "size"]))
  .convert("v1beta1", "v1", toV1)
  .convert("v1", "v1beta1", (o) => {
    o.delete(["spec", "list", "0"]);
    o.move(["spec", "list", "0"], ["spec", "first"]);
  });

convert("v1", "v2", (o) => {
  const whole = o.string("hostPort"), colon = whole.indexOf(":");
  if (colon < 0) return o.fail("hostPort has no colon");
  o.delete("hostPort");
  o.set("host", whole.substring(0, colon));
  o.set("port", whole.substring(colon + 1));
});

mutate((r) => {
  const object = r.object;
  if (object == null || !object.has(["metadata", "labels", "team"])) return; // which validate judges
  const team = object.string(["metadata", "labels", "team"]);
  const found = get("", "configmaps", "policies", team), known = found.object, refused = found.refused;
  if (refused != null) return r.refuse(refused);
  if (known != null) r.annotate("lead", known.string(["data", "lead"]));
  else r.warn("nobody knows " + team);
  r.annotate("by", r.request.string(["userInfo", "username"]));
  if (r.dryRun) return;
  object.delete(["metadata", "annotations", "drop/this"]);
  object.set(["metadata", "labels", "tier"], "standard");
  object.set(["spec", "n"], 7);
});

validate((r) => {
  const object = r.object, old = r.old;
  if (object == null) r.warn(r.operation + " of " + (old == null ? "" : old.name));
  else if (!object.has(["metadata", "labels", "team"])) r.refuse(object.kind + " " + object.name + ' needs a label "team"');
});

prioritize((group, versions) => group == "reversed.example.com" ? versions.reverse() : versions);

configure('{"type":"object","required":["suffix"],"properties":{"suffix":{"type":"string"}}}', (config) => {
  suffix = config.string("suffix");
  if (suffix == "refused") config.fail("such a suffix is refused");
});

function toV1(o: JsonObject): void {
  const label = o.string(["spec", "label"]), next = o.int(["spec", "count"]) + 1;
  const no = !o.bool(["spec", "yes"]), half = o.float(["spec", "ratio"]) < 1;
  o.set(["spec", "label"], label + suffix);
  o.set(["spec", "next"], next);
  o.set(["spec", "no"], no);
  o.set(["spec", "half"], half);
  o.set(["spec", "items"], o.len(["spec", "list"]));
  o.set(["metadata", "annotations", 'a/b~"\\c'], "☂ \x01 \n 😀");
  o.delete(["spec", "old"]);
  o.each(["spec", "list"], (item, i) => {
    if (item.has("fail")) return item.fail("item " + i.toString() + " cannot be converted");
    item.move("key", "name");
  });
}
