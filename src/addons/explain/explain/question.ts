import { BadQuestion, type QuestionBody, type Health } from '../../../core/process/explain-port.ts';
import { type Attempt, type Caller, nearest, isObject } from '../../../core/kernel/index.ts';
import { GatewayError, type Secret, type Clock } from '../../../plugin/index.ts';
import { readMoment } from '../../../core/kernel/units.ts';
import { scanTopLevel, type JsonLimits, type TopLevel } from '../../../core/kernel/body/json-scan.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import type { Decide } from './decided-conditions.ts';
import type { FrozenHealth, FrozenResponses } from './frozen.ts';
import { isUtf8 } from 'node:buffer';
import { METHODS, validateHeaderName, validateHeaderValue } from 'node:http';
import { problemOfTexts } from '../../../core/settings/read/edited-files.ts';

export interface ExplainQuestion {
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Names of the files of a form, whose text fields are the body as JSON. Default: `file`. */
  readonly files?: readonly string[] | undefined;
  /** Credentials that were removed from the headers but occur in the body. */
  readonly secrets?: readonly Secret[];
  /** The caller, when no key in the headers identifies it: the id of a key of keys.yaml, or a known caller. */
  readonly as?: string | Caller | undefined;
  readonly remoteAddress?: string;
  /** Default: the id in `x-request-id`, or a new one. */
  readonly id?: string | undefined;
  /** Random numbers, 0 ≤ x < 1, one for each draw of a load balance; the last one repeats. Default: 0. */
  readonly draws?: readonly number[] | undefined;
  /** Time of the request. Default: now. */
  readonly at?: { readonly now: number; readonly wall: number } | undefined;
  /** Failures of the attempts, in order. A missing one is assumed to fail so that the next target is tried. */
  readonly failures?: readonly (GatewayError | undefined)[] | undefined;
  /** The failure of an attempt by its target; undefined: it answers. Goes before `failures`. */
  readonly failureOf?: ((attempt: Attempt) => GatewayError | undefined) | undefined;
  /** Decides a condition where not all values of the request are known. Undefined: the request decides. */
  readonly decide?: Decide | undefined;
  /** Health of the targets at that time. Default: current health. */
  readonly health?: FrozenHealth | undefined;
  /** Health that a question supposes, by the places of targets; it goes before `health`. */
  readonly supposed?: FrozenHealth | undefined;
  /** The kept responses that the request found at that time. Default: what is kept now. */
  readonly found?: FrozenResponses | undefined;
  /** The refusal of the request by a limit of its caller at that time; null: none refused it. Default: the limits as they are now. */
  readonly limited?: GatewayError | null | undefined;
  /** Id of the kept response that the request continued: `body` has the whole input already. */
  readonly continues?: string | undefined;
}

const NAMES = ['method', 'path', 'headers', 'body', 'key', 'draws', 'at', 'of', 'settings', 'health'];
const OF_KEPT = ['method', 'path', 'body'];
const MAX_DRAWS = 64;
const MAX_PATH = 8 * 1024;

/** Throws BadQuestion. Unknown fields are rejected: ignoring one would answer another question. */
export function readQuestion(bytes: Buffer, limits: Pick<ServerSettings['limits'], 'json' | 'header'>): QuestionBody {
  if (!isUtf8(bytes)) throw new BadQuestion('The question is not UTF-8 text.');
  const spans = outlineOf(bytes, limits.json);
  const unknown = [...spans.keys()].find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new BadQuestion(unknownName(unknown));
  const value = (name: string): unknown => {
    const span = spans.get(name);
    return span && JSON.parse(bytes.toString('utf8', span.from, span.to));
  };
  const method = readMethod(value('method'));
  const [key, draws, at] = [readKey(value('key')), readDraws(value('draws')), readAt(value('at'))];
  const [of, settings, health] = [
    readKept(value('of'), spans),
    readTexts(value('settings')),
    readHealth(value('health')),
  ];
  return {
    method,
    path: readPath(value('path')),
    headers: readHeaders(value('headers'), limits.header),
    body: of === undefined ? readBody(bytes, spans, method) : '',
    ...(key !== undefined && { key }),
    ...(draws !== undefined && { draws }),
    ...(at !== undefined && { at }),
    ...(of !== undefined && { of }),
    ...(settings && { settings }),
    ...(health && { health }),
  };
}

/** The id of a kept request, which has what only one of them can say. */
function readKept(value: unknown, spans: TopLevel): string | undefined {
  if (value === undefined) return undefined;
  const twice = OF_KEPT.find((name) => spans.has(name));
  if (twice !== undefined) throw new BadQuestion(`\`${twice}\` is that of the request in \`of\`.`);
  if (typeof value === 'string' && /^[\w-]{1,64}$/.test(value)) return value;
  throw new BadQuestion('`of` must be an id in `x-gateway-explain-id`.');
}

