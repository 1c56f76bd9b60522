import { invalidValue } from '../../../formats/openai-chat/read.ts';
import { asString } from './fields.ts';

/** Fields that say what the vectors are for: the gateway's own, Google's spelling, and other vendors' (Cohere, Voyage, NVIDIA). */
export const TASK_TYPE_FIELDS = ['task_type', 'taskType', 'input_type'] as const;

/** The one task that takes a title (docs/protocols/embeddings.md#task-types). */
export const WITH_TITLE = 'RETRIEVAL_DOCUMENT';

/** Values of `input_type` elsewhere, in Google's words. Cohere: `search_…`; Voyage: `query`, `document`; NVIDIA: `passage`. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['search_document', WITH_TITLE],
  ['document', WITH_TITLE],
  ['passage', WITH_TITLE],
  ['search_query', 'RETRIEVAL_QUERY'],
  ['query', 'RETRIEVAL_QUERY'],
]);

/** Google's words, which share one form; new ones are its own to know or refuse. */
const GOOGLE_WORD = /^[A-Z]+(?:_[A-Z]+)*$/;

export function asTaskType(value: unknown, param: string): string {
  const given = asString(value, param);
  const word = ALIASES.get(given.toLowerCase()) ?? given.toUpperCase();
  if (!GOOGLE_WORD.test(word))
    throw invalidValue(param, `\`${param}\` is no type of task, such as RETRIEVAL_QUERY or search_document.`);
  return word;
}
