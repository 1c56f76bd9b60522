import type { JsonObject } from '../../../formats/conversation.ts';
import { LossReport } from '../../../formats/losses/losses.ts';
import type { TranslatingCodec } from '../../codec.ts';
import { readInputs } from './input.ts';
import { partition } from './partition.ts';
import { countOf, readPredictions, readVector, toReply, type Embedding } from './reply.ts';
import { openBody, readPurpose, readShape, REASONS } from './request.ts';
import { isObject } from '../../../formats/json/object.ts';

export interface CallSettings {
  readonly instancesPerCall: number;
  readonly parallelCalls: number;
}

/** The limit for one call (docs/protocols/embeddings.md#google-limits). */
const MAX_TOKENS = 20_000;

/**
 * An estimate, because only Google can count its tokens and it refuses a call that is too large as a whole. English has about four
 * bytes per token and Chinese three, so two are safe; Google refuses text with more tokens (long numbers).
 */
const BYTES_PER_TOKEN = 2;

const TEXT_ALONE = new Set<never>();

/** Text by `:predict` (docs/protocols/embeddings.md#google-predict). */
export function textCodec({ instancesPerCall, parallelCalls }: CallSettings): TranslatingCodec {
  const limits = { count: instancesPerCall, weight: MAX_TOKENS * BYTES_PER_TOKEN };
  return {
    mode: 'translate',
    encode(body, context) {
      const losses = new LossReport();
      const { fields, base64 } = openBody(body);
      const inputs = fields.need('input', (value) => readInputs(value, { media: TEXT_ALONE, losses }));
      const { taskType, title } = readPurpose(fields, losses);
      // Instances have snake_case names, parameters camelCase.
      const purpose = { ...(taskType !== undefined && { task_type: taskType }), ...(title !== undefined && { title }) };
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
    tokens: countOf(counts['token_count']),
    truncated: counts['truncated'] === true,
  };
}
