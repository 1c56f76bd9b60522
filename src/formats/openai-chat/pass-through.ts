import type { BodyEdit, BodyView } from '../body-view.ts';
import type { ClientContext, PassThrough, ReplyContext } from '../format.ts';
import type { RequestTarget } from '../request-target.ts';
import { PlainPassThrough, type WholeReply } from '../streams/plain-pass-through.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import type { GenerationEvent } from '../events.ts';
import { decodeReply } from './decode-reply.ts';
import { readOrdinaryReply, withShortContent } from './ordinary-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { StreamPassThrough } from './pass-through-stream.ts';
import { usageRequest } from './stream-usage.ts';
import { removeExtensions } from './chunk-fields.ts';
import { isObject } from '../json/object.ts';
import { thinksInline, ThinkingStream } from './thinking-stream.ts';

export function passThrough(client: ClientContext, stream: boolean, reply?: ReplyContext): PassThrough {
  if (stream) return reply ? new ThinkingStream(client, reply) : new StreamPassThrough(client);
  const write = client.strict ? withoutExtensions : unchanged;
  if (!reply) return new PlainPassThrough(decode, client.model, write);
  return new PlainPassThrough(decodeReply, client.model, (whole, notes) =>
    thinksInline(whole.body) ? written(decodeReply(whole.body, reply), client, notes) : write(whole, notes),
  );
}

const decode = Object.assign(decodeReply.bind(undefined), { ordinary: readOrdinaryReply, shorten: withShortContent });

const unchanged = ({ bytes }: WholeReply): Buffer => bytes;

const written = (events: readonly GenerationEvent[], client: ClientContext, notes: LossNotes): Buffer =>
  Buffer.from(JSON.stringify(encodeReply(events, client, notes)));

function withoutExtensions({ bytes, body }: WholeReply, notes: LossNotes): Buffer {
  return isObject(body) && removeExtensions(body, notes) ? Buffer.from(JSON.stringify(body)) : bytes;
}

const source = 'gateway';

/**
 * Sets the target's own model name and requests usage on every stream: without it the gateway could not count the usage
 * of the reply. The caller's `stream_options` stay unchanged when the server refuses that field.
 */
export function passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[] {
  const edits: BodyEdit[] =
    body.value('model') === target.model ? [] : [{ path: ['model'], value: target.model, source }];
  if (target.streamUsage !== false && body.has('stream') && body.value('stream') === true) {
    const usage = usageRequest(body);
    if (usage) edits.push(usage);
  }
  return edits;
}
