/**
 * The names of a path. A path leads to a field: one name, or the names of the fields on the
 * way to it, or, in an array, an index: `["spec", "ports", "0", "name"]`. A dot in a name
 * means nothing.
 */
export function names<P>(path: P): string[] {
  if (isString<P>()) return [changetype<string>(path)];
  if (isArray<P>()) return changetype<string[]>(path);
  ERROR("a path is a string, or an array of strings");
  return [];
}
