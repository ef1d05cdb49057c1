import { JsonObject } from "wasmgate-sdk";

const wrong: string[] = [];

function same(what: string, got: string, want: string): void {
  if (got != want) wrong.push(what + ": " + got + ", want " + want);
}

/** Returns what is wrong. */
export function fields(): string[] {
  reads();
  numbers();
  strings();
  writes();
  moves();
  inside();
  gone();
  refuses();
  return wrong;
}

function reads(): void {
  const o = JsonObject.parse('{ "a" : 1, "a": 2, "b\\u0063": {"x.y":[ null , true,"t" ]}, "n":null , "e":{}, "big":12345678901234567890.50 }')!;
  same("the first of a name", o.int("a").toString(), "1");
  same("an escaped key", o.bool(["bc", "x.y", "1"]).toString(), "true");
  same("an item", o.string(["bc", "x.y", "2"]), "t");
  same("no item", o.has(["bc", "x.y", "3"]).toString() + o.has(["bc", "x.y", "-1"]).toString() + o.has(["bc", "x.y", "4294967296"]).toString(), "falsefalsefalse");
  same("types", [o.type("a"), o.type("bc"), o.type(["bc", "x.y"]), o.type("n"), o.type("no"), o.type(["bc", "x.y", "1"])].join(), "number,object,array,null,,boolean");
  same("lengths", [o.len("bc"), o.len(["bc", "x.y"]), o.len("a"), o.len("e")].join(), "1,3,0,0");
  same("keys", o.keys([] as string[]).join(), "a,a,bc,n,e,big");
  same("a number as it is written", o.raw("big")!, "12345678901234567890.50");
  same("defaults", o.string("a", "x") + o.int("n", 7).toString() + o.bool("a", true).toString(), "x7true");
  same("what nobody changed", o.json.substring(0, 20), '{ "a" : 1, "a": 2, "');
  o.set("a", 3);
  same("what stands beside", o.raw(["bc", "x.y"])!, '[ null , true,"t" ]');
  same("the first is set", o.json, '{"a":3,"a": 2,"b\\u0063": {"x.y":[ null , true,"t" ]},"n":null,"e":{},"big":12345678901234567890.50}');
}

function numbers(): void {
  const o = JsonObject.parse('{"most":9223372036854775807,"least":-9223372036854775808,"over":9223372036854775808,"under":-9223372036854775809,"f":1.5,"e":1e3,"inf":1e400,"zero":-0.0,"s":"1"}')!;
  same("most", o.int("most").toString(), "9223372036854775807");
  same("least", o.int("least").toString(), "-9223372036854775808");
  same("no integers", [o.int("over", 1), o.int("under", 2), o.int("f", 3), o.int("e", 4), o.int("s", 5)].join(), "1,2,3,4,5");
  same("floats", [o.float("f"), o.float("e"), o.float("inf", 7), o.float("s", 8), 1 / o.float("zero")].join(), "1.5,1000.0,7.0,8.0,-Infinity");
  const odd = JsonObject.parse('{"a":1.7698034828971173e+52,"b":9007199254740993.00000000000000000001,"c":2.4703282292062328e-324,"d":1.7976931348623158e308,"e":0.000001e-310}')!;
  same("odd floats", [odd.float("a"), odd.float("b"), odd.float("c"), odd.float("d"), odd.float("e")].join(), "1.7698034828971173e+52,9007199254740994.0,5e-324,1.7976931348623157e+308,1e-316");
  o.set("i", i64.MIN_VALUE);
  o.set("u", u64.MAX_VALUE);
  o.set("x", 0.1);
  o.set("y", 1e300);
  same("what is set", [o.raw("i")!, o.raw("u")!, o.raw("x")!, o.raw("y")!].join(), "-9223372036854775808,18446744073709551615,0.1,1e+300");
  o.set("nan", NaN);
  same("NaN", o.failed!, "nan cannot be NaN");
}

function strings(): void {
  const o = JsonObject.parse('{"a":"\\ud83d\\ude00 \\u2602 \\" \\\\ \\/ \\b\\f\\n\\r\\t \\ud800 \\udc00x\\ud800\\u0041 é ☂ 😀"}')!;
  const text = o.string("a");
  same("escapes", text, '😀 ☂ " \\ / \b\f\n\r\t \ufffd \ufffdx\ufffdA é ☂ 😀');
  o.set("b", text);
  same("what is written", o.string("b"), text);
  o.set("c", "\x00\x1f\x7f" + String.fromCharCode(0xd800));
  same("odd characters", o.raw("c")!, '"\\u0000\\u001f\x7f\ufffd"');
  o.set('k"é', 1);
  same("an odd key", o.int('k"é').toString(), "1");
}

function writes(): void {
  const o = JsonObject.parse('{"a":{"d":1},"n":null,"z":[1,2,{"x":1}],"t":"text"}')!;
  o.set(["a", "c"], true);
  o.set(["a", "e", "f"], "x");
  o.set(["n", "m"], -1);
  o.set(["z", "0"], 9);
  o.setRaw(["z", "2", "y"], ' [ 1.50 ] ');
  o.delete(["z", "1"]);
  o.delete(["no", "such"]);
  same("changes", o.json, '{"a":{"c":true,"d":1,"e":{"f":"x"}},"n":{"m":-1},"z":[9,{"x":1,"y":[ 1.50 ]}],"t":"text"}');
  o.set(["z", "7"], 1);
  same("no such item", o.failed!, "z is not an object");
  const other = JsonObject.parse('{"t":"text"}')!;
  other.set(["t", "u", "v"], 1);
  same("on the way", other.failed! + other.json, 't is not an object{"t":"text"}');
}

