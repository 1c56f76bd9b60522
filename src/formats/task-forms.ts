import type { JsonObject } from './conversation.ts';

/** Methods of Google's API whose bodies some targets take as they are. */
export type NativeForm = 'batchEmbedContents' | 'embedContent' | 'predict';

/** Reports a field that OpenAI's form does not have. */
export type LoseField = (param: string, reason: string) => void;

/** Bodies of a task that is no conversation, in an API that is not OpenAI's. Pure. */
export interface TaskForms {
  /** Targets with this form get the body itself. */
  readonly native: NativeForm;
  /** Throws RequestFault. */
  toOpenAi(body: JsonObject, lose: LoseField): JsonObject;
  /** @param reply OpenAI's */
  fromOpenAi(reply: JsonObject): JsonObject;
  /** How the API spells fields that losses name as OpenAI's. */
  readonly fields: Readonly<Record<string, string>>;
}
