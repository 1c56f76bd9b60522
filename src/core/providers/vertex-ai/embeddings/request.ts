import type { JsonObject } from '../../../../formats/conversation.ts';
import type { LossReport } from '../../../../formats/losses/losses.ts';
import { compact } from '../../../../formats/json/object.ts';
import { invalidValue, readBoolean, readString, required } from '../../../../formats/openai-chat/read.ts';
import { RequestFault } from '../../../../formats/faults.ts';

/** The reasons why known fields cannot be sent. */
export const REASONS: Readonly<Record<string, string>> = {
  user: 'Vertex AI has no field for the end user',
  labels: 'Vertex AI does not accept cost labels with embeddings',
};

/** Reads the fields that every codec needs; `model` is in the path. */
export function openBody(body: JsonObject): { fields: EmbeddingFields; base64: boolean } {
  const fields = new EmbeddingFields(body);
  fields.take(['model'], asString);
  return { fields, base64: fields.take(['encoding_format'], isBase64) ?? false };
}

function isBase64(value: unknown, param: string): boolean {
  const format = asString(value, param);
  if (format !== 'float' && format !== 'base64')
    throw invalidValue(param, `\`${param}\` must be float or base64 for this model.`);
  return format === 'base64';
}

/** Reads the purpose of the vectors. Google answers 400 to a title without its task. */
export function readPurpose(fields: EmbeddingFields, losses: LossReport) {
  const taskType = fields.take(TASK_TYPE_FIELDS, asTaskType);
  const title = fields.take(['title'], asText);
  if (title !== undefined && taskType !== WITH_TITLE)
    losses.dropped('title', `A title is accepted only with task_type ${WITH_TITLE}`);
  return compact({ taskType, title: taskType === WITH_TITLE ? title : undefined });
}

/** Reads truncation and dimensions, with the names that Google uses in both `:predict` and `:embedContent`. */
export const readShape = (fields: EmbeddingFields) =>
  compact({
    autoTruncate: fields.take(['auto_truncate', 'autoTruncate'], asBoolean),
    outputDimensionality: fields.take(['dimensions'], asDimensions),
  });

/** Fields for the purpose of the vectors: the gateway's own, Google's spelling, and that of other vendors (Cohere, Voyage, NVIDIA). */
const TASK_TYPE_FIELDS = ['task_type', 'taskType', 'input_type'] as const;

/** The only task that accepts a title (docs/protocols/embeddings.md#task-types). */
const WITH_TITLE = 'RETRIEVAL_DOCUMENT';

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

function asTaskType(value: unknown, param: string): string {
  const given = asString(value, param);
  const word = ALIASES.get(given.toLowerCase()) ?? given.toUpperCase();
  if (!GOOGLE_WORD.test(word))
    throw invalidValue(param, `\`${param}\` is not a task type, such as RETRIEVAL_QUERY or search_document.`);
  return word;
}

/** Reads one field of a caller's object. @param param its path, with the caller's spelling */
type Read<T> = (value: unknown, param: string) => T;

/** A caller's object, read field by field. `null`, which SDKs send for "not set", counts as absent. */
export class EmbeddingFields {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #taken = new Set<string>();

  /** @param path the path of the object in the body; empty for the body itself */
  constructor(object: JsonObject, path = '') {
    this.#object = object;
    this.#path = path;
  }

  /** The value under any of these names; names that contradict each other are refused. */
  take<T>(names: readonly string[], read: Read<T>): T | undefined {
    const given = names.filter((name) => this.has(name));
    const [first, ...others] = given.map((name) => {
      this.#taken.add(name);
      const param = this.param(name);
      return { param, value: read(this.#object[name], param) };
    });
    for (const { param, value } of others) {
      if (value !== first?.value) {
        throw invalidValue(param, `\`${param}\` and \`${first?.param}\` are the same field and have different values.`);
      }
    }
    return first?.value;
  }

  need<T>(name: string, read: Read<T>): T {
    return required(this.take([name], read), this.param(name));
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name) && this.#object[name] !== null && this.#object[name] !== undefined;
  }

  param(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  /** Reports the unread fields. @param reasons why known fields cannot be sent, by name */
  reportRest(losses: LossReport, reasons: Readonly<Record<string, string>> = {}): void {
    for (const name of Object.keys(this.#object)) {
      if (this.#taken.has(name) || !this.has(name)) continue;
      const reason = Object.hasOwn(reasons, name) ? reasons[name]! : 'Vertex AI has no such field';
      losses.dropped(this.param(name), reason);
    }
  }
}

export const asString = (value: unknown, param: string): string => required(readString(value, param), param);

export function asText(value: unknown, param: string): string {
  const text = asString(value, param);
  if (text === '') throw invalidValue(param, `\`${param}\` is empty: there is nothing to embed.`);
  return text;
}

export const asBoolean = (value: unknown, param: string): boolean => required(readBoolean(value, param), param);

export function asSeconds(value: unknown, param: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new RequestFault('invalid_request', `\`${param}\` must be a number of seconds.`, param);
  }
  return value;
}

export function asDimensions(value: unknown, param: string): number {
  if (!Number.isInteger(value) || Number(value) < 1) throw invalidValue(param, `\`${param}\` must be 1 or more.`);
  return Number(value);
}
