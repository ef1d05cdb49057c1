import { JsonObject } from "./object";
import { Step } from "./steps/step";

/** A function that converts one object in place. */
export type Convert = (o: JsonObject) => void;

/** What converts objects of one version to another. */
export class Hop {
  constructor(
    readonly from: string,
    readonly to: string,
    private convert: Convert | null,
    private steps: Step[],
  ) {}

  /** Converts an object, up to the first thing that is wrong. */
  run(o: JsonObject): void {
    const convert = this.convert;
    if (convert != null) convert(o);
    for (let i = 0; i < this.steps.length && o.failed == null; i++) this.steps[i].run(o, []);
  }
}

/** The conversions of one kind. */
export class Kind {
  /** Internal. */
  readonly hops: Hop[] = [];

  constructor(readonly name: string) {}

  /**
   * Registers a function that converts one object in place, from one version to another.
   * It changes the fields that differ; apiVersion, kind and metadata are taken care of, and
   * of metadata only labels and annotations may be changed. The result must depend on the
   * object alone. `o.fail` fails the request that needed the conversion, with its text as
   * the message, and so does a field that could not be set.
   *
   * Versions are bare names: `v1`, not `example.com/v1`. Where there is no function for a
   * pair of versions the shortest chain of functions is used.
   */
  convert(from: string, to: string, convert: Convert): Kind {
    this.hops.push(new Hop(from, to, convert, []));
    return this;
  }

  /** Registers a conversion that is put together from steps; see `convert`. */
  steps(from: string, to: string, steps: Step[]): Kind {
    this.hops.push(new Hop(from, to, null, steps));
    return this;
  }

  /** Internal: the shortest chain of functions between two versions; empty when there is none. */
  route(from: string, to: string): Hop[] {
    const reached: string[] = [from], ways: Hop[][] = [[]];
    for (let next = 0; next < reached.length; next++) {
      for (let i = 0; i < this.hops.length; i++) {
        const hop = this.hops[i];
        if (hop.from != reached[next] || reached.includes(hop.to)) continue;
        const way = ways[next].concat([hop]);
        if (hop.to == to) return way;
        reached.push(hop.to);
        ways.push(way);
      }
    }
    return [];
  }

  /** Internal: all versions there are functions for, sorted. */
  versions(): string[] {
    const all: string[] = [];
    for (let i = 0; i < this.hops.length; i++) {
      const hop = this.hops[i];
      if (!all.includes(hop.from)) all.push(hop.from);
      if (!all.includes(hop.to)) all.push(hop.to);
    }
    return all.sort();
  }
}
