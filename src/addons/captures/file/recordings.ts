import { isDeepStrictEqual } from 'node:util';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { withMarks } from '../../../core/record/scrub.ts';
import type { FoundRecording, RecordedCall, Recordings } from '../../../core/process/recordings-port.ts';
import type { CapturedCall, CapturedExchange, CapturedReply, WrittenBytes } from './captured.ts';

/** Calls that are equal, in the order in which they were sent. */
interface Recorded {
  readonly method: string;
  readonly path: string;
  /** Undefined: it may be any, because it was a form. */
  readonly body: string | undefined;
  readonly json: unknown;
  readonly request: string;
  readonly calls: CapturedCall[];
  served: number;
}

/** Reads the file of a capture. Throws an Error that names the first line which is no captured request. */
export const readRecordings = (text: string, file: string): Recordings => new CallTable(exchangesIn(text, file));

export function exchangesIn(text: string, file: string): readonly CapturedExchange[] {
  const lines = text.split('\n').map((line) => line.trim());
  const head = parseJson(lines[0] ?? '');
  if (!isObject(head) || head['gatehouse_capture'] !== 1)
    throw new Error(
      `${file}:1: this is no file of a capture, or one of another version: its first line has \`gatehouse_capture: 1\``,
    );
  return lines.slice(1).flatMap((line, index) => {
    if (line === '') return [];
    const value = parseJson(line);
    if (!isExchange(value)) throw new Error(`${file}:${index + 2}: this line is no captured request`);
    return [value];
  });
}

/** Files are written by a gateway, and cut by people. */
const isExchange = (value: unknown): value is CapturedExchange =>
  isObject(value) && typeof value['id'] === 'string' && Array.isArray(value['calls']) && value['calls'].every(isCall);

const isCall = (call: unknown): boolean =>
  isObject(call) &&
  typeof call['method'] === 'string' &&
  typeof call['url'] === 'string' &&
  URL.canParse(call['url']) &&
  (call['reply'] === undefined || isReply(call['reply']));

const isReply = (reply: unknown): boolean =>
  isObject(reply) &&
  Number.isInteger(reply['status']) &&
  isObject(reply['headers']) &&
  Array.isArray(reply['pieces']) &&
  reply['pieces'].every((piece) => Array.isArray(piece) && typeof piece[0] === 'number' && isBytes(piece[1]));

const isBytes = (value: unknown): boolean =>
  typeof value === 'string' || (isObject(value) && typeof value['base64'] === 'string');

export const bytesOf = (bytes: WrittenBytes): Buffer =>
  typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.base64, 'base64');

export class CallTable implements Recordings {
  readonly #recorded: Recorded[] = [];

  constructor(exchanges: readonly CapturedExchange[]) {
    for (const { id, calls } of exchanges) for (const call of calls) this.#add(id, call);
  }

  get size(): number {
    return this.#recorded.reduce((sum, { calls }) => sum + calls.length, 0);
  }

  find(call: RecordedCall): FoundRecording {
    const asked = { method: call.method, path: withMarks(call.path), body: withMarks(call.body) };
    const found = this.#equal(asked);
    if (!found) return { miss: this.#miss(asked) };
    const recorded = found.calls[found.served % found.calls.length]!;
    found.served += 1;
    return replyOf(recorded);
  }

  #add(request: string, call: CapturedCall): void {
    const { pathname, search } = new URL(call.url);
    const body = call.body === null ? undefined : bytesOf(call.body).toString();
    const key = { method: call.method, path: pathname + search, body };
    const known = this.#recorded.find(
      (one) => one.method === key.method && one.path === key.path && one.body === key.body,
    );
    if (known) known.calls.push(call);
    else this.#recorded.push({ ...key, json: parseJson(body ?? ''), request, calls: [call], served: 0 });
  }

  #equal({ method, path, body }: RecordedCall): Recorded | undefined {
    const alike = this.#recorded.filter((one) => one.method === method && one.path === path);
    const json = parseJson(body);
    return (
      alike.find((one) => one.body === undefined || one.body === body) ??
      // Another order of keys, or other spaces, are the same request.
      alike.find((one) => json !== undefined && isDeepStrictEqual(one.json, json))
    );
  }

  #miss({ method, path, body }: RecordedCall): string {
    const json = parseJson(body);
    const ranked = this.#recorded
      .map((one) => ({ one, differences: differencesOf(one, { method, path, json, body }) }))
      .toSorted((a, b) => a.differences.count - b.differences.count);
    const [nearest] = ranked;
    if (!nearest) return 'the file has no call of an upstream';
    const { one, differences } = nearest;
    return `no recording is equal; the nearest is a call of request ${one.request}, where ${differences.texts.join('; ')}`;
  }
}

