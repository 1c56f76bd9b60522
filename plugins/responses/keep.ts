import {
  isObject,
  type Exchange,
  type KeptItem,
  type KeptResponse,
  type Reply,
  type ResponseService,
} from '../../src/plugin/index.ts';
import type { Item } from './expand.ts';
import { KeptPlainBody, KeptStream, lastResponse, parsed, type Keep } from './kept-body.ts';

/** Keeps the response of a reply as it leaves, or before it leaves where it is already whole. */
export async function keepReply(
  reply: Reply,
  exchange: Exchange,
  service: ResponseService,
  input: () => string,
): Promise<void> {
  if (reply.status !== 200) return;
  const keep: Keep = (response) => {
    const kept = keptOf(response, input);
    return kept && service.keep(exchange, kept);
  };
  const { body, stream } = reply;
  if (Buffer.isBuffer(body)) {
    const response = stream ? lastResponse(body) : parsed(body.toString('utf8'));
    if (isObject(response)) await keep(response);
  } else reply.body = stream ? new KeptStream(body, exchange, keep) : new KeptPlainBody(body, service.maxBytes, keep);
}

/** A response in the background ends at the upstream only: the gateway would keep its beginning. */
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);

function keptOf({ output, ...head }: Item, input: () => string): KeptResponse | undefined {
  const { id, status } = head;
  if (typeof id !== 'string' || !ENDED.has(status)) return undefined;
  const items = Array.isArray(output) ? output.map(itemOf) : [];
  return { id, head: JSON.stringify(head), output: items, input: input() };
}

function itemOf(item: unknown): KeptItem {
  const id = isObject(item) && typeof item['id'] === 'string' ? item['id'] : undefined;
  return { id, text: JSON.stringify(item) };
}

/** The response as the client received it. */
export const responseText = ({ head, output }: Pick<KeptResponse, 'head' | 'output'>): string =>
  `{"output":[${output.map(({ text }) => text).join(',')}],${head.slice(1)}`;
