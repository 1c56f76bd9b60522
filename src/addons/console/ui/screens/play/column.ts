import { signal } from '@preact/signals';
import { asRefusal, refusalOf, stream, readEvents, type ApiRefusal } from '../../api/index.ts';
import { NO_REPLY, withChunk, type PlayReply } from './conversation.ts';

interface Answer {
  readonly reply: PlayReply;
  readonly state: 'idle' | 'running' | 'done' | 'stopped' | 'failed';
  readonly error?: ApiRefusal;
  readonly firstMs?: number;
  readonly totalMs?: number;
  /** For Why. */
  readonly requestId?: string;
}

export type Column = ReturnType<typeof createColumn>;

/** A model, and what it answers. */
export function createColumn(named = '') {
  const model = signal(named);
  const now = signal<Answer>({ reply: NO_REPLY, state: 'idle' });
  let running: AbortController | undefined;
  const run = async (call: object, own: AbortSignal, set: (next: Partial<Answer>) => void): Promise<void> => {
    const began = performance.now();
    const response = await stream('/playground', { body: call, signal: own });
    const requestId = response.headers.get('x-gateway-request-id');
    if (requestId !== null) set({ requestId });
    const status = Number(response.headers.get('x-gatehouse-status') ?? response.status);
    if (!response.ok || status >= 400 || !response.body)
      throw replyRefusal(await response.json().catch(() => undefined), status);
    for await (const { data } of readEvents(response.body)) {
      const reply = withChunk(now.value.reply, data);
      const isFirst = now.value.firstMs === undefined && reply.text + reply.thinking !== '';
      set({ reply, ...(isFirst && { firstMs: performance.now() - began }) });
    }
    set({ state: 'done', totalMs: performance.now() - began });
  };
  return {
    model,
    now,
    start(call: object): void {
      running?.abort();
      const { signal: own } = (running = new AbortController());
      const set = (next: Partial<Answer>): void => void (own.aborted || (now.value = { ...now.value, ...next }));
      now.value = { reply: NO_REPLY, state: 'running' };
      run(call, own, set).catch((reason: unknown) => set({ state: 'failed', error: asRefusal(reason) }));
    },
    /** Ends the upstream call, too. */
    stop(): void {
      running?.abort();
      if (now.value.state === 'running') now.value = { ...now.value, state: 'stopped' };
    },
  };
}

/** A refusal of the admin API, or of the request path in the form of its clients. */
function replyRefusal(body: unknown, status: number): ApiRefusal {
  const { error } = Object(body) as { readonly error?: { readonly message?: string; readonly code?: string } };
  return refusalOf(error ? { code: error.code ?? 'error', detail: error.message ?? '' } : body, status);
}