/** Another path weighs more than any body. */
const OF_PATH = 1000;

function differencesOf(
  one: Recorded,
  {
    method,
    path,
    json,
    body,
  }: { readonly method: string; readonly path: string; readonly json: unknown; readonly body: string },
): { count: number; texts: readonly string[] } {
  const isElsewhere = one.method !== method || one.path !== path;
  const place = isElsewhere ? [`the call is ${one.method} ${one.path}, not ${method} ${path}`] : [];
  const inBody =
    one.json === undefined || json === undefined
      ? one.body === body || one.body === undefined
        ? []
        : ['the body is another text']
      : firstDifferences(one.json, json);
  return { count: (isElsewhere ? OF_PATH : 0) + inBody.length, texts: [...place, ...inBody].slice(0, 4) };
}

/** After a failure of its own time the gateway has left: the upstream was silent. */
const isSilence = (code: string | undefined): boolean => code !== undefined && /^(?:timeout_|client_closed)/.test(code);

function replyOf({ reply, failed, failed_ms: failedMs = 0 }: CapturedCall): FoundRecording {
  if (!reply) return { failed: isSilence(failed) ? Infinity : failedMs };
  return {
    reply: { ...partsOf(reply), end: reply.end === 'complete' ? 'complete' : isSilence(failed) ? 'silent' : 'cut' },
  };
}

const partsOf = ({ status, headers, pieces }: CapturedReply) => ({
  status,
  headers,
  pieces: pieces.map(([ms, bytes]) => [ms, bytesOf(bytes)] as const),
});

/** Differences that are counted: with more of them it is another request. */
const MOST = 50;
/** Characters of a value in a message, and how many of them are before the first difference. */
const LONGEST = 60;
const BEFORE = 12;
const DEEPEST = 64;

/** The places in which two values differ, in words: `messages.1.content is "a", recorded "b"`. */
function firstDifferences(recorded: unknown, got: unknown): readonly string[] {
  const found: string[] = [];
  walk(recorded, got, [], found);
  return found;
}

function walk(recorded: unknown, got: unknown, path: readonly string[], found: string[]): void {
  if (found.length >= MOST || Object.is(recorded, got)) return;
  const [one, other] = [membersOf(recorded), membersOf(got)];
  if (!one || !other || Array.isArray(recorded) !== Array.isArray(got) || path.length > DEEPEST) {
    if (JSON.stringify(recorded) !== JSON.stringify(got)) found.push(inWords(path, recorded, got));
    return;
  }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
    walk(valueOf(one, name), valueOf(other, name), [...path, name], found);
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  Array.isArray(value) ? Object.fromEntries(value.entries()) : isObject(value) ? value : undefined;

const valueOf = (members: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;

function inWords(path: readonly string[], recorded: unknown, got: unknown): string {
  const place = path.length === 0 ? 'the body' : path.join('.');
  if (recorded === undefined) return `${place} is ${shown(got)}, and the recording has none`;
  if (got === undefined) return `${place} is missing, recorded ${shown(recorded)}`;
  // Of long texts, from shortly before they part.
  const from = Math.max(0, sameStart(JSON.stringify(got), JSON.stringify(recorded)) - BEFORE);
  return `${place} is ${shown(got, from)}, recorded ${shown(recorded, from)}`;
}

function sameStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function shown(value: unknown, from = 0): string {
  const text = JSON.stringify(value);
  if (text.length <= LONGEST) return text;
  return `${from > 0 ? '…' : ''}${text.slice(from, from + LONGEST)}${from + LONGEST < text.length ? '…' : ''}`;
}
