import type { JsonObject } from '../conversation.ts';
import { writeSummary } from '../envelope.ts';
import { ReplyFault } from '../faults.ts';
import type { ClientContext } from '../format.ts';
import { isObject } from '../json/object.ts';

/** A summary in an envelope that any model can read later (docs/protocols/openai-responses.md#compaction). Throws ReplyFault. */
export function compactionItem(summary: string, { id }: Pick<ClientContext, 'id'>): JsonObject {
  if (summary.trim() === '') throw new ReplyFault('the model wrote no summary of the conversation');
  return { type: 'compaction', id: `cmp_${id.replace(/^resp_/, '')}`, encrypted_content: writeSummary(summary) };
}

export const COMPACTION_TRIGGER = 'compaction_trigger';

/** The last item of the input asks for a compaction as the output. */
export function endsWithTrigger({ input }: JsonObject): boolean {
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined;
  return isObject(last) && last.type === COMPACTION_TRIGGER;
}
