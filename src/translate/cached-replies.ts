import { ReplyFault, type ClientContext, type Format } from '../formats/format.ts';
import { plainFromStream, streamFromPlain, streamWithUsage } from '../formats/streams/replay.ts';
import { parseReplyText } from '../formats/json/rounding.ts';
import { textOf } from '../formats/sse/stream-start.ts';
import { GatewayError, type CachedReply, type Clock, type Reply, type ReplyCache } from '../plugin/index.ts';
import { ReplyStore, type ReplyStoreLimits, type ReplyStoreSetup } from '../state/memory/reply-cache.ts';
import { spokenHeaders } from './caller-headers.ts';
import { clientContext } from './client-context.ts';
import { checkMessagesRoute } from './messages-route.ts';

/** The store of this process. It stays as long as the settings leave its bounds as they are. */
export class ReplyStores {
  readonly #setup: Omit<ReplyStoreSetup, 'limits'>;
  #current: ReplyStore | undefined;

  constructor(setup: Omit<ReplyStoreSetup, 'limits'>) {
    this.#setup = setup;
  }

  /** For settings that are being compiled: the one in use if it fits them, else one that is used once they are in force. */
  prepare(limits: ReplyStoreLimits): ReplyStore {
    const current = this.#current;
    if (current?.limits.maxBytes === limits.maxBytes && current.limits.maxEntryBytes === limits.maxEntryBytes)
      return current;
    const { onChange, ...setup } = this.#setup;
    const store: ReplyStore = new ReplyStore({
      ...setup,
      limits,
      // Requests that began with older settings may still write to the store of those.
      onChange: (size) => {
        if (store === this.#current) onChange?.(size);
      },
    });
    return store;
  }

  /** The settings that `store` was prepared for are in force. */
  use(store: ReplyStore): void {
    this.#current = store;
    this.#setup.onChange?.(store.size);
  }
}

/** The store as the `cache` plugin sees it, with the forms a reply can be given again in. */
export function createReplyCache(store: ReplyStore, clock: Clock): ReplyCache {
  return {
    maxEntryBytes: store.maxEntryBytes,
    find: (key) => store.find(key),
    peek: (key) => store.peek(key),
    store: (key, reply, maxAgeMs) => store.store(key, reply, maxAgeMs),
    spoken: spokenHeaders,
    render(kept, exchange, attempt) {
      const { operation } = exchange;
      if (!operation || !attempt.resolved)
        throw new GatewayError('internal_error', 'A kept reply was asked for before its target was known.');
      // Kept, perhaps, before the config was restricted.
      checkMessagesRoute(operation, attempt.target, attempt.resolved);
      const stream = attempt.body.value('stream') === true;
      // What the client may see was settled when the reply was made: thoughts in it were asked for, and its id is its own.
      const settled = { hideThoughts: false, ownId: false };
      const client = {
        ...clientContext(exchange, attempt, { operation, resolved: attempt.resolved, clock }),
        ...settled,
      };
      const bytes = bytesFor(kept, stream, operation.format, client);
      return bytes && toReply(kept, bytes, stream, operation.format);
    },
  };
}

function toReply({ status, ...kept }: CachedReply, body: Buffer, stream: boolean, { contentType }: Format): Reply {
  const type = kept.stream === stream ? kept.contentType : contentType[stream ? 'stream' : 'body'];
  return { status, headers: { 'content-type': type, ...(stream && { 'cache-control': 'no-cache' }) }, body, stream };
}

function bytesFor(kept: CachedReply, stream: boolean, format: Format, client: ClientContext): Buffer | undefined {
  const { bytes, usage } = kept;
  if (kept.stream === stream && (!stream || kept.includeUsage === client.includeUsage)) return bytes;
  try {
    if (!stream) return Buffer.from(JSON.stringify(plainFromStream(format, bytes, usage, client)));
    if (kept.stream) return streamWithUsage(format, bytes, usage, client);
    return streamFromPlain(format, parseReplyText(textOf(bytes)), client);
  } catch (error) {
    // A reply in the client's own format leaves as it came, whatever is in it; it need not be one that can be told otherwise.
    if (error instanceof ReplyFault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
