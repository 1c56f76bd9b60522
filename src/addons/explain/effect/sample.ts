import type { GatewayError } from '../../../plugin/index.ts';
import type { ExplainQuestion } from '../explain/question.ts';

/** A request that is tried with the settings before and after. */
export interface Sample {
  /** For people: the id of a request, the line of a file, or what was asked. */
  readonly name: string;
  /** Samples with the same text go the same way. */
  readonly sameAs: string;
  readonly question: ExplainQuestion;
  /** Undefined: the question is the whole request. */
  readonly record?: RecordedFacts | undefined;
}

export interface UnknownSample {
  readonly name: string;
  readonly reason: string;
  /** The settings that a record names. */
  readonly record?: Pick<RecordedFacts, 'settingsHash' | 'config'> | undefined;
}

export const isUnknown = (one: Sample | UnknownSample): one is UnknownSample => 'reason' in one;

/** The facts of a request that its record has. It has no body. */
export interface RecordedFacts {
  readonly settingsHash: string | undefined;
  readonly config: { readonly id: string; readonly hash: string | undefined } | undefined;
  readonly operation: string;
  /** `@slug/model` of every attempt, in order. */
  readonly targets: readonly string[];
  /** As the caller named it. */
  readonly model: string | undefined;
  readonly error: string | undefined;
  /** Index of the condition that held, by the path of its conditional; undefined: none of them. */
  readonly held: ReadonlyMap<string, number | undefined>;
  /** The values that each field may have had. A field that is not here is not known. */
  readonly values: ReadonlyMap<string, readonly unknown[]>;
  /** Names of metadata whose values the record does not show as the caller sent them. */
  readonly unknownMetadata: ReadonlySet<string>;
  /** All metadata of the caller are in the record. */
  readonly hasAllMetadata: boolean;
  readonly draws: readonly number[];
  /** Failures by `@slug/model`. */
  readonly failures: ReadonlyMap<string, GatewayError>;
  /** Of the client, and milliseconds since 1970. */
  readonly address: string | undefined;
  readonly at: number;
  /** Paths of targets that were skipped because their breaker was open. */
  readonly open: readonly string[];
}
