import type { JsonObject } from '../conversation.ts';
import { ENVELOPE, readEnvelope, readSummary } from '../envelope.ts';
import { RequestFault } from '../faults.ts';
import type { BodyView, Cleaning, SearchableBody } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { editItems, stringOf } from '../json/object.ts';
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
  const losses = new LossReport();
  const value = editItems(body.value('input'), (item, at) => {
    const sent = edit(item, at);
    return typeof sent === 'string' ? losses.dropped(`input[${at}]`, sent) : sent;
  });
  return value && { edits: [{ path: ['input'], value, source: 'gateway' }], losses: losses.list() };
}
