import { JsonObject } from "./object";

/** One write that a module is asked about. */
export class Review {
  /** CREATE, UPDATE or DELETE. */
  readonly operation: string;
  /** Nothing will be stored. */
  readonly dryRun: bool;
  /** The new state; null for a deletion. */
  object: JsonObject | null = null;
  /** The present state; null for a creation. Changes of it mean nothing. */
  old: JsonObject | null = null;
  /** Internal. */
  warnings: string[] = [];
  /** Internal. */
  annotations: Map<string, string> = new Map<string, string>();
  private why: string | null = null;

  constructor(
    /** The request as it was sent, with fields such as `namespace` or `["userInfo", "username"]`. */
    readonly request: JsonObject,
  ) {
    this.operation = request.string("operation");
    this.dryRun = request.bool("dryRun");
  }

  /** Refuses the write, with a message for the client. The first one counts. */
  refuse(message: string): void {
    if (this.why == null) this.why = message;
  }

  /** Why it is refused, be it that a field could not be set; null when it is not. */
  get refused(): string | null {
    if (this.why != null) return this.why;
    const object = this.object;
    return object == null ? null : object.failed;
  }

  /** Sends a warning to the client, whatever becomes of the write. */
  warn(text: string): void {
    this.warnings.push(text);
  }

  /** Puts an annotation into the record that an audit log keeps of the write. The last one of a name counts. */
  annotate(name: string, value: string): void {
    this.annotations.set(name, value);
  }
}
