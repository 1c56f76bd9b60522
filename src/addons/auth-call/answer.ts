import { isObject, parseJson } from '../../core/kernel/index.ts';
import { GatewayError, type NewCaller } from '../../plugin/index.ts';

/** The service's word about a credential. Plain values: it is kept beyond a reload. */
export type CallerAnswer = { readonly ttlMs: number } & (
  | { readonly key: string }
  | { readonly caller: NewCaller }
  /** unknown: another method of the chain may know the credential. refused: none may. */
  | { readonly no: 'unknown' | 'refused'; readonly message: string | undefined }
);

/** The longest time that an answer is kept, whatever it names. */
const MAX_TTL_MS = 5 * 60_000;
const MAX_MESSAGE = 500;

/** Reads the answer of the contract in the README of the plugin. Throws Error for any other. */
export function readAnswer(status: number, text: string): CallerAnswer {
  if (status === 401 || status === 403) return readRefusal(status, text);
  if (status !== 200) throw new Error(`it answered HTTP ${status}`);
  // The error of JSON.parse would quote the answer in the log.
  const value = parseJson(text);
  if (!isObject(value)) throw new Error('its answer is no JSON object');
  const { key, caller, ttl, ...others } = value;
  const ttlMs = readTtl(ttl);
  if (Object.keys(others).length > 0) throw new Error('its answer has members beside `key` or `caller` and `ttl`');
  if (typeof key === 'string' && caller === undefined) return { ttlMs, key };
  if (isObject(caller) && key === undefined) return { ttlMs, caller: readCaller(caller) };
  throw new Error('its answer has not one of `key` and `caller`');
}

/** The body of a refusal is optional, and may have any form. */
function readRefusal(status: 401 | 403, text: string): CallerAnswer {
  const value = parseJson(text);
  const { message, ttl } = isObject(value) ? value : {};
  const shown = typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : undefined;
  return { ttlMs: readTtl(ttl), no: status === 401 ? 'unknown' : 'refused', message: shown };
}

/** Seconds. Without one the answer is not kept. */
function readTtl(ttl: unknown): number {
  if (ttl === undefined) return 0;
  if (typeof ttl !== 'number' || !(ttl >= 0)) throw new Error('`ttl` of its answer is no number of seconds');
  return Math.min(ttl * 1000, MAX_TTL_MS);
}

const TEXTS: ReadonlySet<string> = new Set(['id', 'team', 'organization', 'owner', 'default_config']);
const LISTS: ReadonlySet<string> = new Set(['models', 'providers', 'configs']);

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isRecord = (value: unknown, is: (one: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(is);

/** A caller in the words of keys.yaml. An unknown member may be a limit, which the gateway would not enforce. */
function readCaller(value: Readonly<Record<string, unknown>>): NewCaller {
  const read: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    const isKnown =
      (TEXTS.has(name) && isText(one)) ||
      (LISTS.has(name) && isTexts(one)) ||
      (name === 'metadata' && isRecord(one, isText)) ||
      (name === 'limits' && isRecord(one, (limit) => isText(limit) || typeof limit === 'number'));
    if (!isKnown)
      throw new GatewayError(
        'key_misconfigured',
        `The service that knows the caller names \`${name}\`, which this gateway does not know, or which has another type.`,
      );
    read[name === 'default_config' ? 'defaultConfig' : name] = one;
  }
  const { id = '' } = read;
  // The loop has checked each member by its name.
  return { ...read, id } as NewCaller;
}
