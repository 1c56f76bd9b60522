import type { GenerationEvent } from '../../../formats/events.ts';
import { claimOf } from '../../../formats/counts.ts';
import { asList } from '../../../formats/gemini/wire.ts';
import { PlainPassThrough } from '../../../formats/streams/plain-pass-through.ts';
import { compact, isObject } from '../../../formats/json/object.ts';
import { ReplyFault } from '../../../formats/faults.ts';
import type { BodyEdit } from '../../../formats/body-view.ts';
import { LossReport } from '../../../formats/losses/losses.ts';
import type { TranslatingCodec } from '../codec.ts';
import { asDimensions, openBody, readPurpose } from '../vertex-ai/embeddings/request.ts';
import { toParts } from '../vertex-ai/embeddings/embed-content.ts';
import { ALL_MEDIA, readInputs, type MediaKind } from '../vertex-ai/embeddings/input.ts';
import { countedEnd, toReply, type Embedding } from '../vertex-ai/embeddings/reply.ts';
import { readVector } from '../../../formats/vectors.ts';

/** "At most 100 requests can be in one batch" is the API's own refusal (docs/protocols/embeddings.md#batch-embed-contents). */
const MAX_REQUESTS = 100;
const PARALLEL_CALLS = 8;

/** Only models from `gemini-embedding-2` on embed media. */
const NONE: ReadonlySet<MediaKind> = new Set();

const REASONS: Readonly<Record<string, string>> = {
  user: 'The Gemini API has no field for the end user',
  labels: 'The Gemini API has no cost labels',
  auto_truncate: 'The Gemini API always shortens long texts',
  autoTruncate: 'The Gemini API always shortens long texts',
};

/** OpenAI's embeddings by `:batchEmbedContents` (docs/protocols/embeddings.md#batch-embed-contents). */
export const batchEmbeddings: TranslatingCodec = {
  mode: 'translate',
  native: {
    mode: 'pass-through',
    form: 'batchEmbedContents',
    edits(body, model) {
      const requests = asList(body.value('requests'));
      const name = `models/${model}`;
      const isNamed = requests.every((request) => isObject(request) && request['model'] === name);
      const ofPath = ['model', 'stream'].filter((key) => body.has(key)).map((key) => edit(key, undefined));
      return isNamed ? ofPath : [...ofPath, edit('requests', requestsFor(requests, model))];
    },
    openReader: (model) => new PlainPassThrough(readBatch, model),
  },
  encode(body, context) {
    const losses = new LossReport();
    const { fields, base64 } = openBody(body);
    const media = /embedding-[2-9]/.test(context.model) ? ALL_MEDIA : NONE;
    const inputs = fields.need('input', (value) => readInputs(value, { media, losses }));
    const outputDimensionality = fields.take(['dimensions'], asDimensions);
    const shared = { ...readPurpose(fields, losses), ...compact({ outputDimensionality }) };
    fields.reportRest(losses, REASONS);
    const requests = inputs.map((input) => ({
      model: `models/${context.model}`,
      content: { parts: toParts(input, losses) },
      ...shared,
    }));
    const calls = Array.from({ length: Math.ceil(requests.length / MAX_REQUESTS) }, (_, call) => ({
      requests: requests.slice(call * MAX_REQUESTS, (call + 1) * MAX_REQUESTS),
    }));
    return {
      calls,
      parallel: PARALLEL_CALLS,
      losses: losses.list(),
      check: (reply, call) => void decodeBatch(reply, calls[call]?.requests.length ?? 0),
      decode: (replies) => {
        const embeddings = replies.flatMap((reply, call) => decodeBatch(reply, calls[call]?.requests.length ?? 0));
        return toReply(embeddings, { ...context, base64 });
      },
    };
  },
};

/** `:embedContent` for clients that ask for it (docs/protocols/embeddings.md#batch-embed-contents). Requests of other APIs are batches. */
export const singleEmbedding: TranslatingCodec = {
  ...batchEmbeddings,
  native: {
    mode: 'pass-through',
    form: 'embedContent',
    edits: (body, model) => [
      edit('model', `models/${model}`),
      ...(body.has('stream') ? [edit('stream', undefined)] : []),
    ],
    openReader: (model) => new PlainPassThrough(readSingle, model),
  },
};

/** The API counts the tokens of the whole call, if at all: they are those of its first embedding. */
function decodeBatch(reply: unknown, expected: number): readonly Embedding[] {
  const { embeddings, usageMetadata } = embeddingsIn(reply);
  if (embeddings.length !== expected)
    throw new ReplyFault(`there are ${embeddings.length} embeddings for ${expected} inputs`);
  const total = promptTokens(usageMetadata);
  return embeddings.map((embedding: unknown, at): Embedding => {
    const values = readVector(isObject(embedding) ? embedding['values'] : undefined, `vector ${at}`);
    return { values, tokens: total === undefined ? undefined : at === 0 ? total : 0, truncated: false };
  });
}

const edit = (key: string, value: unknown): BodyEdit => ({ path: [key], value, source: 'gateway' });

const requestsFor = (requests: readonly unknown[], model: string): readonly unknown[] =>
  requests.map((request) => (isObject(request) ? { ...request, model: `models/${model}` } : request));

function readSingle(reply: unknown): readonly GenerationEvent[] {
  const { embedding, usageMetadata } = isObject(reply) ? reply : {};
  if (!isObject(embedding)) throw new ReplyFault('it contains no embedding');
  return countedEnd(promptTokens(usageMetadata));
}

function readBatch(reply: unknown): readonly GenerationEvent[] {
  const { usageMetadata } = embeddingsIn(reply);
  return countedEnd(promptTokens(usageMetadata));
}

function embeddingsIn(reply: unknown): { readonly embeddings: readonly unknown[]; readonly usageMetadata?: unknown } {
  const { embeddings, usageMetadata } = isObject(reply) ? reply : {};
  if (!Array.isArray(embeddings)) throw new ReplyFault('it contains no embeddings');
  return { embeddings, usageMetadata };
}

const promptTokens = (usageMetadata: unknown): number | undefined =>
  claimOf(isObject(usageMetadata) ? usageMetadata['promptTokenCount'] : undefined);
