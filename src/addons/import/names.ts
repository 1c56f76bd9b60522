/** An id of a file, a key, a team or a slug: letters, digits, `.`, `_` and `-`, a letter or digit first, at most 64 characters. */
export function nameOf(text: string): string {
  const name = text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .replace(/-+$/, '')
    .slice(0, 64);
  return name === '' ? 'imported' : name;
}

/** `wanted`, or with the first number that makes it new: `search-2`. Numbered names have at most 64 characters up to 999. */
export function freeName(wanted: string, isTaken: (name: string) => boolean, joint: '-' | '_' = '-'): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted.slice(0, 60)}${joint}${number}`;
    if (!isTaken(name)) return name;
  }
}

/** An exact alias: letters, digits and `._:/-`. Undefined: the name cannot be one. */
export const aliasOf = (text: string): string | undefined =>
  /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(text) ? text : undefined;

/** Plain text in a settings file, where `${…}` would be a reference. */
export function literal<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${') as T;
  if (Array.isArray(value)) return value.map(literal) as T;
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner)])) as T;
  return value;
}

export const defined = (settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

/** The time of a request. A try may wait as long for its headers and its first content, which have shorter defaults. */
export const timesOf = (time: string | undefined): Readonly<Record<string, unknown>> =>
  time === undefined ? {} : { request_timeout: time, timeouts: { first_byte: time, first_content: time } };
