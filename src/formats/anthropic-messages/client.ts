import { pathsBy } from '../losses/places.ts';
import type { BodyView } from '../body-view.ts';
import type { ClientSettings, ClientOptions } from '../format.ts';
import { isObject } from '../json/object.ts';

/**
 * The compliance header concerns OpenAI's fields, which a reply of this API does not have. The header is accepted, for
 * clients that set it on every request, and changes nothing. Whether thoughts are requested, which the header decides
 * there, is a field of the body here.
 */
export function readClient(body: BodyView, { id }: ClientSettings): ClientOptions {
  const thoughts = thoughtsFor(body);
  const strict = thoughts !== 'shown';
  const signsHidden = thoughts === 'omitted';
  return {
    id: `msg_${id}`,
    strict,
    hideThoughts: strict,
    ...(signsHidden && { signsHidden }),
    ownId: true,
    includeUsage: false,
  };
}

/** Two types turn thinking on. `display: omitted` requests blocks without text (docs/protocols/anthropic-messages.md#thinking). */
function thoughtsFor(body: BodyView): 'shown' | 'omitted' | 'none' {
  const thinking = body.has('thinking') ? body.value('thinking') : undefined;
  if (!isObject(thinking) || (thinking['type'] !== 'enabled' && thinking['type'] !== 'adaptive')) return 'none';
  return thinking['display'] === 'omitted' ? 'omitted' : 'shown';
}

/** Fields that this API names differently from OpenAI's chat API, whose names losses use. */
export const clientPaths = pathsBy([
  [/^user$/, 'metadata.user_id'],
  [/^stop$/, 'stop_sequences'],
  [/^parallel_tool_calls$/, 'tool_choice.disable_parallel_tool_use'],
  [/^reasoning_effort$/, 'output_config.effort'],
  // `output_format` is the deprecated spelling (docs/protocols/anthropic-messages.md#output-config).
  [/^response_format(?:\.json_schema)?/, 'output_config.format', 'output_format'],
  [/^(tools\[\d+\])\.function\.parameters/, '$1.input_schema'],
  [/^(tools\[\d+\])\.function\./, '$1.'],
  [/^(messages\[.*?)\.(?:file\.)?filename$/, '$1.title'],
  [/^(messages\[.*)\.mime_type$/, '$1.source.media_type'],
  [/^(messages\[.*)\.function\.arguments$/, '$1.input'],
  // Signatures of calls travel in their ids (tool-ids.ts).
  [/^(messages\[.*)\.function\.thought_signature$/, '$1.id'],
]);
