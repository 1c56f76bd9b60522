import type { BodyView, Cleaning } from '../format.ts';
import { editMessages } from './edit-messages.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';

/** Only thinking is signed here, and Claude takes none without its signature. */
export function withoutSignatures(body: BodyView): Cleaning | undefined {
  return editMessages(body, {
    judge: (block) => (block.type === 'thinking' || block.type === 'redacted_thinking' ? REFUSED_SIGNATURE : block),
    lostThinking: REFUSED_SIGNATURE,
  });
}
