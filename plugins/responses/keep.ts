import type { Exchange, MaybePromise, Reply, ResponseService } from '../../src/plugin/index.ts';
import { KeptPlainBody, KeptStream, lastResponse, type Keep } from './kept-body.ts';
import { placesIn } from './places.ts';

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
    const places = isOwn || isJson(response) ? placesIn(response) : undefined;
    if (!places || !ENDED.has(places.status)) return undefined;
    const { id, output, items } = places;
    return service.keep(exchange, { id, response, output, items, input: input() });
  };
  const { body, stream } = reply;
  if (Buffer.isBuffer(body)) {
    const response = stream ? lastResponse(body) : body;
    return response && keep(response);
  }
  reply.body = stream ? new KeptStream(body, exchange, keep) : new KeptPlainBody(body, service.maxBytes, keep);
  return undefined;
}

/** The gateway has written the reply itself, from that of another API, so it is JSON. */
function isWritten({ attempts, operation }: Exchange): boolean {
  const format = attempts.at(-1)?.resolved?.format;
  return format !== undefined && format !== operation?.format.name;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** A response in the background ends at the upstream only: the gateway would keep its beginning. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);
