import type { JsonObject } from '../../../../formats/conversation.ts';
import type { ModelCall } from '../../provider.ts';
import type { EncodedTask, TaskReply } from '../../codec.ts';
import { readEmbeddingSettings, taskEndpoint } from '../task-models.ts';

export const EMBED: ModelCall = { task: 'embeddings', stream: false };

interface More {
  readonly settings?: Parameters<typeof readEmbeddingSettings>[0];
  readonly strict?: boolean;
}

/** Encodes a body with the codec of a model. */
export function encode(model: string, body: JsonObject, { settings, strict = true }: More = {}): EncodedTask {
  const { codec } = taskEndpoint(
    { task: 'embeddings', model },
    (method) => `models/${model}${method}`,
    readEmbeddingSettings(settings),
  );
  if (codec?.mode !== 'translate') throw new Error(`${model} has no codec that translates`);
  return codec.encode({ model, ...body }, { model, created: 0, strict, labels: {} });
}

export const lostParams = ({ losses }: EncodedTask): readonly string[] => losses.map(({ param }) => param);

export function bodyOf(reply: TaskReply): JsonObject {
  if (!reply.ok) throw new Error(reply.failure.message);
  return reply.body;
}

export const prediction = (values: readonly number[], tokens: number | undefined = 3, truncated = false) => ({
  embeddings: { values, statistics: { truncated, ...(tokens !== undefined && { token_count: tokens }) } },
});