function moves(): void {
  let o = JsonObject.parse('{"a":[1,{"b":2}],"c":"text"}')!;
  o.move(["a", "0"], ["c", "d"]);
  same("a move that fails", o.failed! + o.json, 'c is not an object{"a":[1,{"b":2}],"c":"text"}');
  o = JsonObject.parse('{"a":[1,{"b":2}],"c":"text"}')!;
  o.move("a", [] as string[]);
  same("to nowhere", o.failed! + o.json, 'the object itself cannot be replaced{"a":[1,{"b":2}],"c":"text"}');
  o = JsonObject.parse('{"a":{"b":{"c":1,"d":[2]}},"e":3}')!;
  o.set(["a", "b", "c"], 5);
  o.move(["a", "b"], "f");
  o.set(["f", "d", "0"], 6);
  same("what was changed before and after", o.json, '{"a":{},"e":3,"f":{"c":5,"d":[6]}}');
  o.move("f", ["f", "g"]);
  o.move(["f", "g", "c"], "a");
  same("into its own place", o.json, '{"a":5,"e":3,"f":{"g":{"d":[6]}}}');
}

function inside(): void {
  const o = JsonObject.parse('{"l":[{"a":1},2,{"a":3},{"bad":true},{"a":4}],"o":{"p":{"q":1}}}')!;
  o.object(["o", "p"])!.set("q", 2);
  same("an object in it", o.raw("o")!, '{"p":{"q":2}}');
  same("no object", (o.object("l") == null).toString(), "true");
  o.each("l", (item, i) => {
    if (item.has("bad")) return item.fail("item " + i.toString());
    item.move("a", "b");
  });
  same("each", o.failed! + o.raw("l")!, 'item 3[{"b":1},2,{"b":3},{"bad":true},{"a":4}]');
}

/** What is changed in something that is not there any more changes nothing else. */
function gone(): void {
  let o = JsonObject.parse('{"o":{"p":{"q":1}},"z":0}')!;
  let inner = o.object(["o", "p"])!;
  o.setRaw("o", "7");
  inner.set("q", 2);
  same("replaced around it", o.json, '{"o":7,"z":0}');
  o = JsonObject.parse('{"o":{"p":{"q":1}},"z":0}')!;
  inner = o.object(["o", "p"])!;
  o.delete(["o", "p"]);
  o.setRaw("o", '"text"');
  inner.set("q", 2);
  same("deleted, and replaced around it", o.json, '{"o":"text","z":0}');
  o = JsonObject.parse('{"o":{"p":{"q":1}},"z":0}')!;
  inner = o.object(["o", "p"])!;
  o.move("o", "z");
  inner.set("q", 2);
  same("moved with what is around it", o.json, '{"z":{"p":{"q":2}}}');
  o = JsonObject.parse('{"o":{"p":{"q":1}},"z":{"y":{"x":1}}}')!;
  inner = o.object(["z", "y"])!;
  o.move("o", "z");
  o.setRaw("z", "1");
  inner.set("x", 2);
  same("another one moved into its place", o.json, '{"z":1}');
  whole = JsonObject.parse('{"l":[{"a":1},{"a":2}],"z":0}')!;
  whole.each("l", (item, i) => {
    whole.setRaw("l", "[true]");
    item.set("a", 9);
  });
  same("replaced in each", whole.json, '{"l":[true],"z":0}');
  whole = JsonObject.parse('{"aItems":[{"w":1}],"items":[{"v":1},{"v":2}]}')!;
  whole.each("items", (item, i) => {
    whole.set(["aItems", "0", "w"], 9);
    item.set("v", i);
    whole.set(["spec", "a"], i);
    whole.set("b", i);
  });
  same("changed beside each", whole.json, '{"aItems":[{"w":9}],"b":1,"items":[{"v":0},{"v":1}],"spec":{"a":1}}');
}

let whole: JsonObject = JsonObject.parse("{}")!;

function refuses(): void {
  const none = ["", " ", "[]", "1", "null", "{", "}", '{"a":1,}', '{"a" 1}', '{"a":}', '{a:1}', "{} {}", '"{}"', '{"a":01}', '{"a":1.}', '{"a":-}', '{"a":1e}', '{"a":+1}', '{"a":tru}', '{"a":"\\x"}', '{"a":"\\u12g4"}', '{"a":"\n"}', '{"a":"', '{"a":[1}', '{"a":[1,]}', '{"a":1]', '{"a":"b"c}', '{"a":1 2}'];
  for (let i = 0; i < none.length; i++) {
    if (JsonObject.parse(none[i]) != null) wrong.push("it was read: " + none[i]);
  }
  same("spaces", JsonObject.parse(' \t\r\n{ "a" : [ ] , "b" : -1.5E+3 } ')!.json, '{ "a" : [ ] , "b" : -1.5E+3 }');
  const deep = '{"a":' + "[".repeat(9999) + "]".repeat(9999) + "}";
  same("deep", JsonObject.parse(deep)!.json, deep);
  if (JsonObject.parse('{"a":' + "[".repeat(10000) + "]".repeat(10000) + "}") != null) wrong.push("what is too deep was read");
  const o = JsonObject.parse("{}")!;
  o.setRaw("a", "{");
  same("what is no JSON", o.failed!, "that is no JSON");
}
