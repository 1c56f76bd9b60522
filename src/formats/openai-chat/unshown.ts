import type { Loss } from '../conversation.ts';
import type { BodyView, ClientContext } from '../format.ts';
import { shownText } from '../json/shown.ts';

/** Modalities of OpenAI's own replies. */
const SHOWN: ReadonlySet<string> = new Set(['text', 'audio']);

const isHidden = (modality: unknown): modality is string => typeof modality === 'string' && !SHOWN.has(modality);

/**
 * Reports modalities that a strict client requests but cannot receive: the target generates the images, and the
 * client's replies have no field for them.
 */
export function unshown(body: BodyView, { strict }: ClientContext): readonly Loss[] {
  const requested = strict && body.has('modalities') ? body.value('modalities') : undefined;
  const hidden = Array.isArray(requested) ? requested.find(isHidden) : undefined;
  if (hidden === undefined) return [];
  const reason = `OpenAI’s own fields have no place for \`${shownText(hidden, 32)}\`: clients that are not strict get it in \`content_parts\``;
  return [{ param: 'modalities', action: 'dropped', reason }];
}
