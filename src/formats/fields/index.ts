import { chatFields } from './chat.ts';
import { embeddingsFields } from './embeddings.ts';
import type { FieldTable } from './field-table.ts';
import { geminiFields } from './gemini.ts';
import { imagesFields } from './images.ts';
import { messagesFields } from './messages.ts';

/** The field tables of all body formats that the gateway accepts. */
export const FIELD_TABLES: readonly FieldTable[] = [
  chatFields,
  messagesFields,
  geminiFields,
  embeddingsFields,
  imagesFields,
];
