/** The kind of a name in the table of docs/providers/simulator.md; every other name answers normally. */
export const NAMES = {
  'sim-fast': 'fast',
  'sim-fast-each': 'fast-each',
  'sim-error-midstream': 'error-midstream',
  'sim-error-<status>': 'error',
  'sim-error-<status>-<ms>': 'error',
  'sim-flaky-<n>': 'flaky',
  'sim-slow-<ms>': 'slow',
  'sim-slow-content-<ms>': 'slow-content',
  'sim-drip-<ms>': 'drip',
  'sim-cut': 'cut',
  'sim-cut-<n>': 'cut',
  'sim-stall-<n>': 'stall',
} as const;

export interface Behaviour {
  readonly kind: (typeof NAMES)[keyof typeof NAMES] | 'answer';
  /** The status, the failures, the milliseconds or the events of the name; 0 where it has none. */
  readonly number: number;
  readonly retryAfterMs?: number;
}

/** Numbers are short, so that no delay exceeds 1,000 s. */
const NUMBERS = { '<status>': '([45][0-9]{2})', '<ms>': '([0-9]{1,6})', '<n>': '([0-9]{1,4})' } as const;

const RULES = Object.entries(NAMES).map(([name, kind]) => {
  const pattern = Object.entries(NUMBERS).reduce((text, [notation, digits]) => text.replace(notation, digits), name);
  return { pattern: new RegExp(`^${pattern}$`), kind };
});

const DEFAULT_CUT = 2;

export function readBehaviour(model: string): Behaviour {
  for (const { pattern, kind } of RULES) {
    const match = pattern.exec(model);
    if (!match) continue;
    const [number = kind === 'cut' ? DEFAULT_CUT : 0, ms] = match.slice(1).map(Number);
    const retryAfterMs = ms ?? (kind === 'error' && number === 429 ? 1_000 : undefined);
    return { kind, number, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  return { kind: 'answer', number: 0 };
}

/** One action of the server on the socket. Every reply ends with `end`, `cut` or `hold`. */
export type ScriptStep =
  /** With `pings`, it sends comment lines meanwhile. 0 is one turn of the event loop. */
  | { readonly kind: 'wait'; readonly ms: number; readonly pings?: boolean }
  | { readonly kind: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'send'; readonly bytes: string | Buffer }
  | { readonly kind: 'end' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'hold' };

const END: ScriptStep = { kind: 'end' };
const CUT: ScriptStep = { kind: 'cut' };
const HOLD: ScriptStep = { kind: 'hold' };
const STREAM_HEAD: ScriptStep = {
  kind: 'head',
  status: 200,
  headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
};

const send = (bytes: string | Buffer): ScriptStep => ({ kind: 'send', bytes });

function jsonHead(status: number, body: string, more: Readonly<Record<string, string>> = {}): ScriptStep {
  const length = String(Buffer.byteLength(body));
  return { kind: 'head', status, headers: { 'content-type': 'application/json', 'content-length': length, ...more } };
}

export function plainScript(status: number, json: object, headers?: Readonly<Record<string, string>>): ScriptStep[] {
  const body = JSON.stringify(json);
  return [jsonHead(status, body, headers), send(body), END];
}

/** A plain reply, changed by the behaviour. */
export function replyScript(json: object, behaviour: Behaviour): ScriptStep[] {
  const body = JSON.stringify(json);
  const head = jsonHead(200, body);
  const { kind, number } = behaviour;
  switch (kind) {
    case 'slow-content':
    case 'drip':
      return [head, { kind: 'wait', ms: number }, send(body), END];
    case 'stall':
      return number === 0 ? [head, HOLD] : [head, send(half(body)), HOLD];
    default:
      return wholeScript(head, [body], behaviour);
  }
}

/** A stream, changed by the behaviour. Each event is a separate write. */
export function streamScript(events: readonly string[], behaviour: Behaviour): ScriptStep[] {
  const sends = events.map(send);
  const { kind, number } = behaviour;
  const wait: ScriptStep = { kind: 'wait', ms: number };
  const [first, ...rest] = sends;
  switch (kind) {
    case 'fast':
      return [STREAM_HEAD, send(Buffer.from(events.join(''))), END];
    case 'fast-each':
      return [STREAM_HEAD, ...sends.flatMap((each) => [each, wait]), END];
    case 'slow-content':
      // The role chunk is not content, so it may precede the delay.
      return [STREAM_HEAD, first!, { ...wait, pings: true }, ...rest, END];
    case 'drip':
      return [STREAM_HEAD, first!, ...rest.flatMap((each) => [wait, each]), END];
    case 'stall':
      return [STREAM_HEAD, ...sends.slice(0, number), HOLD];
    case 'error-midstream':
      return [STREAM_HEAD, ...sends.slice(0, 3), send(MIDSTREAM_ERROR), END];
    default:
      return wholeScript(STREAM_HEAD, events, behaviour);
  }
}

const MIDSTREAM_ERROR = `data: ${JSON.stringify({
  error: {
    message: 'Simulated error in the middle of a stream.',
    type: 'server_error',
    param: null,
    code: 'overloaded',
  },
})}\n\n`;

/** The behaviours that streams and plain replies share. A cut comes after `number` parts, in the middle of the next, or of the last. */
function wholeScript(head: ScriptStep, parts: readonly string[], { kind, number }: Behaviour): ScriptStep[] {
  const whole = [head, ...parts.map(send), END];
  if (kind === 'slow') return [{ kind: 'wait', ms: number }, ...whole];
  if (kind !== 'cut') return whole;
  if (number === 0) return [CUT];
  const last = Math.min(number, parts.length - 1);
  return [...whole.slice(0, 1 + last), send(half(parts[last]!)), CUT];
}

function half(text: string): Buffer {
  const bytes = Buffer.from(text);
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}
