import type { Loss } from '../../formats/conversation.ts';
import type { Format, RequestTarget } from '../../formats/format.ts';
import { REFUSED_SIGNATURE, refusesSignature } from '../../formats/refused-signature.ts';
import { RequestBody, type Outbound } from '../../plugin/index.ts';

/** One path for all: the body is in the upstream's format, where the messages may have other numbers. */
const LOSS: Loss = {
  param: 'messages[].signature',
  action: 'dropped',
  reason: `${REFUSED_SIGNATURE}: sent once more without thoughts and signatures`,
};

/** Rewrites a refused body without signatures (docs/protocols/replies.md#refused-signatures). */
export function signatureRemoval(
  upstream: Format,
  { model }: RequestTarget,
): NonNullable<Outbound['withoutSignatures']> {
  return (failure, sent) => {
    if (!refusesSignature(failure)) return undefined;
    const bytes = typeof sent === 'string' ? Buffer.from(sent) : sent;
    // The body was within its limits when it was encoded.
    const body = RequestBody.read(bytes, Number.POSITIVE_INFINITY);
    const cleaning = upstream.withoutSignatures?.(body, { model });
    if (!cleaning) return undefined;
    const thinking = cleaning.losses.filter(({ param }) => param === 'thinking');
    return { body: body.edit(cleaning.edits).encode(), losses: [LOSS, ...thinking] };
  };
}
