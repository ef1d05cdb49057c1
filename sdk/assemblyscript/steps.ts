// What conversions are often put together from: fields that get another name or place,
// texts that are split and joined, values that change. Most have one that undoes them.
//
//   kind("CronTab").steps("v1beta1", "v1", [split(["spec", "hostPort"], ":", true, [["spec", "host"], ["spec", "port"]])]);
export { Step } from "./src/steps/step";
export { each, keep, move, remove, rename, restore } from "./src/steps/shape";
export { join, split } from "./src/steps/parts";
export { empty, fill, fromList, replace, toCount, toDuration, toList, toText, toValue } from "./src/steps/value";
