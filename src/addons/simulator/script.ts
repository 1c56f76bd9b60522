import { event } from './wire.ts';

/** The behaviour that a model name selects. */
export type Behaviour =
  | { readonly kind: 'answer' }
  | { readonly kind: 'fast'; readonly writes: 'one' | 'each' }
  | { readonly kind: 'error'; readonly status: number; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'flaky'; readonly failures: number }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'slow-content'; readonly ms: number }
  | { readonly kind: 'drip'; readonly ms: number }
  | { readonly kind: 'cut'; readonly after: number }
  | { readonly kind: 'stall'; readonly after: number }
  | { readonly kind: 'error-midstream' };

interface Rule {
  /** The notation in the README's table. */
  readonly name: string;
  readonly pattern: RegExp;
  readonly read: (numbers: readonly (number | undefined)[]) => Behaviour;
}

const DEFAULT_RETRY_AFTER_MS: Readonly<Record<number, number>> = { 429: 1_000 };
const DEFAULT_CUT = 2;

/** All names with a special behaviour; every other name answers normally. Numbers are short, so no delay exceeds 1,000 s. */
export const RULES: readonly Rule[] = [
  { name: 'sim-fast', pattern: /^sim-fast$/, read: () => ({ kind: 'fast', writes: 'one' }) },
  { name: 'sim-fast-each', pattern: /^sim-fast-each$/, read: () => ({ kind: 'fast', writes: 'each' }) },
  { name: 'sim-error-midstream', pattern: /^sim-error-midstream$/, read: () => ({ kind: 'error-midstream' }) },
  {
    name: 'sim-error-<status>',
    pattern: /^sim-error-([45][0-9]{2})$/,
    read: ([status = 500]) => ({ kind: 'error', status, retryAfterMs: DEFAULT_RETRY_AFTER_MS[status] }),
  },
  {
    name: 'sim-error-<status>-<ms>',
    pattern: /^sim-error-([45][0-9]{2})-([0-9]{1,6})$/,
    read: ([status = 500, retryAfterMs]) => ({ kind: 'error', status, retryAfterMs }),
  },
  {
    name: 'sim-flaky-<n>',
    pattern: /^sim-flaky-([0-9]{1,3})$/,
    read: ([failures = 0]) => ({ kind: 'flaky', failures }),
  },
  { name: 'sim-slow-<ms>', pattern: /^sim-slow-([0-9]{1,6})$/, read: ([ms = 0]) => ({ kind: 'slow', ms }) },
  {
    name: 'sim-slow-content-<ms>',
    pattern: /^sim-slow-content-([0-9]{1,6})$/,
    read: ([ms = 0]) => ({ kind: 'slow-content', ms }),
  },
  { name: 'sim-drip-<ms>', pattern: /^sim-drip-([0-9]{1,6})$/, read: ([ms = 0]) => ({ kind: 'drip', ms }) },
  { name: 'sim-cut', pattern: /^sim-cut$/, read: () => ({ kind: 'cut', after: DEFAULT_CUT }) },
  { name: 'sim-cut-<n>', pattern: /^sim-cut-([0-9]{1,4})$/, read: ([after = 0]) => ({ kind: 'cut', after }) },
  { name: 'sim-stall-<n>', pattern: /^sim-stall-([0-9]{1,4})$/, read: ([after = 0]) => ({ kind: 'stall', after }) },
];

const ANSWER: Behaviour = { kind: 'answer' };

export function readBehaviour(model: string): Behaviour {
  if (!model.startsWith('sim-')) return ANSWER;
  for (const { pattern, read } of RULES) {
    const match = pattern.exec(model);
    if (match) return read(match.slice(1).map(Number));
  }
  return ANSWER;
}

