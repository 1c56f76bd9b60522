import { claimOf } from '../../../../formats/counts.ts';
import type { JsonObject } from '../../../../formats/conversation.ts';
import { compact, isObject } from '../../../../formats/json/object.ts';
import { LossReport } from '../../../../formats/losses/losses.ts';
import type { TranslatingCodec } from '../../codec.ts';
import { readInputs } from './input.ts';
import { nativePredict, readPredictions, toReply, type Embedding } from './reply.ts';
import { readVector } from '../../../../formats/vectors.ts';
import { openBody, readPurpose, readShape, REASONS } from './request.ts';

interface CallSettings {
  readonly instancesPerCall: number;
  readonly parallelCalls: number;
}

/** The limit for one call (docs/protocols/embeddings.md#google-limits). */
const MAX_TOKENS = 20_000;

/**
 * An estimate, because only Google can count its tokens and it refuses a call that is too large as a whole. English has
 * about four bytes per token and Chinese three, so two are safe; Google refuses text with more tokens (long numbers).
 */
const BYTES_PER_TOKEN = 2;

const TEXT_ALONE = new Set<never>();

/** Text by `:predict` (docs/protocols/embeddings.md#google-predict). */
export function textCodec({ instancesPerCall, parallelCalls }: CallSettings): TranslatingCodec {
  const limits = { count: instancesPerCall, weight: MAX_TOKENS * BYTES_PER_TOKEN };
  return {
    mode: 'translate',
    native: nativePredict,
    encode(body, context) {
      const losses = new LossReport();
      const { fields, base64 } = openBody(body);
      const inputs = fields.need('input', (value) => readInputs(value, { media: TEXT_ALONE, losses }));
      const { taskType, title } = readPurpose(fields, losses);
      // Instances have snake_case names, parameters camelCase.
      const purpose = compact({ task_type: taskType, title });
      const parameters = readShape(fields);
      const groups = partition(inputs, limits, ({ text = '' }) => Buffer.byteLength(text));
      const read = (reply: unknown, call: number): readonly Embedding[] =>
        readPredictions(reply, groups[call]!.length).map(decodePrediction);
      fields.reportRest(losses, REASONS);
      return {
        calls: groups.map((group) => ({
          instances: group.map(({ text }) => ({ content: text, ...purpose })),
          ...(Object.keys(parameters).length > 0 && { parameters }),
        })),
        parallel: parallelCalls,
        losses: losses.list(),
        check: (reply, call) => void read(reply, call),
        decode: (replies) => toReply(replies.flatMap(read), { ...context, base64 }),
      };
    },
  };
}

function decodePrediction({ embeddings }: JsonObject, at: number): Embedding {
  const { values, statistics } = isObject(embeddings) ? embeddings : {};
  const counts = isObject(statistics) ? statistics : {};
  return {
    values: readVector(values, `the vector of prediction ${at}`),
    tokens: claimOf(counts['token_count']),
    truncated: counts['truncated'] === true,
  };
}

interface CallLimits {
  readonly count: number;
  readonly weight: number;
}

/** Divides items, in order, into as few calls as the limits allow. An item above the limit gets a call of its own, which the upstream may refuse. */
export function partition<T>(items: readonly T[], limits: CallLimits, weigh: (item: T) => number): readonly T[][] {
  const calls: T[][] = [];
  let open: T[] = [];
  let weight = 0;
  for (const item of items) {
    const own = weigh(item);
    if (open.length > 0 && (open.length >= limits.count || weight + own > limits.weight)) {
      calls.push(open);
      open = [];
      weight = 0;
    }
    open.push(item);
    weight += own;
  }
  if (open.length > 0) calls.push(open);
  return calls;
}
