import { JsonObject } from "./object";
import { Review } from "./review";
import { Convert, Kind } from "./route";
import { Step } from "./steps/step";

/** A function that judges a write. */
export type Judge = (r: Review) => void;
/** A function that orders the versions of a group. */
export type Order = (group: string, versions: string[]) => string[];
/** A function that takes the configuration. */
export type Take = (config: JsonObject) => void;

// What was registered; a module is registered once, when its instance starts.
export let kinds: Kind[] = [];
export let mutates: Judge | null = null;
export let validates: Judge | null = null;
export let orders: Order | null = null;
export let takes: Take | null = null;
export let schemaOfConfig: string = "";

/** Registers a function that converts objects of all kinds that `kind` did not name; see `Kind.convert`. */
export function convert(from: string, to: string, convert: Convert): void {
  kind("").convert(from, to, convert);
}

/** Registers a conversion of steps for all kinds that `kind` did not name; see `Kind.steps`. */
export function convertBySteps(from: string, to: string, steps: Step[]): void {
  kind("").steps(from, to, steps);
}

/** Returns the conversions of one kind, for a module that converts several kinds which have equal names of versions. */
export function kind(name: string): Kind {
  const known = kindOf(name);
  if (known != null) return known;
  const added = new Kind(name);
  kinds.push(added);
  return added;
}

/** Internal: the conversions of a kind that has some; null when there are none. */
export function kindOf(name: string): Kind | null {
  for (let i = 0; i < kinds.length; i++) {
    if (kinds[i].name == name) return kinds[i];
  }
  return null;
}

/**
 * Registers the function that changes what is written; there is one in a module. What it
 * changes of `r.object` is changed in what is stored, if a MutatingWebhookConfiguration
 * asks. `r.refuse` refuses the write, and so does a field that could not be set.
 */
export function mutate(judge: Judge): void {
  mutates = judge;
}

/**
 * Registers the function that judges writes, after that of `mutate` if there is one; there
 * is one in a module. What it changes means nothing. `r.refuse` refuses the write.
 */
export function validate(judge: Judge): void {
  validates = judge;
}

/**
 * Registers the function that orders the versions of a group, the preferred one first; there
 * is one in a module. They come in the Kubernetes order, and the same ones have to be
 * returned, each once.
 */
export function prioritize(order: Order): void {
  orders = order;
}

/**
 * Registers the function that takes the configuration, `spec.config` of the WasmModule;
 * there is one in a module. It runs once in every instance, before anything else is asked,
 * and not without a configuration. `config.fail` refuses the configuration. `schema` is a
 * JSON schema, as CustomResourceDefinitions have them, by which the gateway checks it
 * before; "" allows all. What is no object is read with the path `[]`.
 */
export function configure(schema: string, take: Take): void {
  takes = take;
  schemaOfConfig = schema;
}
