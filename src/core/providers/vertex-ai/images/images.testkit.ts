import type { JsonObject } from '../../../../formats/conversation.ts';
import type { CodecContext, EncodedTask } from '../../codec.ts';
import { readEmbeddingSettings, taskEndpoint } from '../task-models.ts';

export const CONTEXT: CodecContext = { model: 'm', created: 1_795_132_800, strict: true, labels: {} };

/** Encodes a request with the codec of a model. */
export function encode(model: string, body: JsonObject, context: Partial<CodecContext> = {}): EncodedTask {
  const { codec } = taskEndpoint({ task: 'images', model }, (method) => model + method, readEmbeddingSettings());
  if (codec?.mode !== 'translate') throw new Error(`${model} is not translated`);
  return codec.encode({ model, prompt: 'a cat', ...body }, { ...CONTEXT, model, ...context });
}

/** Action and parameter of each loss. */
export const lossesOf = ({ losses }: EncodedTask): string[] => losses.map(({ action, param }) => `${action} ${param}`);

/** The fault that the work throws. */
export function faultOf(work: () => unknown): unknown {
  try {
    work();
  } catch (fault) {
    return fault;
  }
  return undefined;
}
