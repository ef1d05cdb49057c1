import { JsonObject } from "wasmgate-sdk";
import { each, empty, fill, fromList, join, keep, move, remove, rename, replace, restore, split, Step, toCount, toDuration, toList, toText, toValue } from "wasmgate-sdk/steps";

const wrong: string[] = [];

/** Does a step to the spec of an object, and compares what is made of it, or the error. */
function check(step: Step, spec: string, want: string): void {
  const o = JsonObject.parse('{"metadata":{"name":"a"},"spec":' + spec + "}")!;
  step.run(o, []);
  const made = o.raw("spec"), kept = o.raw(["metadata", "annotations"]);
  let got = (made == null ? "" : made) + (kept == null ? "" : " " + kept);
  if (o.failed != null) got = o.failed!;
  if (got != want) wrong.push(spec + " became " + got + ", want " + want);
}

const A = ["spec", "a"], PARTS = [["spec", "h"], ["spec", "p"]], HP = ["spec", "hp"];

/** Returns what is wrong. */
export function steps(): string[] {
  shapes();
  values();
  counts();
  restored();
  return wrong;
}

function shapes(): void {
  check(rename(A, "b"), '{"a":1.50,"c":2}', '{"b":1.50,"c":2}');
  check(move(["spec", "a", "b"], ["spec", "c"]), '{"a":{"b":[ 1 ]},"d":0}', '{"c":[ 1 ],"d":0}');
  check(move(A, ["spec", "a", "b"]), '{"a":1}', '{"a":{"b":1}}');
  check(move(["spec", "a", "b"], A), '{"a":{"b":1}}', '{"a":1}');
  check(move(["spec", "no"], A), '{"a":1}', '{"a":1}');
  check(move(A, ["spec", "b", "c"]), '{"a":1,"b":"text"}', "spec.b is not an object");
  check(remove(["spec", "a", "b"]), '{"a":{"b":1}}', "");
  check(remove(["spec", "a", "b"]), '{"a":{"b":1,"c":2}}', '{"a":{"c":2}}');
  check(keep(A, "k/a"), '{"a":{"x":1},"b":2}', '{"b":2} {"k/a":"{\\"x\\":1}"}');
  check(split(HP, ":", true, PARTS), '{"hp":"[::1]:80"}', '{"h":"[::1]","p":"80"}');
  check(split(HP, ":", false, PARTS), '{"hp":"a:b:c"}', '{"h":"a","p":"b:c"}');
  check(split(HP, ":", false, PARTS), '{"hp":"a"}', '{"h":"a"}');
  check(split(HP, ":", true, [HP, ["spec", "p"]]), '{"hp":"a:b"}', '{"hp":"a","p":"b"}');
  check(split(HP, ":", true, [["spec", "hp", "h"], ["spec", "p"]]), '{"hp":"a:b"}', '{"hp":{"h":"a"},"p":"b"}');
  check(split(["spec", "hp", "x"], ":", true, [HP, ["spec", "p"]]), '{"hp":{"x":"a:b"}}', '{"hp":"a","p":"b"}');
  check(split(HP, ":", false, [["spec", "h"], HP]), '{"hp":"a"}', '{"h":"a"}');
  check(split(HP, ":", false, PARTS), '{"hp":1}', "spec.hp is not a string");
  check(split(HP, ":", false, PARTS), '{"hp":null}', '{"hp":null}');
  check(join(HP, ":", true, PARTS), '{"h":"[::1]","p":"80"}', '{"hp":"[::1]:80"}');
  check(join(HP, ":", true, PARTS), "{}", "{}");
  check(join(HP, ":", false, PARTS), '{"h":"a:b","p":"c"}', "the separator is in one of the parts of spec.hp, so that they could not be told from each other again");
  check(join(HP, ":", true, PARTS), '{"p":"c"}', "spec.p is there without spec.h");
  check(each(["spec", "l"], rename("a", "b")), '{"l":[{"a":1},2,{"c":3}]}', '{"l":[{"b":1},2,{"c":3}]}');
  check(each(["spec", "l"], each("k", rename("a", "b"))), '{"l":[{"k":[{"a":1}]},{"k":{"x":{"a":2}}}]}', '{"l":[{"k":[{"b":1}]},{"k":{"x":{"b":2}}}]}');
  check(each(["spec", "m"], toText([] as string[])), '{"m":{"b":1,"a":true}}', '{"m":{"b":"1","a":"true"}}');
}

