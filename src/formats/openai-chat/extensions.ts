import { MODEL_LISTS } from '../fields/parameter-names.ts';
import type { RequestTarget } from '../request-target.ts';

/**
 * Fields of a chat request that OpenAI's API does not have, and that the gateway knows: top-level fields, then fields and parts of
 * messages, then tools. A server that speaks the API takes all of them, some, or none (`RequestTarget.extensions`). Fields that the
 * gateway does not know are not here: they reach every server of this format.
 */
const TOP_LEVEL_EXTENSIONS = [
  'thinking',
  'top_k',
  'labels',
  'safety_settings',
  'image_config',
  'anthropic_beta',
  'anthropic_version',
] as const;

/** Cache markers stand at the top level, too (Anthropic's automatic caching), and in messages. Routers alone read lists of models. */
export const REMOVED_AT_TOP_LEVEL = [...TOP_LEVEL_EXTENSIONS, 'cache_control', ...MODEL_LISTS] as const;

/**
 * `content_blocks` stands for thinking among the parts of `content` and for `citations` too, `signature` for those of parts,
 * `mime_type` for `format` beside it.
 */
export const MESSAGE_EXTENSIONS = [
  'content_blocks',
  'content_parts',
  'reasoning_content',
  'signature',
  'thought_signature',
  'extra_content',
  'cache_control',
  'mime_type',
  'file_url',
  'video_url',
  'audio_url',
] as const;

/** Functions that ask for a tool of the provider by their name (named-tools.ts). */
export const NAMED_TOOLS = ['web_search', 'computer_use'] as const;

/** `provider_tools` stands for tools with the types of other providers: `url_context`, `web_search_20250305`. */
export const CHAT_EXTENSIONS = [
  ...TOP_LEVEL_EXTENSIONS,
  ...MESSAGE_EXTENSIONS,
  ...NAMED_TOOLS,
  'provider_tools',
] as const;

/** Fields of an embeddings request. Vertex AI reads them, and servers with Cohere's field names. */
export const EMBEDDING_EXTENSIONS = ['task_type', 'input_type', 'title', 'auto_truncate'] as const;

/** Fields of an images request. Imagen and Gemini read them. */
export const IMAGE_EXTENSIONS = [
  'labels',
  'safety_settings',
  'image_config',
  'aspect_ratio',
  'image_size',
  'sample_image_size',
  'seed',
  'person_generation',
  'negative_prompt',
  'safety_setting',
  'add_watermark',
  'enhance_prompt',
  'language',
  'guidance_scale',
  'include_safety_attributes',
] as const;

type ChatExtension = (typeof CHAT_EXTENSIONS)[number] | (typeof MODEL_LISTS)[number];

export const takes = ({ extensions }: Pick<RequestTarget, 'extensions'>, name: ChatExtension): boolean =>
  extensions?.has(name) ?? true;

export const NOT_TAKEN = 'the API of this target has no such field';
