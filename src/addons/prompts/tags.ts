/** Most levels of sections inside sections, and of partials inside partials. */
export const MAX_DEPTH = 16;

export interface Tag {
  readonly start: number;
  readonly end: number;
  /** `''` for a variable, `!` for a comment. */
  readonly sign: '' | '#' | '^' | '/' | '>' | '!';
  readonly name: string;
  /** The name's keys; empty for `.`. */
  readonly path: readonly string[];
}

export const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const PARTIAL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @param start the offset of `{{` */
export function parseTag(text: string, start: number): Tag | { readonly end: number; readonly message: string } {
  const triple = text.startsWith('{{{', start);
  const close = triple ? '}}}' : '}}';
  const opened = start + close.length;
  const closed = text.indexOf(close, opened);
  if (closed === -1) return { end: text.length, message: `this \`${triple ? '{{{' : '{{'}\` is never closed` };
  const end = closed + close.length;
  const inner = text.slice(opened, closed).trim();
  const sign = triple ? '' : signOf(inner[0]);
  if (sign === undefined)
    return {
      end,
      message: 'other delimiters (`{{=…=}}`) are not supported; give such text as the value of a variable',
    };
  const name = (triple || !SIGNS.has(inner[0] ?? '') ? inner : inner.slice(1)).trim();
  const tag = { start, end, sign, name };
  if (sign === '!') return { ...tag, path: [] };
  if (sign === '>') {
    if (PARTIAL.test(name)) return { ...tag, path: [] };
    return { end, message: `${shown(name)} is not the name of a partial: letters, digits, \`.\`, \`_\` and \`-\`` };
  }
  if (name === '.') return { ...tag, path: [] };
  const path = name.split('.');
  if (path.length <= MAX_DEPTH && path.every((key) => NAME.test(key))) return { ...tag, path };
  return {
    end,
    message: `${shown(name)} is not the name of a variable: letters, digits, \`_\` and \`-\`, with dots between keys`,
  };
}

/** `&` is Mustache's sign for a variable without HTML escaping, which every variable is here. */
const SIGNS: ReadonlySet<string> = new Set(['#', '^', '/', '>', '!', '&']);

/** Undefined for `{{=`. */
function signOf(first: string | undefined): Tag['sign'] | undefined {
  if (first === '=') return undefined;
  return first === '#' || first === '^' || first === '/' || first === '>' || first === '!' ? first : '';
}

const shown = (name: string): string => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