/** @param kept the request of `of` */
export function toQuestion(asked: QuestionBody, clock: Clock, kept?: ExplainQuestion): ExplainQuestion {
  const { method, path, headers, body, key, draws, at, health } = asked;
  const own = kept ?? { method, path, headers: {}, body: Buffer.from(body) };
  return {
    ...own,
    headers: { ...own.headers, ...headers },
    as: key ?? own.as,
    draws: draws ?? (own.draws && [...own.draws]),
    at: at === undefined ? own.at : { now: clock.now(), wall: at },
    supposed: supposedHealth(health, clock.now()),
  };
}

function outlineOf(bytes: Buffer, limits: JsonLimits): TopLevel {
  try {
    // One level deeper than a request may be, because the question contains the request's body.
    return scanTopLevel(bytes, { ...limits, depth: limits.depth + 1 });
  } catch (error) {
    if (error instanceof GatewayError) throw new BadQuestion(error.message);
    throw error;
  }
}

function unknownName(name: string): string {
  const meant = nearest(name, NAMES);
  const hint = meant === undefined ? ' The client’s request belongs in `body`.' : ` Did you mean \`${meant}\`?`;
  return `\`${name.slice(0, 100)}\`: allowed fields: ${NAMES.join(', ')}.${hint}`;
}

function readMethod(value: unknown = 'POST'): string {
  if (typeof value === 'string' && METHODS.includes(value)) return value;
  throw new BadQuestion('`method` must be an HTTP method such as POST.');
}

function readPath(value: unknown = '/v1/chat/completions'): string {
  if (typeof value === 'string' && value.length <= MAX_PATH && /^\/[\x21-\x7e]*$/.test(value)) return value;
  throw new BadQuestion('`path` must begin with a slash and contain no spaces, such as /v1/chat/completions.');
}

function readHeaders(value: unknown = {}, limit: number): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadQuestion('`headers` must be an object of strings.');
  const headers: Record<string, string> = {};
  let bytes = 0;
  for (const [written, text] of Object.entries(value)) {
    const name = written.toLowerCase();
    if (typeof text !== 'string' || !isHeader(name, text))
      throw new BadQuestion(`\`headers\`: ${JSON.stringify(written.slice(0, 100))} is not a valid header.`);
    if (Object.hasOwn(headers, name)) throw new BadQuestion(`\`headers\`: \`${name}\` occurs twice.`);
    bytes += name.length + text.length;
    headers[name] = text;
  }
  if (bytes > limit) throw new BadQuestion(`\`headers\` exceed ${limit} bytes (limits.header).`);
  return headers;
}

function isHeader(name: string, value: string): boolean {
  // Assigning `__proto__` would change the object instead of adding a header.
  if (name === '__proto__') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** For these methods a missing body is a mistake. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** The body's JSON as written, not re-serialized: numbers beyond 2 ** 53 stay unchanged. */
function readBody(bytes: Buffer, spans: TopLevel, method: string): string {
  const span = spans.get('body');
  if (!span) {
    if (!WITH_BODY.has(method)) return '';
    throw new BadQuestion('`body` is required: the client’s body, as JSON.');
  }
  const text = bytes.toString('utf8', span.from, span.to);
  return span.kind === 'string' ? String(JSON.parse(text)) : text;
}

function readKey(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new BadQuestion('`key` must be the id of a key in keys.yaml.');
}

function readDraws(value: unknown): readonly number[] | undefined {
  if (value === undefined) return undefined;
  const isDraw = (one: unknown): one is number => typeof one === 'number' && one >= 0 && one < 1;
  if (Array.isArray(value) && value.length > 0 && value.length <= MAX_DRAWS && value.every(isDraw)) return value;
  throw new BadQuestion(`\`draws\` must be a list of 1 to ${MAX_DRAWS} numbers x, 0 ≤ x < 1.`);
}

function readAt(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const moment = typeof value === 'string' ? readMoment(value) : undefined;
  if (moment !== undefined) return moment;
  throw new BadQuestion('`at` must be a time such as 2026-01-01T12:00:00Z.');
}

const MAX_TARGETS = 64;
const STATES: readonly Health[] = ['closed', 'open', 'half_open'];

/** Files that a question puts in the place of those in force. Throws BadQuestion. */
function readTexts(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  const problem = problemOfTexts(entries);
  if (problem !== undefined) throw new BadQuestion(`\`settings\`: ${problem}.`);
  return Object.fromEntries(entries) as Record<string, string>;
}

function readHealth(value: unknown): Readonly<Record<string, Health>> | undefined {
  const entries = entriesOf(value);
  for (const [name, state] of entries ?? [])
    if (!STATES.some((one) => one === state))
      throw new BadQuestion(`\`health\`: ${JSON.stringify(name.slice(0, 100))} must be one of ${STATES.join(', ')}.`);
  return entries && (Object.fromEntries(entries) as Record<string, Health>);
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (value === undefined) return undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  if (entries.length > 0 && entries.length <= MAX_TARGETS) return entries;
  throw new BadQuestion(`\`health\` must be an object with 1 to ${MAX_TARGETS} members.`);
}

const supposedHealth = (health: QuestionBody['health'], now: number): FrozenHealth | undefined =>
  health &&
  new Map(Object.entries(health).map(([target, state]) => [target, { state, retryAt: now, admits: state !== 'open' }]));
