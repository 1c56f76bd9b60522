import { CHAT_PARAMETERS, MESSAGES_PARAMETERS } from '../../formats/fields/parameter-names.ts';
import { REPLY_LOSSES } from '../../formats/losses/reply-losses.ts';

const REPLY_PARAMS: ReadonlySet<string> = new Set(REPLY_LOSSES);

const topLevel = (path: string): string => /^[^.[:]*/.exec(path)![0];

/** Top-level fields besides those of chat completions and messages, with the gateway's additions. */
const OTHER_PARAMS = {
  chat: ['generation_config'],
  headers: ['anthropic-beta'],
  images: ['background', 'output_compression', 'partial_images', 'quality', 'size', 'style'],
  embeddings: ['auto_truncate', 'dimensions', 'encoding_format', 'input', 'input_type', 'task_type', 'title'],
};

/** A loss may concern any field that a caller invents; only these become label values. */
const KNOWN_PARAMS: ReadonlySet<string> = new Set([
  ...[...CHAT_PARAMETERS, ...MESSAGES_PARAMETERS].map(topLevel),
  ...Object.values(OTHER_PARAMS).flat(),
]);

/** `messages[2].content[0]` → `messages`, `anthropic-beta: NAME` → `anthropic-beta`; unknown fields → undefined. */
export function knownParam(path: string): string | undefined {
  if (REPLY_PARAMS.has(path)) return path;
  const name = topLevel(path);
  return KNOWN_PARAMS.has(name) ? name : undefined;
}
