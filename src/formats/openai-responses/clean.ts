import type { JsonObject } from '../conversation.ts';
import { ENVELOPE, readSummary } from '../envelope.ts';
import { RequestFault, type BodyView, type Cleaning, type SearchableBody } from '../format.ts';
import { isObject } from '../json/object.ts';
import { listOf, stringOf } from '../json/read.ts';
import { LossReport } from '../losses/losses.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';

const FOREIGN = 'the reasoning of another provider';

/**
 * Removes what other models encrypted, and what this gateway wrote, from a body for a server of this API: it answers foreign content
 * with a 400 (docs/protocols/openai-responses.md#encrypted-content).
 */
export function clean(body: SearchableBody): Cleaning | undefined {
  if (!body.contains(`"${ENVELOPE}`)) return undefined;
  const cleaning = editInput(body, FOREIGN, (item, at) => {
    const encrypted = stringOf(item.encrypted_content);
    if (!encrypted?.startsWith(ENVELOPE)) return item;
    if (item.type !== 'compaction') return undefined;
    const summary = readSummary(encrypted);
    if (summary !== undefined) return { type: 'message', role: 'user', content: summary };
    throw new RequestFault(
      'invalid_value',
      `\`input[${at}]\` is a compaction that the gateway cannot read.`,
      `input[${at}]`,
    );
  });
  // An edit writes the parsed values anew. Without one, the bytes can hide an envelope under a repeated key.
  if (!cleaning) body.refuseRepeatsIn('input');
  return cleaning;
}

/** Removes all reasoning: its maker refused what it encrypts, or another organisation's key did. */
export function withoutSignatures(body: BodyView): Cleaning | undefined {
  return editInput(body, REFUSED_SIGNATURE, (item) => (item.type === 'reasoning' ? undefined : item));
}

/** @param edit returns the item to send; undefined for one that is left out */
function editInput(
  body: BodyView,
  reason: string,
  edit: (item: JsonObject, at: number) => JsonObject | undefined,
): Cleaning | undefined {
  const input = listOf(body.value('input'));
  if (!input) return undefined;
  const losses = new LossReport();
  let changed = false;
  const kept = input.flatMap((item: unknown, at): unknown[] => {
    const sent = isObject(item) ? edit(item, at) : item;
    if (sent === item) return [item];
    changed = true;
    if (sent !== undefined) return [sent];
    losses.dropped(`input[${at}]`, reason);
    return [];
  });
  if (!changed) return undefined;
  return { edits: [{ path: ['input'], value: kept, source: 'gateway' }], losses: losses.list() };
}
