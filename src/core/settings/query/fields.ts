import { nearest, type ConditionInput, type RequestBody } from '../../kernel/index.ts';
import type { Report } from '../../kernel/report.ts';
import { mayHoldCredential } from '../values/credential-names.ts';
import { showName } from '../values/show.ts';

/** A field of a request that a query compares. */
export interface Field {
  readonly name: string;
  /** json: any JSON value of a body. text: text of a header or of metadata, which may be a number. word: a name, never a number. */
  readonly kind: 'json' | 'text' | 'word';
  /** Undefined where the request does not have the field. */
  readonly read: (request: ConditionInput) => unknown;
}

const WORDS: ReadonlyMap<string, Field['read']> = new Map<string, Field['read']>([
  ['model', ({ request: { body } }) => body?.string('model')],
  ['operation', ({ operation }) => operation?.id],
  ['path', ({ request }) => request.path],
]);

/** Field names of other gateways, and their equivalents. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['body', 'params'],
  ['request.model', 'model'],
  ['url', 'path'],
  ['url.pathname', 'path'],
]);

const IN_BRACKETS = /\[(\d+)\]/g;

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const ROOTS = ['metadata', 'params', 'headers', ...WORDS.keys()];
const ALL = '`metadata.KEY`, `params.FIELD`, `headers.NAME`, `model`, `operation` or `path`';

/** @param name not an operator */
export function readField(name: string, report: Report): Field | undefined {
  const word = WORDS.get(name);
  if (word) return { name, kind: 'word', read: word };
  const dot = name.indexOf('.');
  const root = dot < 0 ? name : name.slice(0, dot);
  const rest = dot < 0 ? '' : name.slice(dot + 1);
  const mistake = (message: string, suggestion?: string): undefined => {
    report({ path: [], on: 'key', message, ...(suggestion !== undefined && { suggestion }) });
  };
  if (WORDS.has(root)) return mistake(`\`${root}\` has no fields inside`, root);
  if (!ROOTS.includes(root)) {
    const meant = ELSEWHERE.get(name) ?? ELSEWHERE.get(root) ?? nearest(root, ROOTS);
    const whole = meant === undefined || WORDS.has(meant) ? meant : `${meant}.${rest || 'NAME'}`;
    return mistake(`unknown field ${showName(name)}; the fields are ${ALL}`, whole);
  }
  if (rest === '') return mistake(`\`${root}\` needs a name after a dot: ${ALL}`);
  if (root === 'metadata') return { name, kind: 'text', read: ({ metadata }) => ownValue(metadata, rest) };
  if (root === 'params') return readParam(name, rest, mistake);
  if (!HEADER_NAME.test(rest)) return mistake(`${showName(rest)} is not a valid header name`);
  if (mayHoldCredential(rest.toLowerCase()))
    return mistake(`\`${rest}\` may hold a credential, and queries cannot read credentials`);
  return readHeader(name, rest.toLowerCase());
}

function readHeader(name: string, header: string): Field {
  const read: Field['read'] = ({ request: { headers } }) => {
    const value = ownValue(headers, header);
    return Array.isArray(value) ? value.join(', ') : value;
  };
  return { name, kind: 'text', read };
}

function readParam(
  name: string,
  rest: string,
  mistake: (message: string, suggestion?: string) => undefined,
): Field | undefined {
  const dotted = rest.replaceAll(IN_BRACKETS, '.$1');
  if (dotted !== rest) {
    return mistake(`${showName(name)} has a list index in brackets; write it after a dot`, `params.${dotted}`);
  }
  const [key = '', ...inner] = rest.split('.');
  if (key === '' || inner.includes('')) return mistake(`${showName(name)} has no name between two dots, or at its end`);
  const read: Field['read'] = ({ request: { body } }) => {
    let at = body && topLevel(body, key);
    for (const segment of inner) at = at === undefined ? undefined : inside(at, segment);
    return at;
  };
  return { name, kind: 'json', read };
}

const parsed = new WeakMap<RequestBody, Map<string, unknown>>();

/** Parses only the fields of a large body that queries read, and each once: several conditions may read one field. */
function topLevel(body: RequestBody, key: string): unknown {
  let values = parsed.get(body);
  if (!values) parsed.set(body, (values = new Map()));
  if (values.has(key)) return values.get(key);
  const value = body.has(key) ? body.value(key) : undefined;
  values.set(key, value);
  return value;
}

const INDEX = /^(0|[1-9][0-9]*)$/;

/** Reads own fields only: not the length of a list, not inherited members of an object. */
function inside(value: unknown, segment: string): unknown {
  if (Array.isArray(value)) return INDEX.test(segment) ? value[Number(segment)] : undefined;
  return typeof value === 'object' && value !== null ? ownValue(value, segment) : undefined;
}

const ownValue = (object: object, key: string): unknown =>
  Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