function values(): void {
  const other = [["x", "y"], ["y", "z"]];
  check(replace(A, other), '{"a":"x"}', '{"a":"y"}');
  check(replace(A, other), '{"a":"z"}', 'spec.a is "z", which would not come back');
  check(replace(A, other), '{"a":"w"}', '{"a":"w"}');
  check(fill(A, "[1]"), "{}", '{"a":[1]}');
  check(fill(A, "[1]"), '{"a":null}', '{"a":null}');
  check(fill(["spec", "b", "a"], "1"), "{}", "{}");
  check(empty(A, "[1]"), '{"a":[1]}', "{}");
  check(empty(A, "[1]"), '{"a":[2]}', '{"a":[2]}');
  check(toText(A), '{"a":1.50}', '{"a":"1.50"}');
  check(toText(A), '{"a":[]}', "spec.a is no number and no bool");
  check(toValue(A, "integer"), '{"a":"12"}', '{"a":12}');
  check(toValue(A, "integer"), '{"a":"+1"}', 'spec.a is "+1", which is no integer');
  check(toValue(A, "integer"), '{"a":"9223372036854775808"}', 'spec.a is "9223372036854775808", which is no integer');
  check(toValue(A, "number"), '{"a":"1.50"}', '{"a":1.50}');
  check(toValue(A, "number"), '{"a":"1e999"}', 'spec.a is "1e999", which is no number');
  check(toValue(A, "number"), '{"a":"[1]"}', 'spec.a is "[1]", which is no number');
  check(toValue(A, "boolean"), '{"a":"true"}', '{"a":true}');
  check(toList(A), '{"a":{"b":1}}', '{"a":[{"b":1}]}');
  check(fromList(A), '{"a":[{"b":1}]}', '{"a":{"b":1}}');
  check(fromList(A), '{"a":[1,2]}', "spec.a has 2 items, and the other version holds one");
}

function counts(): void {
  check(toDuration(A, "s"), '{"a":30}', '{"a":"30s"}');
  check(toDuration(A, "s"), '{"a":1.5}', "spec.a is not a number");
  check(toCount(A, "s"), '{"a":"1m30s"}', '{"a":90}');
  check(toCount(A, "x"), '{"a":"1s"}', '"x" is no unit of durations');
  const texts = ["1h30m", "-1.5s", "0", "+0", ".5ms", "2us", "2µs", "1.0000000009999999999s", "2562047h47m16.854775807s", "-2562047h47m16.854775808s"];
  const wants = ["5400000000000", "-1500000000", "0", "0", "500000", "2000", "2000", "1000000000", "9223372036854775807", "-9223372036854775808"];
  for (let i = 0; i < texts.length; i++) check(toCount(A, "ns"), '{"a":"' + texts[i] + '"}', '{"a":' + wants[i] + "}");
  const none = ["", "1", "s", "1x", "1.2.3s", ".s", "9999999999h", "1é", "2562047h47m16.854775808s", "-2562047h47m16.854775809s", "1s "];
  for (let i = 0; i < none.length; i++) check(toCount(A, "ns"), '{"a":"' + none[i] + '"}', "spec.a is no duration in ns that can be written as a number");
}

function restored(): void {
  const o = JsonObject.parse('{"metadata":{"name":"a"},"spec":{"a":[1.0],"b":2}}')!;
  const before = o.json, there = keep(A, "k"), back = restore(A, "k");
  there.run(o, []);
  if (o.string(["metadata", "annotations", "k"]) != "[1.0]" || o.has(A)) wrong.push("kept: " + o.json);
  back.run(o, []);
  if (o.failed != null || o.json != before) wrong.push("restored: " + o.json + ", want " + before);
  o.set(["metadata", "annotations", "k"], "[1.0");
  back.run(o, []);
  if (o.failed != "the annotation k holds no JSON: remove it, or mend it") wrong.push("restored what is no JSON: " + o.json);
}
