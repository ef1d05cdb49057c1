import { list, rawOf } from "./admission";
import { Order, orders } from "./module";
import { Is, Node } from "./node";
import { JsonObject } from "./object";
import { stringOf } from "./strings";
import { space } from "./text";
import { Writer } from "./writer";

/** Answers a VersionPriorityReview. A module without a function for it leaves the versions as they are. Of what is not a review the reply says so. */
export function handlePriority(at: usize, end: usize, out: Writer): void {
  const sent = JsonObject.of(space(at, end), end);
  out.clear();
  out.text('{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":');
  rawOf(sent, ["request", "uid"], '""', out);
  let versions: string[] | null = sent == null || sent.type(["request", "group"]) != "string" ? null : versionsOf(sent);
  if (sent == null || versions == null) {
    out.text(',"message":"the request is not a VersionPriorityReview"}}');
    return;
  }
  const order: Order | null = orders;
  if (order != null) versions = order(sent.string(["request", "group"]), versions);
  out.text(',"versions":');
  list(versions, out);
  out.text("}}");
}

/** The versions; null when they are no array of texts. */
function versionsOf(sent: JsonObject): string[] | null {
  const n: Node | null = sent.tree.find(sent.root, ["request", "versions"]);
  if (n == null || !sent.tree.open(n) || n.is != Is.Items) return null;
  const all: string[] = [];
  for (let i = 0; i < n.all.length; i++) {
    const text = stringOf(n.all[i].at, n.all[i].end);
    if (text == null) return null;
    all.push(text);
  }
  return all;
}
