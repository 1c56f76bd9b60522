import type { Loss } from '../conversation.ts';
import type { BodyView, ClientContext } from '../format.ts';
import { shownText } from '../json/shown.ts';

/** OpenAI's own API answers in these. */
const SHOWN: ReadonlySet<string> = new Set(['text', 'audio']);

const isHidden = (modality: unknown): modality is string => typeof modality === 'string' && !SHOWN.has(modality);

/** Pictures that a strict client asks for: they are made, and its replies have no place for them. */
export function unshown(body: BodyView, { strict }: ClientContext): readonly Loss[] {
  const asked = strict && body.has('modalities') ? body.value('modalities') : undefined;
  const hidden = Array.isArray(asked) ? asked.find(isHidden) : undefined;
  if (hidden === undefined) return [];
  const reason = `OpenAI’s own fields have no place for \`${shownText(hidden, 32)}\`: clients that are not strict get it in \`content_parts\``;
  return [{ param: 'modalities', action: 'dropped', reason }];
}
