import type { Loss } from '../conversation.ts';
import type { BodyView, ClientContext } from '../format.ts';

/** OpenAI's own API answers in these. */
const SHOWN: ReadonlySet<unknown> = new Set(['text', 'audio']);

/** Pictures that a strict client asks for: they are made, and its replies have no place for them. */
export function unshown(body: BodyView, { strict }: ClientContext): readonly Loss[] {
  const asked = strict && body.has('modalities') ? body.value('modalities') : undefined;
  const hidden = Array.isArray(asked) ? asked.find((modality) => !SHOWN.has(modality)) : undefined;
  if (hidden === undefined) return [];
  const reason = `OpenAI’s own fields have no place for \`${String(hidden).slice(0, 32)}\`: clients that are not strict get it in \`content_parts\``;
  return [{ param: 'modalities', action: 'dropped', reason }];
}
