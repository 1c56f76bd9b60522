import { imageEditsFields, imageVariationsFields, transcriptionsFields } from '../../formats/fields/field-tables.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';

/** The schema is of the text fields. Files pass through unread. */
const FORM = {
  method: 'POST',
  body: 'multipart',
  // For errors only: the form passes through.
  format: openaiChat,
  validate: bodySchema('form-fields'),
} as const;

const AUDIO = { ...FORM, fields: transcriptionsFields } as const;

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
    fields: imageEditsFields,
  },
  {
    ...FORM,
    id: 'images.variations',
    path: '/v1/images/variations',
    task: 'image_variations',
    semconvName: 'image_variation',
    fields: imageVariationsFields,
  },
];
