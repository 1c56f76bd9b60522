import type { JsonObject } from '../../formats/conversation.ts';
import type { TaskForms } from '../../formats/task-forms.ts';
import { isObject } from '../../formats/json/object.ts';
import { LossReport } from '../../formats/losses/losses.ts';
import { ReplyFault } from '../../formats/faults.ts';
import type { Codec, PassThroughCodec, TaskReply, TranslatingCodec } from '../providers/codec.ts';
import type { TranslationJob } from './translation-job.ts';

/** The codec for a client whose API is not OpenAI's. To a target of the client's own API the body travels as it is. */
export function clientCodec(
  { operation, resolved }: Pick<TranslationJob, 'operation' | 'resolved'>,
  codec: Codec,
): Codec {
  const { taskForms: forms } = operation;
  if (!forms) return codec;
  const native = codec.mode === 'translate' ? codec.native : undefined;
  if (native && native.form === forms.native) return native;
  return codec.mode === 'translate'
    ? throughOpenAi(codec, forms)
    : throughOpenAi(asTranslating(codec, resolved.extensions), forms);
}

const throughOpenAi = (codec: TranslatingCodec, { toOpenAi, fromOpenAi, fields }: TaskForms): TranslatingCodec => ({
  mode: 'translate',
  encode(body, context) {
    const losses = new LossReport();
    const openAi = toOpenAi(body, (param, reason) => losses.dropped(param, reason));
    // Fields beyond OpenAI's API do not reach the client: they become those of its own API.
    const encoded = codec.encode(openAi, { ...context, strict: false });
    const { stream: _, ...task } = encoded;
    for (const loss of encoded.losses) losses.add({ ...loss, param: fields[loss.param] ?? loss.param });
    return {
      ...task,
      losses: losses.list(),
      decode(replies) {
        const reply = encoded.decode(replies);
        return reply.ok ? { ...reply, body: fromOpenAi(reply.body) } : reply;
      },
    };
  },
});

/** An upstream with OpenAI's API, whose reply is written anew. */
const asTranslating = (codec: PassThroughCodec, extensions: ReadonlySet<string> | undefined): TranslatingCodec => ({
  mode: 'translate',
  encode(body, { model }) {
    const view = { has: (key: string) => Object.hasOwn(body, key), value: (key: string) => body[key] };
    const cleaning = codec.clean?.(view, extensions);
    const edits = [...(cleaning?.edits ?? []), ...codec.edits(view, model)];
    const call = { ...body };
    for (const { path, value } of edits) {
      const [key = ''] = path;
      if (value === undefined) Reflect.deleteProperty(call, key);
      else call[key] = value;
    }
    return {
      calls: [call],
      parallel: 1,
      losses: cleaning?.losses ?? [],
      decode: ([reply]) => read(codec, objectIn(reply), model),
    };
  },
});

/** The reply as the codec's own reader takes it: with its faults, failures and usage. */
function read(codec: PassThroughCodec, reply: JsonObject, model: string): TaskReply {
  const reader = codec.openReader(model, false);
  reader.push(Buffer.from(JSON.stringify(reply)));
  reader.end();
  const { failure, usage, model: named } = reader.signals;
  if (failure) return { ok: false, failure };
  return { ok: true, body: reply, ...(usage && { usage }), ...(named !== undefined && { model: named }) };
}

function objectIn(reply: unknown): JsonObject {
  if (!isObject(reply)) throw new ReplyFault('the reply is not an object');
  return reply;
}
