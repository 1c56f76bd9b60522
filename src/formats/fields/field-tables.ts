import type { FieldTable } from './field-table.ts';
import {
  geminiCountFields,
  geminiEmbedBatchFields,
  geminiEmbedFields,
  geminiFields,
  geminiPredictFields,
} from './gemini-fields.ts';
import { CHAT_INNER, MESSAGES_INNER, RESPONSES_INNER } from './inner-names.ts';
import { CHAT_PARAMETERS, MESSAGES_PARAMETERS, MODEL_LISTS, RESPONSES_PARAMETERS } from './parameter-names.ts';
import { sharedNames } from './shared-parameters.ts';
import { otherApis } from './written-for.ts';

/** LiteLLM merges `extra_body` over the body (https://docs.litellm.ai/docs/completion/provider_specific_params). */
const LIFTED = ['extra_body'] as const;

/**
 * Anthropic's advisor and OpenAI's image generation have a `model` (docs/protocols/anthropic-messages.md#server-tools,
 * docs/protocols/openai-responses.md#request).
 */
const TOOLS = ['tools'] as const;

/** Of a conversation with OpenAI's or Anthropic's API. */
const ofConversation = (api: 'chat' | 'messages' | 'responses') => ({
  shared: sharedNames(api),
  otherApis: otherApis(api),
  bothCases: false,
  lifted: LIFTED,
  models: MODEL_LISTS,
  toolLists: TOOLS,
});

/** POST /v1/chat/completions (docs/protocols/openai-chat.md#request-fields). */
export const chatFields: FieldTable = {
  ...ofConversation('chat'),
  read: CHAT_PARAMETERS,
  inner: CHAT_INNER,
  synonyms: [
    // `max_tokens` is the deprecated name; servers read either, and some prefer the older one.
    ['max_tokens', 'max_completion_tokens'],
    ['tools', 'functions'],
    ['tool_choice', 'function_call'],
    // OpenAI replaces `user` by `safety_identifier`; Claude gets either as `metadata.user_id`.
    ['user', 'safety_identifier'],
    // Each sets the amount of thinking: OpenAI's string, Anthropic's object, OpenRouter's object.
    ['reasoning_effort', 'thinking', 'reasoning'],
  ],
  freeMaps: [
    'metadata',
    'labels',
    'logit_bias',
    'chat_template_kwargs',
    'tools[].function.parameters',
    'functions[].parameters',
    'response_format.json_schema.schema',
    'messages[].tool_calls[].function.arguments',
    'messages[].content_blocks[].input',
  ],
};

/** POST /v1/embeddings, with the fields that Vertex AI's own API adds. */
export const embeddingsFields: FieldTable = {
  read: [
    'model',
    'input',
    'dimensions',
    'encoding_format',
    'user',
    'title',
    ...MODEL_LISTS,
    'task_type',
    'taskType',
    'input_type',
    'auto_truncate',
    'autoTruncate',
  ],
  // `input_type` is Cohere's name for the purpose of an embedding.
  synonyms: [['task_type', 'taskType', 'input_type']],
  bothCases: true,
  lifted: LIFTED,
  models: MODEL_LISTS,
  freeMaps: ['metadata', 'labels'],
};

/** POST /v1/images/generations, with the fields that Imagen and Gemini add. */
export const imagesFields: FieldTable = {
  read: [
    'model',
    'prompt',
    'n',
    'size',
    'quality',
    'style',
    'response_format',
    'output_format',
    'output_compression',
    'background',
    'moderation',
    'stream',
    'partial_images',
    'user',
    'labels',
    'seed',
    'language',
    ...MODEL_LISTS,
    'aspect_ratio',
    'image_size',
    'sample_image_size',
    'person_generation',
    'negative_prompt',
    'safety_setting',
    'add_watermark',
    'enhance_prompt',
    'guidance_scale',
    'include_safety_attributes',
    'image_config',
    'safety_settings',
  ],
  synonyms: [['image_size', 'sample_image_size']],
  bothCases: true,
  lifted: LIFTED,
  models: MODEL_LISTS,
  freeMaps: ['metadata', 'labels'],
};

/** A body that only a server with the client's API reads. */
const passed = (read: readonly string[]): FieldTable => ({
  read: ['model', ...read, ...MODEL_LISTS],
  synonyms: [],
  bothCases: false,
  lifted: LIFTED,
  models: MODEL_LISTS,
  freeMaps: ['metadata'],
});

