import { parseDocument } from 'yaml';
import { nearest } from '../plugin/nearest.ts';
import type { ExplainQuestion } from '../dry-run/explain/question.ts';

/** What stands on the command line; it wins over what the file says. */
export interface RequestFlags {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  /** `name: value` */
  readonly headers: readonly string[];
}

type AskedRequest = Pick<ExplainQuestion, 'method' | 'path' | 'headers' | 'body'>;

/** Why what was given is no request. Told with exit code 2. */
export class BadRequest extends Error {}

interface Envelope {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request from the text of a file: that of a body, or a whole one. @param name how messages call the file */
export function readRequest(text: string, name: string, flags: RequestFlags): AskedRequest {
  const { method = 'POST', path = '/v1/chat/completions', headers = {}, body } = readEnvelope(text, name);
  const asked = {
    method: (flags.method ?? method).toUpperCase(),
    path: flags.path ?? path,
    headers: { ...headers, ...Object.fromEntries(flags.headers.map(readHeader)) },
    body: Buffer.from(body ?? ''),
  };
  if (!/^[A-Z]+$/.test(asked.method)) throw new BadRequest(`${JSON.stringify(asked.method)} is not an HTTP method`);
  if (!/^\/[\x21-\x7e]*$/.test(asked.path))
    throw new BadRequest(`the path must begin with / and have no spaces, such as /v1/messages`);
  if (body === undefined) return asked;
  return { ...asked, headers: { 'content-type': 'application/json', ...asked.headers } };
}

const MEMBERS = ['method', 'path', 'headers', 'body'];

/** No API has a body of these names and no others. */
function readEnvelope(text: string, name: string): Envelope {
  const value = parse(text, name);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequest(`${name} is not a JSON object`);
  const names = Object.keys(value);
  const strange = names.filter((one) => !MEMBERS.includes(one));
  if (names.length === 0 || strange.length > 0) {
    refuseMisspelt(names, strange, name);
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

/** What would be a whole request, were it not for a letter: taken for a body, it would be answered for what it lacks as one. */
function refuseMisspelt(names: readonly string[], strange: readonly string[], file: string): void {
  const free = MEMBERS.filter((one) => !names.includes(one));
  const meant = strange.map((one) => nearest(one, free));
  if (strange.length === names.length || meant.includes(undefined)) return;
  throw new BadRequest(`"${strange[0]}" in ${file} is not part of a request; did you mean "${meant[0]}"?`);
}

function parse(text: string, name: string): unknown {
  if (text.trim() === '')
    throw new BadRequest(`${name} is empty; a request without a body is { "method": "GET", "path": "/v1/models" }`);
  if (text.startsWith('\ufeff'))
    throw new BadRequest(`${name} begins with a byte order mark, which JSON must not have: save it without one`);
  try {
    return JSON.parse(text);
  } catch (error) {
    // Engines quote what they could not read, and that may be a prompt; where it stands is enough.
    const said = error instanceof Error ? error.message : '';
    const at = /position \d+(?: \(line \d+ column \d+\))?/.exec(said)?.[0];
    const where = said.startsWith('Unexpected end') ? ': it ends too early' : at === undefined ? '' : ` at ${at}`;
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

/** As the file writes it: read and written again, long numbers would be others. */
function asWritten(text: string, body: unknown): string {
  const node = parseDocument(text).get('body', true);
  const range =
    typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range) ? node.range : [];
  const piece = text.slice(Number(range[0]), Number(range[1]));
  const again = JSON.stringify(body);
  try {
    return JSON.stringify(JSON.parse(piece)) === again ? piece : again;
  } catch {
    return again;
  }
}

function readHeader(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new BadRequest(`a header is written 'name: value', with a colon`);
  return checkHeader(text.slice(0, colon).trim(), text.slice(colon + 1).trim());
}

/** Neither name nor value is repeated: a key may stand in either. */
function checkHeader(name: string, value: string): readonly [string, string] {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw new BadRequest('the name of a header is not valid');
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    throw new BadRequest(`the value of the header ${name} has a character that is not allowed there`);
  return [name.toLowerCase(), value];
}
