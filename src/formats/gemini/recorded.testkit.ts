import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../conversation.ts';

/** Recorded traffic is beside the checkout and never part of it. Without it these tests are skipped. */
const CORPUS = new URL('../../../../shared/corpus/', import.meta.url);
const FILES = ['gemini.jsonl', 'vertex-gemini.jsonl'];

export const hasCorpus = FILES.every((file) => existsSync(new URL(`dev/${file}`, CORPUS)));

export interface Recording {
  readonly id: string;
  readonly family: string;
  readonly op: string;
  readonly model: string;
  readonly request_body_kind: string;
  readonly request_body: JsonObject;
  readonly response_status: number;
  readonly response_body_kind: 'json' | 'sse' | 'json_array_stream' | 'text' | 'none';
  readonly response_body: unknown;
  readonly features: readonly string[];
}

export interface ExpectedChoice {
  readonly text: readonly string[];
  readonly thinking: readonly { readonly text: string; readonly signature?: string }[];
  readonly tools: readonly {
    readonly upstreamId?: string;
    readonly name: string;
    readonly args?: unknown;
    readonly argsUnknown?: boolean;
    readonly signature?: string;
  }[];
  readonly images: readonly { readonly mime: string; readonly data: string }[];
  readonly stop: string | null;
  readonly otherBlocks: readonly string[];
  readonly partial?: boolean;
}

export interface Expected {
  readonly applicable: boolean;
  readonly why?: string;
  readonly status: number;
  readonly choices: readonly ExpectedChoice[];
  readonly usage: {
    readonly promptInclusive: readonly number[];
    readonly completion: readonly number[];
    readonly cached: number;
    readonly reasoning: number;
    readonly total: readonly number[];
  } | null;
  readonly blocked?: string;
  readonly streamError?: string;
  readonly errorMessage?: string;
  readonly unfinished?: boolean;
}

/** Exchanges of the two operations of this format. Integer enums are another wire format. */
export function recordings(): Recording[] {
  if (!hasCorpus) return [];
  return FILES.flatMap((file) =>
    readFileSync(new URL(`dev/${file}`, CORPUS), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Recording => JSON.parse(line))
      .filter(({ op, features }) => /^(?:streamG|g)enerateContent$/.test(op) && !features.includes('enum_int')),
  );
}

/** Loads the corpus' own checker, which reads the expected values of an exchange without gateway code. */
export async function loadDerive(): Promise<(recording: Recording) => Expected> {
  const checker: { derive: (recording: Recording) => Expected } = await import(
    new URL('check-shapes.mjs', CORPUS).href
  );
  return checker.derive;
}
