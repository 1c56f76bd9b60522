import type { RecordJson } from '../record/record-query.ts';
import type { InForce } from './reload.ts';

/** A request whose body is kept, as its client has sent it, without credentials. Plain values. */
export interface KeptClientRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly draws: readonly number[];
}

export interface RecordCaseQuestion {
  readonly record: RecordJson;
  /** Undefined: its body is not kept, and the case has one like it. */
  readonly kept: KeptClientRequest | undefined;
  readonly inForce: InForce;
  /** The folder of the settings. */
  readonly folder: string;
}

export interface RecordCase {
  /** In the folder of the settings: `gateway/production.test.yaml`. */
  readonly file: string;
  /** A file of tests with the one case, as YAML. */
  readonly text: string;
  /** Whether the case passes with the settings in force. */
  readonly passes: boolean;
  /** Why it does not, and in what it differs from the request. */
  readonly notes: readonly string[];
}

/** Makes requests and tests out of records. An add-on has it. */
export interface RecordCases {
  /** Runs the case, too. */
  make(question: RecordCaseQuestion): Promise<RecordCase>;
  /** The request of a client that takes the same way. */
  request(question: Pick<RecordCaseQuestion, 'record' | 'kept' | 'inForce'>): Promise<Omit<KeptClientRequest, 'draws'>>;
}
