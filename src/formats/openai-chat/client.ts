import { pathsBy } from '../losses/places.ts';
import type { BodyView } from '../body-view.ts';
import type { ClientSettings, ClientOptions, ClientContext } from '../format.ts';
import { isObject } from '../json/object.ts';
import type { Loss } from '../conversation.ts';
import { shownText } from '../json/shown.ts';

export function readClient(body: BodyView, { id, strict }: ClientSettings): ClientOptions {
  const options = body.has('stream_options') ? body.value('stream_options') : undefined;
  return {
    id: `chatcmpl-${id}`,
    strict,
    includeUsage: isObject(options) && options['include_usage'] === true,
    functionCalls: body.has('functions') && !body.has('tools'),
  };
}

/**
 * Paths that have several names in this API (docs/protocols/openai-chat.md#request-fields,
 * docs/protocols/openai-chat.md#content-parts, docs/protocols/replies.md#reply-extensions).
 */
export const clientPaths = pathsBy([
  [/^max_tokens$/, 'max_tokens', 'max_completion_tokens'],
  [/^tool_choice$/, 'tool_choice', 'function_call'],
  [/^(functions\[\d+\])\.function\./, '$1.'],
  [/^(tools\[\d+\])\.cache_control$/, '$1.cache_control', '$1.function.cache_control', '$1.prompt_cache_breakpoint'],
  [/^(messages\[\d+\]\.function_call)\.function\./, '$1.'],
  [
    /^(messages\[\d+\]\.tool_calls\[\d+\])\.function\.thought_signature$/,
    '$1.function.thought_signature',
    '$1.thought_signature',
    '$1.extra_content.google.thought_signature',
    '$1.custom.thought_signature',
  ],
  [/^(messages\[\d+\]\.tool_calls\[\d+\])\.function\.arguments$/, '$1.function.arguments', '$1.custom.input'],
  [/^(messages\[\d+\]\.content_blocks\[\d+\])\.function\.arguments$/, '$1.input'],
  [
    /^(messages\[\d+\])(.*)\.cache_control$/,
    '$1$2.cache_control',
    '$1$2.prompt_cache_breakpoint',
    // A cache marker of the message applies to its last part.
    '$1.cache_control',
    '$1.prompt_cache_breakpoint',
  ],
  [/^(messages\[.*)\.image_url\.detail$/, '$1.image_url.detail', '$1.video_url.detail', '$1.audio_url.detail'],
  [/^(messages\[.*)(?<!\.file)\.filename$/, '$1.file.filename'],
]);

/** Modalities of OpenAI's own replies. */
const SHOWN: ReadonlySet<string> = new Set(['text', 'audio']);

const isHidden = (modality: unknown): modality is string => typeof modality === 'string' && !SHOWN.has(modality);

/** Reports modalities that a strict client requests and cannot receive: its replies have no field for them. */
export function unshown(body: BodyView, { strict }: ClientContext): readonly Loss[] {
  const requested = strict && body.has('modalities') ? body.value('modalities') : undefined;
  const hidden = Array.isArray(requested) ? requested.find(isHidden) : undefined;
  if (hidden === undefined) return [];
  const reason = `OpenAI’s own fields have no place for \`${shownText(hidden, 32)}\`: clients that are not strict get it in \`content_parts\``;
  return [{ param: 'modalities', action: 'dropped', reason }];
}
