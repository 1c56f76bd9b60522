import { signal } from '@preact/signals';
import { type ApiRefusal, asRefusal, readEvents, refusalOf, stream } from '../../api/index.ts';
import { NO_REPLY, withChunk } from './conversation.ts';

export type Column = ReturnType<typeof createColumn>;

export function createColumn(named = '') {
  const model = signal(named);
  const reply = signal(NO_REPLY);
  const state = signal<'idle' | 'running' | 'done' | 'stopped' | 'failed'>('idle');
  const error = signal<ApiRefusal | undefined>(undefined);
  const [firstMs, totalMs] = [signal<number | undefined>(undefined), signal<number | undefined>(undefined)];
  // For Why.
  const requestId = signal<string | undefined>(undefined);
  let running: AbortController | undefined;
  const run = async (call: object, aborting: AbortController): Promise<void> => {
    const began = performance.now();
    const response = await stream('/playground', { body: call, signal: aborting.signal });
    requestId.value = response.headers.get('x-gateway-request-id') ?? undefined;
    const status = Number(response.headers.get('x-gatehouse-status') ?? response.status);
    if (!response.ok || status >= 400 || !response.body)
      throw replyRefusal(await response.json().catch(() => undefined), status);
    for await (const { data } of readEvents(response.body)) {
      reply.value = withChunk(reply.value, data);
      if (reply.value.text !== '' || reply.value.thinking !== '') firstMs.value ??= performance.now() - began;
    }
    totalMs.value = performance.now() - began;
  };
  return {
    model,
    reply,
    state,
    error,
    firstMs,
    totalMs,
    requestId,
    start(call: object): void {
      running?.abort();
      const own = (running = new AbortController());
      reply.value = NO_REPLY;
      error.value = undefined;
      firstMs.value = undefined;
      totalMs.value = undefined;
      requestId.value = undefined;
      state.value = 'running';
      run(call, own).then(
        () => void (state.value = 'done'),
        (reason: unknown) => {
          if (own.signal.aborted) return;
          error.value = asRefusal(reason);
          state.value = 'failed';
        },
      );
    },
    /** Ends the upstream call, too. */
    stop(): void {
      running?.abort();
      if (state.value === 'running') state.value = 'stopped';
    },
  };
}

/** A refusal of the admin API, or of the request path in the form of its clients. */
function replyRefusal(body: unknown, status: number): ApiRefusal {
  const { error } = Object(body) as { readonly error?: { readonly message?: string; readonly code?: string } };
  return refusalOf(error ? { code: error.code ?? 'error', detail: error.message ?? '' } : body, status);
}
