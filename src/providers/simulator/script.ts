import type { Behaviour } from './behaviours.ts';
import { event } from './wire.ts';

/** What the server does on the socket, one after the other. A reply without `end`, `cut` or `hold` does not exist. */
export type ScriptStep =
  | { readonly kind: 'wait'; readonly ms: number }
  /** Waits, and shows that it lives by comment lines. */
  | { readonly kind: 'ping'; readonly ms: number }
  | { readonly kind: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'send'; readonly bytes: string | Buffer }
  | { readonly kind: 'end' }
  /** The connection breaks. */
  | { readonly kind: 'cut' }
  /** Silence until the client leaves. */
  | { readonly kind: 'hold' };

export const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } as const;

const jsonHeaders = (body: string): Record<string, string> => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
});

/** A plain JSON document, all at once. */
export function plainScript(
  status: number,
  json: object,
  headers: Readonly<Record<string, string>> = {},
): ScriptStep[] {
  const body = JSON.stringify(json);
  const head: ScriptStep = { kind: 'head', status, headers: { ...jsonHeaders(body), ...headers } };
  return [head, { kind: 'send', bytes: body }, { kind: 'end' }];
}

/** A good plain reply, spoilt as the behaviour asks. */
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

/** A good stream, spoilt as the behaviour asks. Each event is a send of its own. */
export function streamScript(events: readonly string[], behaviour: Behaviour): ScriptStep[] {
  const head: ScriptStep = { kind: 'head', status: 200, headers: STREAM_HEADERS };
  const sends = events.map((bytes): ScriptStep => ({ kind: 'send', bytes }));
  const end: ScriptStep = { kind: 'end' };
  switch (behaviour.kind) {
    case 'slow':
      return [{ kind: 'wait', ms: behaviour.ms }, head, ...sends, end];
    case 'slow-content':
      // The role chunk is no content: whoever waits for content must not take it for some.
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

/** `after` whole events and half of the next one; of a shorter stream, all but half of `[DONE]`. */
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
