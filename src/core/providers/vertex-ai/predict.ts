import type { Loss } from '../../../formats/conversation.ts';
import { ReplyFault } from '../../../formats/format.ts';
import { textOf } from '../../../formats/sse/stream-start.ts';
import { RequestBody } from '../../kernel/index.ts';
import type { Edit } from '../../../plugin/index.ts';
import type { BodyEnvelope } from '../provider.ts';

const BEFORE = Buffer.from('{"instances":[');
const AFTER = Buffer.from('],"parameters":{}}');

const source = 'gateway';

/** Without this, containers of Google's Model Garden expect a `prompt`. */
const CHAT: Edit = { path: ['@requestFormat'], value: 'chatCompletions', source };
/** `:predict` does not stream. */
const NO_STREAM: readonly Edit[] = ['stream', 'stream_options'].map((key) => ({
  path: [key],
  value: undefined,
  source,
}));
/** The endpoint determines the model. */
const NO_MODEL: Edit = { path: ['model'], value: undefined, source };

const STREAM_LOSS: Loss = {
  param: 'stream',
  action: 'downgraded',
  reason: 'This endpoint does not stream: the answer arrives in one piece',
};

/**
 * An OpenAI chat body as the one instance of a `:predict` call, and its prediction as the reply (docs/protocols/vertex-ai.md#predict).
 */
export function predictEnvelope(keepModel: boolean): BodyEnvelope {
  return {
    wrap(body, stream) {
      // Without limits: the body was checked against them before.
      const view = RequestBody.read(body, Number.POSITIVE_INFINITY);
      const dropped = (keepModel ? NO_STREAM : [...NO_STREAM, NO_MODEL]).filter(({ path }) => view.has(path[0]!));
      const instance = view.edit([CHAT, ...dropped]).encode();
      return { body: Buffer.concat([BEFORE, instance, AFTER]), losses: stream ? [STREAM_LOSS] : [] };
    },
    unwrap(bytes) {
      return Buffer.from(JSON.stringify(predictionIn(parse(bytes))));
    },
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(textOf(bytes));
  } catch (error) {
    throw new ReplyFault('the prediction is not complete JSON', { cause: error });
  }
}

/** The prediction for the one instance: containers return a list of one, Google's own containers for chat the object itself. */
function predictionIn(reply: unknown): object {
  const { predictions } = Object(reply) as { predictions?: unknown };
  const prediction: unknown = Array.isArray(predictions) ? predictions[0] : predictions;
  if (typeof prediction === 'object' && prediction !== null && !Array.isArray(prediction)) return prediction;
  throw new ReplyFault('the prediction is not a chat completion');
}
