// The conversion of the CronTab of examples/crontab in AssemblyScript: v1beta1 has
// hostPort, v1 has host and port.
import { convert, JsonObject } from "wasmgate-sdk";

export * from "wasmgate-sdk/exports";

convert("v1beta1", "v1", toV1);
convert("v1", "v1beta1", toV1beta1);

function toV1(o: JsonObject): void {
  if (!o.has("hostPort")) return;
  const hostPort = o.string("hostPort"), colon = hostPort.lastIndexOf(":");
  if (colon < 0) return o.fail("hostPort could not be parsed into a separate host and port");
  o.delete("hostPort");
  o.set("host", hostPort.substring(0, colon));
  o.set("port", hostPort.substring(colon + 1));
}

function toV1beta1(o: JsonObject): void {
  if (!o.has("host") && !o.has("port")) return;
  const hostPort = o.string("host") + ":" + o.string("port");
  o.delete("host");
  o.delete("port");
  o.set("hostPort", hostPort);
}
