import type { ClientContext, PassThrough } from '../format.ts';
import { PlainPassThrough } from '../plain-pass-through.ts';
import { decodeReply } from './decode-reply.ts';
import { StreamPassThrough } from './pass-through-stream.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream ? new StreamPassThrough(client) : new PlainPassThrough(decodeReply, client.model);
}
