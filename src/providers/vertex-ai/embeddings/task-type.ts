import { invalidValue } from '../../../formats/openai-chat/read.ts';
import { asString } from './fields.ts';

/** Fields for the purpose of the vectors: the gateway's own, Google's spelling, and that of other vendors (Cohere, Voyage, NVIDIA). */
export const TASK_TYPE_FIELDS = ['task_type', 'taskType', 'input_type'] as const;

/** The only task that accepts a title (docs/protocols/embeddings.md#task-types). */
export const WITH_TITLE = 'RETRIEVAL_DOCUMENT';

/** Google's equivalents for other vendors' `input_type`. Cohere: `search_…`; Voyage: `query`, `document`; NVIDIA: `passage`. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['search_document', WITH_TITLE],
  ['document', WITH_TITLE],
  ['passage', WITH_TITLE],
  ['search_query', 'RETRIEVAL_QUERY'],
  ['query', 'RETRIEVAL_QUERY'],
]);

/** The form of Google's task types. The list is not fixed here: Google accepts or refuses new ones. */
const GOOGLE_WORD = /^[A-Z]+(?:_[A-Z]+)*$/;

export function asTaskType(value: unknown, param: string): string {
  const given = asString(value, param);
  const word = ALIASES.get(given.toLowerCase()) ?? given.toUpperCase();
  if (!GOOGLE_WORD.test(word))
    throw invalidValue(param, `\`${param}\` is not a task type, such as RETRIEVAL_QUERY or search_document.`);
  return word;
}
