import type { Attempt, TryRecord, ReplyReaderLike } from '../../../core/kernel/index.ts';
import type { CallTap, TappedCall } from '../../../core/kernel/taps.ts';
import type { CapturedCall } from '../file/captured.ts';
import { Redaction, type TimedBytes } from './redaction.ts';

/** Counts bytes. False: there are too many. */
type TakeBytes = (bytes: number) => boolean;

type Head = Parameters<CallTap['refused']>[0];

/** One call of an upstream, and the bytes of its reply as they come. */
export class SeenCall implements CallTap {
  readonly call: TappedCall;
  readonly #attempt: Attempt;
  readonly #record: TryRecord;
  readonly #now: () => number;
  readonly #take: TakeBytes;
  readonly #credentials: readonly string[];
  readonly #pieces: TimedBytes[] = [];
  #head: Pick<Head, 'status' | 'headers'> | undefined;
  #isWhole = false;

  constructor(of: { attempt: Attempt; call: TappedCall; record: TryRecord }, now: () => number, take: TakeBytes) {
    this.call = of.call;
    this.#attempt = of.attempt;
    this.#record = of.record;
    this.#now = now;
    this.#take = take;
    const encoded = of.attempt.outbound?.headers ?? {};
    this.#credentials = Object.keys(of.call.headers).filter((name) => of.call.headers[name] !== encoded[name]);
    take(this.body?.length ?? 0);
  }

  /** Undefined: none, or a form, whose bytes come from the client as they are sent. */
  get body(): Buffer | undefined {
    const { body } = this.call;
    return typeof body === 'string' ? Buffer.from(body) : Buffer.isBuffer(body) ? body : undefined;
  }

  get secrets(): readonly string[] {
    return this.#credentials.map((name) => this.call.headers[name] ?? '');
  }

  drop(): void {
    this.#pieces.length = 0;
  }

  reading(reply: Pick<Head, 'status' | 'headers'>, reader: ReplyReaderLike): ReplyReaderLike {
    this.#head = reply;
    return {
      get signals() {
        return reader.signals;
      },
      push: (bytes) => {
        this.#note(bytes);
        return reader.push(bytes);
      },
      end: () => {
        this.#isWhole = true;
        return reader.end();
      },
    };
  }

  refused(reply: Head): void {
    this.#head = reply;
    this.#isWhole = true;
    this.#note(Buffer.from(reply.text));
  }

  describe(startedAt: number, redaction: Redaction): CapturedCall {
    const { method, origin, path, headers } = this.call;
    const { error, startedAt: sentAt, endedAt } = this.#record;
    const head = this.#head;
    // A reply that came whole is one, whatever the gateway made of it.
    const failed = this.#isWhole ? undefined : error?.code;
    const slug = this.#attempt.resolved?.slug;
    return {
      target: this.#attempt.target.path,
      ...(slug !== undefined && { provider: slug }),
      method,
      url: redaction.text(origin.url + path),
      headers: redaction.headers(headers, this.#credentials),
      body: this.body ? redaction.bytes(this.body) : null,
      at_ms: Math.round(sentAt - startedAt),
      ...(head && {
        reply: {
          status: head.status,
          headers: redaction.headers(head.headers),
          pieces: redaction.pieces(this.#pieces),
          end: this.#isWhole ? 'complete' : 'cut',
        },
      }),
      ...(failed !== undefined && { failed, failed_ms: Math.round((endedAt ?? this.#now()) - sentAt) }),
    };
  }

  #note(bytes: Buffer): void {
    // A copy: the bytes are a slice of all that was read at once.
    if (this.#take(bytes.length))
      this.#pieces.push([Math.round(this.#now() - this.#record.startedAt), Buffer.from(bytes)]);
  }
}
