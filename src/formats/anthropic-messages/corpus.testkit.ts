import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../conversation.ts';
import { isObject, parseJson } from '../json/object.ts';

/** A recorded exchange, as far as these tests read it (corpus README, "Record format"). */
export interface RecordedExchange {
  readonly id: string;
  readonly family: string;
  readonly op: string;
  readonly path: string;
  readonly model: string;
  readonly request_body: unknown;
  readonly response_status: number;
  readonly response_body_kind: string;
  readonly response_body: unknown;
}

/** The reply that the corpus' own checker expects; written by hand there, independently of this code. */
interface Expectation {
  readonly applicable: boolean;
  readonly choices: readonly {
    readonly text: readonly string[];
    readonly thinking: readonly { readonly text: string; readonly signature?: string }[];
    readonly redacted: readonly string[];
    readonly tools: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
    readonly stop: string | null;
    readonly usage: JsonObject | undefined;
  }[];
}

const CORPUS = new URL('../../../../shared/corpus/', import.meta.url);

export const hasCorpus = existsSync(new URL('dev/anthropic.jsonl', CORPUS));

export function recorded(...families: readonly string[]): RecordedExchange[] {
  if (!hasCorpus) return [];
  return families.flatMap((family) =>
    readFileSync(new URL(`dev/${family}.jsonl`, CORPUS), 'utf8')
      .split('\n')
      .map(parseJson)
      .filter((record): record is JsonObject & RecordedExchange => isObject(record)),
  );
}

export async function loadExpectations(): Promise<(record: RecordedExchange) => Expectation> {
  const module = (await import(new URL('check-shapes.mjs', CORPUS).href)) as {
    derive: (record: RecordedExchange) => Expectation;
  };
  return module.derive;
}
