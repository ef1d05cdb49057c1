// The conversion of the CronTab of examples/crontab in AssemblyScript:
// v1beta1 has hostPort, v1 has host and port. docs/abi.md says what each export is
// for. Members that the conversion does not touch stay text, as they came.
import { JSON } from "json-as";

@json
class Request {
  uid: string = "";
  desiredAPIVersion: string = "";
  objects: Map<string, JSON.Raw>[] = [];
}

@json
class Review {
  request: Request = new Request();
}

export function wasmgate_abi_v1(): void {}

let room: StaticArray<u8> = new StaticArray<u8>(0);

export function wasmgate_alloc(size: i32): usize {
  room = new StaticArray<u8>(size);
  return changetype<usize>(room);
}

export function wasmgate_convert(ptr: usize, len: usize): u64 {
  const request = JSON.parse<Review>(String.UTF8.decodeUnsafe(ptr, len)).request;
  const objects: string[] = [];
  let problem = "";
  for (let i = 0; i < request.objects.length && problem == ""; i++) {
    const object = request.objects[i];
    problem = request.desiredAPIVersion.endsWith("/v1") ? toV1(object) : toV1beta1(object);
    object.set("apiVersion", text(request.desiredAPIVersion));
    objects.push(JSON.stringify(object));
  }
  const result = problem == "" ? '{"status":"Success"}' : '{"status":"Failure","message":' + JSON.stringify(problem) + "}";
  return reply(
    '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":' + JSON.stringify(request.uid) +
    ',"result":' + result + ',"convertedObjects":[' + (problem == "" ? objects.join(",") : "") + "]}}");
}

function toV1(object: Map<string, JSON.Raw>): string {
  if (!object.has("hostPort")) return "";
  const hostPort = JSON.parse<string>(object.get("hostPort").data);
  const colon = hostPort.lastIndexOf(":");
  if (colon < 0) return "hostPort could not be parsed into a separate host and port";
  object.delete("hostPort");
  object.set("host", text(hostPort.substring(0, colon)));
  object.set("port", text(hostPort.substring(colon + 1)));
  return "";
}

function toV1beta1(object: Map<string, JSON.Raw>): string {
  if (!object.has("host") && !object.has("port")) return "";
  const hostPort = take(object, "host") + ":" + take(object, "port");
  object.set("hostPort", text(hostPort));
  return "";
}

function take(object: Map<string, JSON.Raw>, name: string): string {
  if (!object.has(name)) return "";
  const value = JSON.parse<string>(object.get(name).data);
  object.delete(name);
  return value;
}

function text(value: string): JSON.Raw {
  return JSON.Raw.from(JSON.stringify(value));
}

// answer keeps the reply from the garbage collector until the gateway has read it.
let answer: ArrayBuffer = new ArrayBuffer(0);

function reply(json: string): u64 {
  answer = String.UTF8.encode(json);
  return ((changetype<usize>(answer) as u64) << 32) | (answer.byteLength as u64);
}

@external("wasmgate", "log")
declare function log(ptr: usize, len: i32): void;

// abort is what the compiler calls where others would throw (--use abort=...): its
// message is in what "wasmgate module logs" prints.
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const said = String.UTF8.encode((file ? file : "") + ":" + line.toString() + ": " + (message ? message : "abort"));
  log(changetype<usize>(said), said.byteLength);
  unreachable();
}
