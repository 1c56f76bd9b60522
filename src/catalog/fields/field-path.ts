import { nearest } from '../../plugin/index.ts';
import { FIELD_TABLES } from '../../formats/fields/field-tables.ts';
import { SHARED_CREDENTIALS } from '../../formats/fields/shared-credentials.ts';

/** The key `[]` stands for every item of a list. */
export const ITEM = '[]';

/** A path of a rule: keys, and `[]` for every item of a list. */
export interface FieldPath {
  readonly keys: readonly string[];
  /** Written `**.name`: at any depth. */
  readonly anywhere: boolean;
}

export interface PathMistake {
  readonly message: string;
  readonly suggestion?: string;
}

const ANYWHERE = '**.';
const KEY = /^([^.[\]]+)((?:\[\])*)$/;

/** Reads `store`, `tools[].container` or `**.file_id`. */
export function readFieldPath(text: string): FieldPath | PathMistake {
  if (text.startsWith('$.')) return { message: 'a path must begin with a field name', suggestion: text.slice(2) };
  const indexed = text.replaceAll(/\[(?:\d+|\*)\]/g, ITEM).replaceAll(/\.\*(?=\.|$)/g, ITEM);
  if (indexed !== text)
    return { message: 'a path cannot name a single item; write `[]` for every item', suggestion: indexed };
  const anywhere = text.startsWith(ANYWHERE);
  const rest = anywhere ? text.slice(ANYWHERE.length) : text;
  const keys: string[] = [];
  for (const part of rest.split('.')) {
    const [, key, items = ''] = KEY.exec(part) ?? [];
    if (key === undefined || key === '**')
      return {
        message: 'write names separated by dots, such as `tools[].container`; `**.` may precede a single name',
      };
    keys.push(key, ...Array.from({ length: items.length / ITEM.length }, () => ITEM));
  }
  if (anywhere && keys.length > 1)
    return {
      message: '`**.` must be followed by a single name',
      suggestion: `${ANYWHERE}${keys.findLast((key) => key !== ITEM) ?? ''}`,
    };
  return { keys, anywhere };
}

const KNOWN: ReadonlySet<string> = new Set([
  ...FIELD_TABLES.flatMap(({ read, freeMaps }) => [...read, ...freeMaps]).map((path) => path.split(/[.[]/, 1)[0]!),
  ...SHARED_CREDENTIALS.flatMap((path) => (path.startsWith(ANYWHERE) ? path.slice(ANYWHERE.length) : [])),
]);

/** The known field that a name probably misspells. Upstreams have fields of their own, so an unknown name alone is not an error. */
export function meantField({ keys: [name = '', ...rest], anywhere }: FieldPath): string | undefined {
  if (KNOWN.has(name)) return undefined;
  const meant = nearest(name, KNOWN);
  if (meant === undefined) return undefined;
  const inner = rest.map((key) => (key === ITEM ? ITEM : `.${key}`)).join('');
  return `${anywhere ? ANYWHERE : ''}${meant}${inner}`;
}
