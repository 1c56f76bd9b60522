import { geminiFields } from '../../formats/fields/gemini-fields.ts';
import { gemini, geminiArray } from '../../formats/gemini/index.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';
import { onModel, onPublishedModel } from './gemini-paths.ts';
import { withOneSpelling } from './one-spelling.ts';

const GENERATE = {
  method: 'POST',
  task: 'generate',
  semconvName: 'generate_content',
  format: gemini,
  fields: geminiFields,
  validate: withOneSpelling(bodySchema('generate-content'), geminiFields),
} as const;

const PLAIN = { ...GENERATE, id: 'gemini.generate_content' } as const;
const STREAM = { ...GENERATE, id: 'gemini.stream_generate_content' } as const;
/**
 * Without it a stream is one JSON array (docs/protocols/gemini.md#json-array-stream). Google's system parameters have a second name
 * with a dollar: https://cloud.google.com/apis/docs/system-parameters
 */
const SSE = ['alt', '$alt'].map((name) => ({ query: { name, value: 'sse' } }));

/** https://ai.google.dev/api/generate-content, and the same methods of Vertex AI. */
export const geminiGenerate: readonly Operation[] = [
  ...[onModel('generateContent', false), ...onPublishedModel('generateContent', false)].map((path) => ({
    ...PLAIN,
    ...path,
  })),
  ...[onModel('streamGenerateContent', true), ...onPublishedModel('streamGenerateContent', true)].flatMap((path) => [
    ...SSE.map((query) => ({ ...STREAM, ...query, ...path })),
    { ...STREAM, ...path, format: geminiArray },
  ]),
];
