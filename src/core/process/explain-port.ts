import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';

/** A question as the admin listener receives it: plain values that any process can answer. */
export interface QuestionBody {
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the client's body, as written in the question. */
  readonly body: string;
  /** Id of a key. */
  readonly key?: string;
  readonly draws?: readonly number[];
  /** Milliseconds since 1970. */
  readonly at?: number;
  /** The id of a kept request, whose method, path, headers and body it has. */
  readonly of?: string;
  /** Texts of settings files in place of those in force. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The health of targets by their places. */
  readonly health?: Readonly<Record<string, Health>>;
}

export type Health = 'closed' | 'open' | 'half_open';

export class BadQuestion extends Error {
  override readonly name = 'BadQuestion';
}

/** Questions and outcomes as plain values, because they may come from another process. */
export interface ExplainSource {
  explain(question: QuestionBody): Promise<ExplainOutcome>;
  /** Undefined: no request is stored under this id. Rejects when that cannot be determined. */
  explained(id: string): Promise<ExplainOutcome | undefined>;
}

export type ExplainOutcome =
  | {
      /** An `Explanation` of the add-on, with the number of the worker that answered. */
      readonly explanation: object & { readonly worker?: number };
      readonly refused?: never;
    }
  | { readonly refused: ExplainRefusal; readonly explanation?: never };

interface ExplainRefusal {
  /** As in the errors of the admin API. */
  readonly code: 'unknown_key' | 'cannot_explain' | 'busy' | 'not_found' | 'invalid_body';
  readonly message: string;
}

/** Explanations of requests. An add-on has them. */
export interface Explain {
  readonly explains: ExplainSource;
  /** Whether this process can explain the served request. */
  keeps(id: string): boolean;
  /** Reads the body of a question. Throws BadQuestion. */
  readQuestion(bytes: Buffer, limits: Pick<ServerSettings['limits'], 'json' | 'header'>): QuestionBody;
  /** The explanation as text, for people. */
  textOf(explanation: object): Promise<string>;
  /** The explanation without the texts of its request. */
  withoutTexts(explanation: object): Promise<object>;
  /** The files were rewritten with the same content, but lines may have moved. */
  readAgain(files: RecordedFiles): void;
}
