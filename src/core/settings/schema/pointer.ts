/** JSON Pointers (RFC 6901) as ajv writes them, and the paths plugins and compilers use. */

export type JsonPath = readonly (string | number)[];

export const toPointer = (path: JsonPath): string =>
  path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** List indices become numbers; `json` tells a list from a map with numeric keys. */
export function fromPointer(pointer: string, json: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let at = json;
  for (const escaped of pointer.split('/').slice(1)) {
    const segment = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const key = Array.isArray(at) ? Number(segment) : segment;
    path.push(key);
    at = valueAt(at, [key]);
  }
  return path;
}

export function valueAt(json: unknown, path: JsonPath): unknown {
  let at = json;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

/** A readable name for a path, such as `on_status_codes[1]`: the last key and the indices after it. */
export function nameOf(path: JsonPath): string {
  const keyAt = path.findLastIndex((segment) => typeof segment === 'string');
  const key = path[keyAt];
  if (key === undefined) return 'the file';
  const indices = path.slice(keyAt + 1).map((index) => `[${index}]`);
  return `\`${showKey(String(key))}${indices.join('')}\``;
}

const LONGEST_KEY = 60;
const showKey = (key: string): string => (key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY)}…` : key);
