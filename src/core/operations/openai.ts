import * as tables from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

const POST = { method: 'POST', format: openaiChat } as const;

/** https://platform.openai.com/docs/api-reference/chat/create */
export const chatCompletions: Operation = {
  ...POST,
  id: 'chat.completions',
  path: '/v1/chat/completions',
  task: 'generate',
  semconvName: 'chat',
  fields: tables.chatFields,
  validate: bodySchema('chat-completions'),
};

/** OpenAI has no such operation: the reply is `{object, input_tokens}`, as OpenAI counts for its Responses API. */
export const chatCountTokens: Operation = {
  ...chatCompletions,
  id: 'chat.completions.count_tokens',
  path: '/v1/chat/completions/count_tokens',
  task: 'count_tokens',
  semconvName: 'count_tokens',
};

// Of the operations below the format is for errors only: the provider's codec reads and writes the bodies.

/** https://platform.openai.com/docs/api-reference/embeddings/create */
export const embeddings: Operation = {
  ...POST,
  id: 'embeddings',
  path: '/v1/embeddings',
  task: 'embeddings',
  semconvName: 'embeddings',
  fields: tables.embeddingsFields,
  validate: bodySchema('embeddings'),
};

/** https://platform.openai.com/docs/api-reference/images/create */
export const images: Operation = {
  ...POST,
  id: 'images.generations',
  path: '/v1/images/generations',
  task: 'images',
  semconvName: 'image_generation',
  fields: tables.imagesFields,
  validate: bodySchema('images'),
};

/** https://platform.openai.com/docs/api-reference/completions/create */
export const completions: Operation = {
  ...POST,
  id: 'completions',
  path: '/v1/completions',
  task: 'completions',
  semconvName: 'text_completion',
  fields: tables.completionsFields,
  validate: bodySchema('completions'),
};

/** https://platform.openai.com/docs/api-reference/moderations/create */
export const moderations: Operation = {
  ...POST,
  id: 'moderations',
  path: '/v1/moderations',
  task: 'moderations',
  semconvName: 'moderation',
  fields: tables.moderationsFields,
  validate: bodySchema('moderations'),
};

/** https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const speech: Operation = {
  ...POST,
  id: 'audio.speech',
  path: '/v1/audio/speech',
  task: 'speech',
  semconvName: 'speech',
  fields: tables.speechFields,
  validate: bodySchema('speech'),
};

/** The schema is of the text fields. Files pass through unread. */
const FORM = { ...POST, body: 'multipart', validate: bodySchema('form-fields') } as const;

const AUDIO = { ...FORM, fields: tables.transcriptionsFields } as const;

/** Multipart forms for models (docs/protocols/audio.md#forms, docs/protocols/images.md#openai-edits). */
export const forms: readonly Operation[] = [
  {
    ...AUDIO,
    id: 'audio.transcriptions',
    path: '/v1/audio/transcriptions',
    task: 'transcriptions',
    semconvName: 'transcription',
  },
  {
    ...AUDIO,
    id: 'audio.translations',
    path: '/v1/audio/translations',
    task: 'translations',
    semconvName: 'translation',
  },
  {
    ...FORM,
    id: 'images.edits',
    path: '/v1/images/edits',
    task: 'image_edits',
    semconvName: 'image_edit',
    fields: tables.imageEditsFields,
  },
  {
    ...FORM,
    id: 'images.variations',
    path: '/v1/images/variations',
    task: 'image_variations',
    semconvName: 'image_variation',
    fields: tables.imageVariationsFields,
  },
];
