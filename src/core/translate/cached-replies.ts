import { ReplyFault, type ClientContext, type Format } from '../../formats/format.ts';
import { plainFromStream, streamFromPlain, streamWithUsage } from '../../formats/streams/replay.ts';
import { parseReplyText } from '../../formats/json/rounding.ts';
import { textOf } from '../../formats/sse/stream-start.ts';
import { GatewayError, type Clock, type Reply } from '../../plugin/index.ts';
import type { Attempt, CachedReply, Operation, ReplyCache } from '../kernel/index.ts';
import type { ReplyStore } from '../memory/ports.ts';
import { spokenHeaders } from './outbound-headers.ts';
import { renewedResponse } from './renewed-response.ts';
import { clientContext, checkMessagesRoute } from './translation-job.ts';

/** The store as the `cache` plugin sees it, which can also convert a reply between its plain and its stream form. */
export function createReplyCache(store: ReplyStore, clock: Clock): ReplyCache {
  return {
    maxEntryBytes: store.limits.maxEntryBytes,
    find: (key) => store.find(key),
    peek: (key) => store.peek(key),
    store: (key, reply, maxAgeMs) => store.store(key, reply, maxAgeMs),
    spoken: spokenHeaders,
    render(kept, exchange, attempt) {
      const { operation } = exchange;
      if (!operation || !attempt.resolved)
        throw new GatewayError('internal_error', 'A cached reply was rendered before its target was resolved.');
      // The reply may have been cached before the config restricted the route.
      checkMessagesRoute(operation, attempt.target, attempt.resolved);
      const stream = attempt.body.value('stream') === true;
      // The reply was stored with the client's options applied: thoughts in it are wanted, and its id is final.
      const settled = { hideThoughts: false, ownId: false };
      const client = {
        ...clientContext(exchange, attempt, { operation, resolved: attempt.resolved, clock }),
        ...settled,
      };
      const bytes = bytesFor(kept, stream, operation, client);
      if (!bytes) return undefined;
      return toReply(kept, ofRequest(bytes, stream, { operation, attempt, client }), stream, operation.format);
    },
  };
}

/** Clients name the ids of responses in later requests, so that each reply has its own. Ids of other APIs name nothing. */
function ofRequest(
  bytes: Buffer,
  stream: boolean,
  {
    operation,
    attempt,
    client,
  }: { readonly operation: Operation; readonly attempt: Attempt; readonly client: ClientContext },
): Buffer {
  if (operation.format.name !== 'openai-responses') return bytes;
  const { id, stored, continues = attempt.body.string('previous_response_id') } = client;
  return renewedResponse(bytes, stream, { id, stored, previous: continues });
}

function toReply({ status, ...kept }: CachedReply, body: Buffer, stream: boolean, { contentType }: Format): Reply {
  const type = kept.stream === stream ? kept.contentType : contentType[stream ? 'stream' : 'body'];
  return { status, headers: { 'content-type': type, ...(stream && { 'cache-control': 'no-cache' }) }, body, stream };
}

function bytesFor(
  kept: CachedReply,
  stream: boolean,
  { format, task }: Operation,
  client: ClientContext,
): Buffer | undefined {
  const { bytes, usage } = kept;
  if (kept.stream === stream && (!stream || kept.includeUsage === client.includeUsage)) return bytes;
  // Only replies of a conversation have events, through which the form changes.
  if (task !== 'generate') return undefined;
  try {
    if (!stream) return plainFromStream(format, bytes, usage, client);
    if (kept.stream) return streamWithUsage(format, bytes, usage, client);
    return streamFromPlain(format, parseReplyText(textOf(bytes)), client);
  } catch (error) {
    // A reply in the client's own format is cached unchecked, so it may not convert to the other form.
    if (error instanceof ReplyFault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
