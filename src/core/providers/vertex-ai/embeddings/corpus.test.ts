import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageFile } from '../../../kernel/package-root.ts';
import { bodyOf, encode, lostParams } from './encode.testkit.ts';

/** Requests and replies recorded at Vertex AI, where they lie beside the checkout: no part of the project. */
const FILE = join(packageFile(''), '../shared/corpus/dev/vertex-embeddings.jsonl');

interface Instance {
  readonly content: string;
  readonly task_type?: string;
}
interface Recording {
  readonly id: string;
  readonly op: 'predict' | 'embedContent';
  readonly model: string;
  readonly request_body: {
    readonly instances?: readonly Instance[];
    readonly parameters?: { readonly outputDimensionality?: number };
    readonly content?: { readonly parts: readonly { readonly text: string }[] };
  } | null;
  readonly response_body: {
    readonly predictions?: readonly { readonly embeddings: { readonly values: readonly number[] } }[];
    readonly embedding?: { readonly values: readonly number[] };
  };
}

const recordings = existsSync(FILE)
  ? readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Recording)
  : [];

const vectorsIn = ({ predictions, embedding }: Recording['response_body']): readonly (readonly number[])[] =>
  embedding ? [embedding.values] : (predictions ?? []).map(({ embeddings }) => embeddings.values);

/** The request that an OpenAI client would have made; without a recorded one, one that fits the reply. */
function asked({ request_body: body, response_body: reply }: Recording): { input: readonly string[] } {
  const { instances, content, parameters } = body ?? {};
  const input =
    instances?.map((instance) => instance.content) ??
    content?.parts.map(({ text }) => text) ??
    vectorsIn(reply).map((_, index) => `t${index}`);
  return {
    input,
    ...(instances?.[0]?.task_type !== undefined && { task_type: instances[0].task_type }),
    ...(parameters?.outputDimensionality !== undefined && { dimensions: parameters.outputDimensionality }),
  };
}

describe.skipIf(recordings.length === 0)('what was recorded at Vertex AI', () => {
  test.each(recordings.map((recording) => [recording.id, recording] as const))(
    '%s: is encoded and decoded like the recording',
    (_, it) => {
      const encoded = encode(it.model, asked(it), { settings: { instances_per_call: 250 } });
      expect(lostParams(encoded)).toEqual([]);
      if (it.request_body) expect(encoded.calls).toEqual([it.request_body]);
      const { data, usage } = bodyOf(encoded.decode([it.response_body])) as {
        data: { embedding: readonly number[] }[];
        usage: { prompt_tokens: number };
      };
      expect(data.map(({ embedding }) => embedding)).toEqual(vectorsIn(it.response_body));
      expect(usage.prompt_tokens).toBeGreaterThan(0);
    },
  );
});
