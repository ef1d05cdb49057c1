import { kinds, mutates, orders, schemaOfConfig, Take, takes, validates } from "./module";
import { JsonObject } from "./object";
import { Kind } from "./route";
import { Writer } from "./writer";

/** How many conversions a module names; one that has more says nothing of them. */
const MOST_NAMED: i32 = 1000;

/** Hands over a configuration. What is written is nothing, or why it is refused. */
export function handleConfiguration(at: usize, end: usize, out: Writer): void {
  const why = taken(String.UTF8.decodeUnsafe(at, end - at));
  out.clear();
  if (why == null) return;
  out.text('{"error":');
  out.quote(why);
  out.byte(0x7d);
}

function taken(text: string): string | null {
  const take: Take | null = takes;
  if (take == null) return "this module takes no configuration: it was built without configure";
  const config = JsonObject.any(text);
  if (config == null) return "the configuration is no JSON";
  take(config);
  return config.failed;
}

/** Says what the module has: the hooks that it has functions for, as all are exported, what it converts, and the schema of its configuration. */
export function describe(out: Writer): void {
  const hooks: string[] = [];
  if (kinds.some((k) => k.hops.length > 0)) hooks.push('"wasmgate_convert"');
  if (mutates != null || validates != null) hooks.push('"wasmgate_admit"');
  if (orders != null) hooks.push('"wasmgate_prioritize"');
  out.clear();
  out.text('{"hooks":[' + hooks.join(",") + "]");
  const all = conversions();
  if (all.length > 0 && all.length <= MOST_NAMED) out.text(',"conversions":[' + all.join(",") + "]");
  if (schemaOfConfig != "") out.text(',"configSchema":' + schemaOfConfig);
  out.byte(0x7d);
}

function conversions(): string[] {
  const all: string[] = [];
  const sorted = kinds.slice(0).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (let i = 0; i < sorted.length; i++) pairs(sorted[i], all);
  return all;
}

/** Adds all pairs of versions that there is a route between. */
function pairs(kind: Kind, all: string[]): void {
  const versions = kind.versions(), about = kind.name == "" ? "" : '"kind":' + quoted(kind.name) + ",";
  for (let i = 0; i < versions.length; i++) {
    for (let k = 0; k < versions.length; k++) {
      if (i == k || kind.route(versions[i], versions[k]).length == 0) continue;
      all.push("{" + about + '"from":' + quoted(versions[i]) + ',"to":' + quoted(versions[k]) + "}");
    }
  }
}

/** A text as a string of JSON. */
export function quoted(text: string): string {
  const out = new Writer();
  out.quote(text);
  return String.UTF8.decodeUnsafe(out.at, out.length);
}