/** A form: servers that read brackets as lists take `model[]` for `model`. */
const form = (read: readonly string[]): FieldTable => {
  const table = passed(read);
  const lists = ['model', ...table.models].map((name) => `${name}[]`);
  return { ...table, read: [...table.read, ...lists], models: [...table.models, ...lists] };
};

/** POST /v1/completions (docs/protocols/completions.md). */
export const completionsFields: FieldTable = {
  shared: sharedNames('completions'),
  ...passed([
    'prompt',
    'suffix',
    'max_tokens',
    'temperature',
    'top_p',
    'n',
    'stream',
    'stream_options.include_usage',
    'logprobs',
    'echo',
    'stop',
    'presence_penalty',
    'frequency_penalty',
    'best_of',
    'logit_bias',
    'seed',
    'user',
  ]),
  freeMaps: ['metadata', 'logit_bias'],
};

/** POST /v1/moderations. */
export const moderationsFields: FieldTable = passed(['input']);

/** POST /v1/audio/speech (docs/protocols/audio.md#speech). */
export const speechFields: FieldTable = passed([
  'input',
  'voice',
  'instructions',
  'response_format',
  'speed',
  'stream_format',
]);

/** The text fields of POST /v1/audio/transcriptions and /v1/audio/translations (docs/protocols/audio.md#forms). */
export const transcriptionsFields: FieldTable = form([
  'language',
  'prompt',
  'response_format',
  'temperature',
  'stream',
  'chunking_strategy',
  'include[]',
  'timestamp_granularities[]',
  'known_speaker_names[]',
  'known_speaker_references[]',
]);

/** The text fields of POST /v1/images/edits (docs/protocols/images.md#openai-edits). */
export const imageEditsFields: FieldTable = form([
  'prompt',
  'n',
  'size',
  'quality',
  'response_format',
  'output_format',
  'output_compression',
  'background',
  'input_fidelity',
  'stream',
  'partial_images',
  'user',
]);

/** The text fields of POST /v1/images/variations. */
export const imageVariationsFields: FieldTable = form(['n', 'size', 'response_format', 'user']);

/** POST /v1/messages and its token count (docs/protocols/anthropic-messages.md#request-fields). */
export const messagesFields: FieldTable = {
  ...ofConversation('messages'),
  read: MESSAGES_PARAMETERS,
  inner: MESSAGES_INNER,
  // `output_format` is the deprecated spelling (docs/protocols/anthropic-messages.md#output-config). `thinking` and
  // `output_config.effort` are no synonyms: a request may set both.
  synonyms: [['output_config.format', 'output_format']],
  lifted: [],
  freeMaps: [
    'metadata',
    'labels',
    'tools[].input_schema',
    'tools[].input_examples',
    'messages[].content[].input',
    'output_config.format.schema',
    'output_format.schema',
  ],
};

/** POST /v1/responses and its token count (docs/protocols/openai-responses.md#request). */
export const responsesFields: FieldTable = {
  ...ofConversation('responses'),
  read: RESPONSES_PARAMETERS,
  inner: RESPONSES_INNER,
  // OpenAI replaces `user` by `safety_identifier`.
  synonyms: [['user', 'safety_identifier']],
  // Items such as `additional_tools` have tools of their own (docs/protocols/openai-responses.md#request).
  toolLists: [...TOOLS, 'input[].tools'],
  inItems: [{ field: 'tools', list: 'input', removed: ['additional_tools'], emptied: ['tool_search_output'] }],
  freeMaps: [
    'metadata',
    'labels',
    'client_metadata',
    'tools[].parameters',
    'tools[].tools[].parameters',
    'text.format.schema',
    'input[].arguments',
    'input[].tools[].parameters',
    'input[].tools[].tools[].parameters',
    'prompt.variables',
  ],
};

/** POST /v1/prompts/{prompt}/completions: a chat request without the fields that the prompt sets. */
export const promptFields: FieldTable = {
  ...chatFields,
  read: [...chatFields.read, 'variables', 'promptID', 'prompt_id'],
  freeMaps: [...chatFields.freeMaps, 'variables'],
};

/** The field tables of all body formats that the gateway accepts. */
export const FIELD_TABLES: readonly FieldTable[] = [
  chatFields,
  promptFields,
  messagesFields,
  responsesFields,
  geminiFields,
  geminiCountFields,
  geminiEmbedFields,
  geminiEmbedBatchFields,
  geminiPredictFields,
  embeddingsFields,
  imagesFields,
  completionsFields,
  moderationsFields,
  speechFields,
  transcriptionsFields,
  imageEditsFields,
  imageVariationsFields,
];
