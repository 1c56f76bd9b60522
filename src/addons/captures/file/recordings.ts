import { isDeepStrictEqual } from 'node:util';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { withMarks } from '../../../core/record/scrub.ts';
import type { FoundRecording, RecordedCall, Recordings } from '../../../core/process/recordings-port.ts';
import type { CapturedCall, CapturedExchange, CapturedReply, WrittenBytes } from './captured.ts';
import { firstDifferences } from './json-differences.ts';

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

/** Reads the file of a capture. Throws an Error with the line that is none. */
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

/** The recorded calls of upstreams. */
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

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly json: unknown;
  readonly body: string;
}

/** Another path weighs more than any body. */
const OF_PATH = 1000;

function differencesOf(
  one: Recorded,
  { method, path, json, body }: Asked,
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
