import type { GenerationEvent } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext } from '../format.ts';
import { isObject, objectOf } from '../json/object.ts';
import { failureIn } from './errors.ts';
import { ResponseReader } from './response-reader.ts';

/** A plain 2xx reply → events. A response that failed is an error, though its status is 200. */
export function decodeReply(body: unknown, reply: ReplyContext): readonly GenerationEvent[] {
  const reader = new ResponseReader(reply);
  const failure = failureIn(body);
  if (failure) {
    reader.failed(objectOf(body) ?? {}, failure);
    return reader.drain();
  }
  if (!isObject(body) || !Array.isArray(body.output)) throw new ReplyFault('the reply is no response');
  const at = body.output.findIndex((item) => !isObject(item));
  if (at >= 0) throw new ReplyFault(`output[${at}] of the reply is no item`);
  reader.finish(body);
  return reader.drain();
}
