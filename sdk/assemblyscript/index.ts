// What a module for wasmgate is written with: one function for each direction makes a
// conversion of custom resources, and one more judges writes. README.md shows it.
export { Found, get, log } from "./src/host";
export { configure, convert, convertBySteps, kind, mutate, prioritize, validate } from "./src/module";
export { JsonObject } from "./src/object";
export { Review } from "./src/review";
export { Kind } from "./src/route";
