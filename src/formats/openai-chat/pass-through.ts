import type { ClientContext, PassThrough } from '../format.ts';
import { PlainPassThrough, type WholeReply } from '../streams/plain-pass-through.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import { decodeReply } from './decode-reply.ts';
import { StreamPassThrough } from './pass-through-stream.ts';
import { removeExtensions } from './strict-fields.ts';
import { isObject } from '../json/object.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  if (stream) return new StreamPassThrough(client);
  return new PlainPassThrough(decodeReply, client.model, client.strict ? withoutExtensions : undefined);
}

function withoutExtensions({ bytes, body }: WholeReply, notes: LossNotes): Buffer {
  return isObject(body) && removeExtensions(body, notes) ? Buffer.from(JSON.stringify(body)) : bytes;
}
