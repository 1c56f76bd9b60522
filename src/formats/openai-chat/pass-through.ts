import type { ClientContext, PassThrough } from '../format.ts';
import { PlainPassThrough, type WholeReply } from '../plain-pass-through.ts';
import { decodeReply } from './decode-reply.ts';
import { StreamPassThrough } from './pass-through-stream.ts';
import { isObject } from './read.ts';
import { removeExtensions } from './strict-fields.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  if (stream) return new StreamPassThrough(client);
  return client.strict
    ? new PlainPassThrough(decodeReply, client.model, withoutExtensions)
    : new PlainPassThrough(decodeReply, client.model);
}

function withoutExtensions({ bytes, body }: WholeReply): Buffer {
  return isObject(body) && removeExtensions(body) ? Buffer.from(JSON.stringify(body)) : bytes;
}
