import {
  lossesOf,
  unwantedReply,
  type Attempt,
  type CachedReply,
  type CacheSettings,
  type ReplyCache,
  addPiece,
} from '../../src/core/kernel/index.ts';
import { type Clock, WrappedSource, type GatewayError, type Source } from '../../src/plugin/index.ts';

/** Forwards a body. `onComplete` gets all bytes of a whole one with at most `limit` bytes. */
export class Tee extends WrappedSource {
  readonly #limit: number;
  readonly #onComplete: (bytes: Buffer) => void;
  #pieces: Buffer[] | undefined = [];
  #size = 0;

  constructor(source: Source, limit: number, onComplete: (bytes: Buffer) => void) {
    super(source);
    this.#limit = limit;
    this.#onComplete = onComplete;
  }

  override cancel(reason: GatewayError): void {
    this.#pieces = undefined;
    super.cancel(reason);
  }

  override push(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > this.#limit) this.#pieces = undefined;
    if (this.#pieces) addPiece(this.#pieces, bytes);
    super.push(bytes);
  }

  override end(): void {
    if (this.#pieces) this.#onComplete(Buffer.concat(this.#pieces, this.#size));
    this.#pieces = undefined;
    super.end();
  }

  override fail(error: GatewayError): void {
    this.#pieces = undefined;
    super.fail(error);
  }
}

export interface Keeping {
  readonly attempt: Attempt;
  readonly key: string;
  readonly settings: CacheSettings;
  readonly cache: ReplyCache;
  readonly clock: Clock;
}

/**
 * Stores a complete 2xx reply that the upstream finished, a streamed one when its end has been sent. Returns a buffered
 * reply, for the followers that wait for it.
 */
export function keepReply(keeping: Keeping, onKept: (kept: CachedReply) => void): CachedReply | undefined {
  const { attempt, cache } = keeping;
  const { reply } = attempt;
  if (!reply || reply.status < 200 || reply.status > 299) return undefined;
  const describe = describer(keeping);
  const store = (kept: CachedReply): void => {
    cache.store(keeping.key, kept, keeping.settings.maxAgeMs);
    onKept(kept);
  };
  const { body } = reply;
  if (Buffer.isBuffer(body)) {
    const kept = body.length <= cache.maxEntryBytes ? describe(body) : undefined;
    if (kept) store(kept);
    return kept;
  }
  reply.body = new Tee(body, cache.maxEntryBytes, (bytes) => {
    const kept = describe(bytes);
    if (kept) store(kept);
  });
  return undefined;
}

/** Captures the facts of the reply now, because the request body is released before the reply ends. */
function describer({ attempt, clock }: Keeping): (bytes: Buffer) => CachedReply | undefined {
  const { status, headers, stream } = attempt.reply!;
  const includeUsage = wantsUsage(attempt.body.value('stream_options'));
  return (bytes) => {
    const { signals } = attempt;
    // A reply that a plugin made has no signals and is not stored: the plugin can make it again.
    if (!signals?.ended || signals.failure || unwantedReply(attempt.target.unwanted, signals)) return undefined;
    const contentType = headers['content-type'] ?? 'application/json';
    const { usage, ended, output, blocked, finish, nativeFinish } = signals;
    return {
      status,
      bytes,
      stream,
      includeUsage,
      usage,
      contentType,
      losses: lossesOf(attempt),
      ...(attempt.defaulted && { defaulted: attempt.defaulted }),
      ending: { ended, output, blocked, finish, nativeFinish },
      storedAt: clock.now(),
    };
  };
}

const wantsUsage = (options: unknown): boolean =>
  typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
