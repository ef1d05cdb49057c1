// What fields and steps do: a module that refuses its configuration with what is wrong. The
// rest is compared with the SDKs in other languages, in test/sdks.
import { configure, convert } from "wasmgate-sdk";
import { fields } from "./fields";
import { steps } from "./steps";

export * from "wasmgate-sdk/exports";

convert("v1", "v2", (o) => {});

configure("", (config) => {
  const wrong = fields().concat(steps());
  if (wrong.length > 0) config.fail(wrong.join("\n"));
});
