import type { JsonObject } from '../conversation.ts';
import { ENVELOPE, readEnvelope, readSummary } from '../envelope.ts';
import { RequestFault } from '../faults.ts';
import type { BodyView, Cleaning, SearchableBody } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { isObject, listOf, stringOf } from '../json/object.ts';
import { LossReport } from '../losses/losses.ts';
import { isOfScope, isOpenAi, OTHER_ACCOUNT } from '../maker.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';

const FOREIGN = 'the reasoning of another provider';

/**
 * Removes what other models encrypted, and what this gateway wrote, from a body for a server of this API: it answers foreign content
 * with a 400 (docs/protocols/openai-responses.md#encrypted-content).
 */
export function clean(body: SearchableBody, { signatureScope }: Scoped): Cleaning | undefined {
  if (!body.contains(`"${ENVELOPE}`)) return undefined;
  return editInput(body, (item, at) => {
    const encrypted = stringOf(item.encrypted_content);
    if (!encrypted?.startsWith(ENVELOPE)) return item;
    if (item.type !== 'compaction') return unwrapped(item, encrypted, signatureScope);
    const summary = readSummary(encrypted);
    if (summary !== undefined) return { type: 'message', role: 'user', content: summary };
    throw new RequestFault(
      'invalid_value',
      `\`input[${at}]\` is a compaction that the gateway cannot read.`,
      `input[${at}]`,
    );
  });
}

type Scoped = Pick<RequestTarget, 'signatureScope'>;

/** Reasoning that this account encrypted, which a client of another API or the gateway kept in an envelope; else the reason of its loss. */
function unwrapped(item: JsonObject, encrypted: string, scope: string | undefined): JsonObject | string {
  const envelope = readEnvelope(encrypted);
  if (!envelope || item.type !== 'reasoning' || !isOpenAi(envelope.maker)) return FOREIGN;
  if (!isOfScope(envelope.maker, scope)) return OTHER_ACCOUNT;
  const own = envelope.kind === 'redacted' ? envelope.data : envelope.signature;
  // A client can write an envelope into an envelope.
  if (envelope.kind === 'signature' || own.startsWith(ENVELOPE)) return FOREIGN;
  return { ...item, encrypted_content: own };
}

/** Removes all reasoning: its maker refused what it encrypts, or another organisation's key did. */
export function withoutSignatures(body: BodyView): Cleaning | undefined {
  return editInput(body, (item) => (item.type === 'reasoning' ? REFUSED_SIGNATURE : item));
}

/** @param edit returns the item to send, or the reason why it is left out */
function editInput(body: BodyView, edit: (item: JsonObject, at: number) => JsonObject | string): Cleaning | undefined {
  const input = listOf(body.value('input'));
  if (!input) return undefined;
  const losses = new LossReport();
  let changed = false;
  const kept = input.flatMap((item: unknown, at): unknown[] => {
    const sent = isObject(item) ? edit(item, at) : item;
    if (sent === item) return [item];
    changed = true;
    if (typeof sent !== 'string') return [sent];
    losses.dropped(`input[${at}]`, sent);
    return [];
  });
  if (!changed) return undefined;
  return { edits: [{ path: ['input'], value: kept, source: 'gateway' }], losses: losses.list() };
}