/** One action of the server on the socket. Every reply ends with `end`, `cut` or `hold`. */
export type ScriptStep =
  | { readonly kind: 'wait'; readonly ms: number }
  /** Waits and sends comment lines meanwhile. */
  | { readonly kind: 'ping'; readonly ms: number }
  | { readonly kind: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'send'; readonly bytes: string | Buffer }
  | { readonly kind: 'end' }
  /** Breaks the connection. */
  | { readonly kind: 'cut' }
  /** Stays silent until the client disconnects. */
  | { readonly kind: 'hold' };

export const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } as const;

const jsonHeaders = (body: string): Record<string, string> => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
});

/** A plain JSON reply, in one write. */
export function plainScript(
  status: number,
  json: object,
  headers: Readonly<Record<string, string>> = {},
): ScriptStep[] {
  const body = JSON.stringify(json);
  const head: ScriptStep = { kind: 'head', status, headers: { ...jsonHeaders(body), ...headers } };
  return [head, { kind: 'send', bytes: body }, { kind: 'end' }];
}

/** A plain reply, changed by the behaviour. */
export function replyScript(json: object, behaviour: Behaviour): ScriptStep[] {
  const whole = plainScript(200, json);
  const [head] = whole;
  const body = JSON.stringify(json);
  if (!head) return whole;
  switch (behaviour.kind) {
    case 'slow':
      return [{ kind: 'wait', ms: behaviour.ms }, ...whole];
    case 'slow-content':
    case 'drip':
      return [head, { kind: 'wait', ms: behaviour.ms }, ...whole.slice(1)];
    case 'cut':
      return behaviour.after === 0 ? [{ kind: 'cut' }] : [head, half(body), { kind: 'cut' }];
    case 'stall':
      return behaviour.after === 0 ? [head, { kind: 'hold' }] : [head, half(body), { kind: 'hold' }];
    default:
      return whole;
  }
}

/** A stream, changed by the behaviour. Each event is a separate write. */
export function streamScript(events: readonly string[], behaviour: Behaviour): ScriptStep[] {
  const head: ScriptStep = { kind: 'head', status: 200, headers: STREAM_HEADERS };
  const sends = events.map((bytes): ScriptStep => ({ kind: 'send', bytes }));
  const end: ScriptStep = { kind: 'end' };
  switch (behaviour.kind) {
    case 'slow':
      return [{ kind: 'wait', ms: behaviour.ms }, head, ...sends, end];
    case 'slow-content':
      // The role chunk is not content, so it may precede the delay.
      return [head, ...sends.slice(0, 1), { kind: 'ping', ms: behaviour.ms }, ...sends.slice(1), end];
    case 'drip':
      return [
        head,
        ...sends.flatMap((send, at): ScriptStep[] => (at === 0 ? [send] : [{ kind: 'wait', ms: behaviour.ms }, send])),
        end,
      ];
    case 'cut':
      return cutStream(head, events, behaviour.after);
    case 'stall':
      return [head, ...sends.slice(0, behaviour.after), { kind: 'hold' }];
    case 'error-midstream':
      return [head, ...sends.slice(0, 3), { kind: 'send', bytes: MIDSTREAM_ERROR }, end];
    default:
      return [head, ...sends, end];
  }
}

const MIDSTREAM_ERROR = event({
  error: {
    message: 'Simulated error in the middle of a stream.',
    type: 'server_error',
    param: null,
    code: 'overloaded',
  },
});

/** `after` complete events and half of the next one; for a shorter stream, everything except half of `[DONE]`. */
function cutStream(head: ScriptStep, events: readonly string[], after: number): ScriptStep[] {
  if (after === 0) return [{ kind: 'cut' }];
  const whole = Math.min(after, events.length - 1);
  const sends = events.slice(0, whole).map((bytes): ScriptStep => ({ kind: 'send', bytes }));
  return [head, ...sends, half(events[whole] ?? ''), { kind: 'cut' }];
}

function half(text: string): ScriptStep {
  const bytes = Buffer.from(text);
  return { kind: 'send', bytes: bytes.subarray(0, Math.ceil(bytes.length / 2)) };
}
