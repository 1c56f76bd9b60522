import type { EndRecord } from '../../plugin/hooks.ts';
import type { ReplyEnd } from '../../plugin/reply.ts';
import type { Exchange } from '../kernel/index.ts';

/** The finished request, as the hook `end` gets it. */
export function endRecord(
  { id, operation, startedAt, attempts, error }: Exchange,
  end: ReplyEnd,
  more: Pick<EndRecord, 'changed'> & { readonly now: number },
): EndRecord {
  const { resolved, signals } = attempts.at(-1) ?? {};
  return {
    id,
    operation: operation?.id,
    state: end.state,
    status: end.status,
    bytes: end.bytes,
    error: (end.error ?? error)?.code,
    durationMs: more.now - startedAt,
    attempts: attempts.length,
    provider: resolved?.slug,
    model: signals?.model ?? resolved?.model,
    usage: signals?.usage,
    finish: signals?.finish,
    changed: more.changed,
  };
}
