import { scanTopLevel } from '../../../core/kernel/body/json-scan.ts';
import { nearest } from '../../../core/kernel/nearest.ts';
import type { ExplainQuestion } from '../explain/question.ts';

/** The options of the command line, which override the file. */
export interface RequestFlags {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  /** `name: value` */
  readonly headers: readonly string[];
}

type ExplainRequest = Pick<ExplainQuestion, 'method' | 'path' | 'headers' | 'body'>;

/** The input is not a request. Reported with exit code 2. */
export class BadRequest extends Error {}

interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Reads a request from a file's text: a body or a whole request.
 * @param name the file's name in messages
 */
export function readRequest(text: string, name: string, flags: RequestFlags): ExplainRequest {
  const { method = 'POST', path = '/v1/chat/completions', headers = {}, body } = readEnvelope(text, name);
  const request = {
    method: (flags.method ?? method).toUpperCase(),
    path: flags.path ?? path,
    headers: { ...headers, ...Object.fromEntries(flags.headers.map(readHeader)) },
    body: Buffer.from(body ?? ''),
  };
  if (!/^[A-Z]+$/.test(request.method)) throw new BadRequest(`${JSON.stringify(request.method)} is not an HTTP method`);
  if (!/^\/[\x21-\x7e]*$/.test(request.path))
    throw new BadRequest(`the path must begin with / and have no spaces, such as /v1/messages`);
  if (body === undefined) return request;
  return { ...request, headers: { 'content-type': 'application/json', ...request.headers } };
}

const MEMBERS = ['method', 'path', 'headers', 'body'];

/** Distinguishes a whole request from a body: no API has a body with only these fields. */
function readEnvelope(text: string, name: string): RawRequest {
  const value = parse(text, name);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequest(`${name} is not a JSON object`);
  const names = Object.keys(value);
  const unknown = names.filter((one) => !MEMBERS.includes(one));
  if (names.length === 0 || unknown.length > 0) {
    refuseMisspelt(names, unknown, name);
    return { body: text };
  }
  const { method, path, headers, body } = value as Readonly<Record<string, unknown>>;
  return {
    ...(method !== undefined && { method: textAt('method', method, name) }),
    ...(path !== undefined && { path: textAt('path', path, name) }),
    ...(headers !== undefined && { headers: headersAt(headers, name) }),
    ...(body !== undefined && { body: asWritten(text, body) }),
  };
}

/** Refuses a whole request with a misspelt field. Read as a body, it would be reported as incomplete. */
function refuseMisspelt(names: readonly string[], unknown: readonly string[], file: string): void {
  const free = MEMBERS.filter((one) => !names.includes(one));
  const suggestions = unknown.map((one) => nearest(one, free));
  if (unknown.length === names.length || suggestions.includes(undefined)) return;
  throw new BadRequest(`"${unknown[0]}" in ${file} is not part of a request; did you mean "${suggestions[0]}"?`);
}

function parse(text: string, name: string): unknown {
  if (text.trim() === '')
    throw new BadRequest(`${name} is empty; a request without a body is { "method": "GET", "path": "/v1/models" }`);
  if (text.startsWith('\ufeff'))
    throw new BadRequest(`${name} begins with a byte order mark, which JSON must not have: save it without one`);
  try {
    return JSON.parse(text);
  } catch (error) {
    // Engines quote the text they cannot parse, which may be a prompt. The position is enough.
    const reason = error instanceof Error ? error.message : '';
    const at = /position \d+(?: \(line \d+ column \d+\))?/.exec(reason)?.[0];
    const where = reason.startsWith('Unexpected end') ? ': it ends unexpectedly' : at === undefined ? '' : ` at ${at}`;
    throw new BadRequest(`${name} is not JSON${where}`, { cause: error });
  }
}

function textAt(member: string, value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new BadRequest(`"${member}" in ${name} must be text`);
}

function headersAt(value: unknown, name: string): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequest(`"headers" in ${name} must be an object of names and values`);
  const entries = Object.entries(value).map(([header, text]) =>
    checkHeader(header, textAt(`headers.${header}`, text, name)),
  );
  return Object.fromEntries(entries);
}

/** The body exactly as in the file: parsing and writing it again would round long numbers. */
function asWritten(text: string, body: unknown): string {
  const bytes = Buffer.from(text);
  try {
    const span = scanTopLevel(bytes, { depth: Infinity, keys: Infinity, items: Infinity }).get('body');
    return bytes.toString('utf8', span?.from, span?.to);
  } catch {
    // `body` occurs twice, or is nested more deeply than any request may be.
    return JSON.stringify(body);
  }
}

function readHeader(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new BadRequest(`a header is written 'name: value', with a colon`);
  return checkHeader(text.slice(0, colon).trim(), text.slice(colon + 1).trim());
}

/** Messages quote neither an invalid name nor a value: either may contain a key. */
function checkHeader(name: string, value: string): readonly [string, string] {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw new BadRequest('the name of a header is not valid');
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    throw new BadRequest(`the value of the header ${name} has a character that is not allowed there`);
  return [name.toLowerCase(), value];
}
