import { idIn, placesIn } from '../../store/response-places.ts';
import {
  parseJson,
  type Exchange,
  type MaybePromise,
  type NewResponse,
  type ResponseService,
} from '../../../../core/kernel/index.ts';
import type { Reply } from '../../../../plugin/index.ts';
import { KeptPlainBody, KeptStream, lastResponse, type Keep } from './kept-body.ts';

/** Keeps the response of a reply as it leaves, or before it leaves where it is already whole. */
export function keepReply(
  reply: Reply,
  exchange: Exchange,
  service: ResponseService,
  input: () => Buffer,
): MaybePromise<void> {
  if (reply.status !== 200) return undefined;
  const isOwn = isWritten(exchange);
  const keep: Keep = (response) => {
    const found = isOwn ? writtenPlaces(response) : passedPlaces(response);
    return found && service.keep(exchange, { ...found, response, input: input() });
  };
  const { body, stream } = reply;
  if (Buffer.isBuffer(body)) {
    const response = stream ? lastResponse(body) : body;
    return response && keep(response);
  }
  reply.body = stream ? new KeptStream(body, exchange, keep) : new KeptPlainBody(body, service.maxBytes, keep);
  return undefined;
}

type Places = Pick<NewResponse, 'id' | 'items'>;

/** Its items are in the family of its id. Few responses are read again, so a look-up finds those of short ones. */
function writtenPlaces(response: Buffer): Places | undefined {
  if (response.length > LONG) return placesIn(response);
  const id = idIn(response);
  return id === undefined ? undefined : { id, items: undefined };
}

/** Bytes that are read through for an item. */
const LONG = 16 * 1024;

function passedPlaces(response: Buffer): Places | undefined {
  const places = parseJson(response.toString('utf8')) !== undefined ? placesIn(response) : undefined;
  return places && ENDED.has(places.status) ? places : undefined;
}

/** The gateway has written the reply itself, from that of another API, so it is JSON. */
function isWritten({ attempts, operation }: Exchange): boolean {
  const format = attempts.at(-1)?.resolved?.format;
  return format !== undefined && format !== operation?.format.name;
}

/** A response in the background ends at the upstream only: the gateway would keep its beginning. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);
