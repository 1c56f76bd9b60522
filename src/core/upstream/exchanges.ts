import { addPiece } from '../../formats/json/piece-list.ts';
import { UNCODED } from '../kernel/body/content-decoder.ts';
import { UpstreamError, type Cancellation, type GatewayError } from '../../plugin/index.ts';
import { BoundedBody, readText } from './bounded-body.ts';
import { Dispatch } from './dispatch.ts';
import { formatDuration } from './limits.ts';
import type { OriginPool } from './pool.ts';
import type { Download, DownloadRequest, SmallReply, SmallRequest } from './types.ts';

type Settle<T> = Pick<PromiseWithResolvers<T>, 'resolve' | 'reject'>;

/** A request with a whole reply and one time limit. Every status resolves; redirects are not followed. */
abstract class Exchange<T> extends Dispatch {
  protected status = 0;
  protected headers: Record<string, string> = {};
  readonly #timeoutMs: number;
  readonly #settle: Settle<T>;
  #stopTimer: (() => void) | undefined;
  #stopListening: (() => void) | undefined;

  constructor(pool: OriginPool, options: Dispatch['options'], timeoutMs: number, settle: Settle<T>) {
    super(pool, options);
    this.#timeoutMs = timeoutMs;
    this.#settle = settle;
  }

  begin(after: (ms: number, task: () => void) => () => void, cancellation?: Cancellation): void {
    this.#stopTimer = after(this.#timeoutMs, () => this.onFault(this.timeoutError(formatDuration(this.#timeoutMs))));
    this.#stopListening = cancellation?.onCancel((reason) => this.onFault(reason));
    if (!this.over) this.pool.enter(this);
  }

  protected abstract timeoutError(within: string): UpstreamError;

  protected override onSent(): void {}

  protected override onHeaders(status: number, headers: Record<string, string>): void {
    this.status = status;
    this.headers = headers;
  }

  override onFault(error: GatewayError): void {
    this.#release();
    this.#settle.reject(error);
  }

  protected resolve(reply: T): void {
    this.#release();
    this.#settle.resolve(reply);
  }

  #release(): void {
    this.#stopTimer?.();
    this.#stopListening?.();
    this.stop();
  }
}

/** A token reply has at most 2 KiB, a set of signing keys about ten. */
const MAX_SMALL_REPLY = 64 * 1024;

export class SmallExchange extends Exchange<SmallReply> {
  readonly #body: BoundedBody;
  readonly #limit: number;
  readonly #binary: boolean;

  constructor(pool: OriginPool, path: string, request: SmallRequest, settle: Settle<SmallReply>) {
    const { method, headers, body, bodyBytes, timeoutMs, maxBytes } = request;
    super(
      pool,
      { path, method, headers: { ...UNCODED, ...headers }, body: bodyBytes ?? body ?? null },
      timeoutMs,
      settle,
    );
    this.#binary = maxBytes !== undefined;
    this.#limit = maxBytes ?? MAX_SMALL_REPLY;
    this.#body = new BoundedBody(this.#limit);
  }

  protected override onBytes(bytes: Buffer): void {
    if (this.#body.push(bytes)) return;
    this.onFault(new UpstreamError('reply_too_large', `The answer of ${this.pool.host} exceeds ${this.#limit} bytes.`));
  }

  protected override onComplete(): void {
    const { status, headers } = this;
    const bytes = this.#body.bytes();
    if (this.#binary) this.resolve({ status, headers, text: '', bytes });
    else this.resolve({ status, headers, text: readText(bytes, headers) });
  }

  protected override timeoutError(within: string): UpstreamError {
    const code = this.status === 0 ? 'timeout_first_byte' : 'timeout_total';
    return new UpstreamError(code, `${this.pool.host} did not answer within ${within}.`);
  }
}

/** One GET of media that a caller names. Only the body of a 200 is read, and only as much as `admit` allows. */
export class MediaExchange extends Exchange<Download> {
  readonly #request: DownloadRequest;
  readonly #pieces: Buffer[] = [];

  constructor(pool: OriginPool, request: DownloadRequest, settle: Settle<Download>) {
    const { url, headers, timeoutMs } = request;
    super(pool, { path: url.pathname + url.search, method: 'GET', headers, body: null }, timeoutMs, settle);
    this.#request = request;
  }

  protected override onHeaders(status: number, headers: Record<string, string>): void {
    super.onHeaders(status, headers);
    if (status !== 200) return this.resolve({ status, headers, body: Buffer.alloc(0) });
    // A body with a content-length above the limit is not read. undici refuses a length that is not a number.
    const announced = Number(headers['content-length'] ?? 0);
    if (announced > this.#request.room()) this.onFault(this.#tooLarge());
  }

  protected override onBytes(bytes: Buffer): void {
    if (this.#request.admit(bytes.length)) addPiece(this.#pieces, bytes);
    else this.onFault(this.#tooLarge());
  }

  protected override onComplete(): void {
    this.resolve({ status: 200, headers: this.headers, body: Buffer.concat(this.#pieces) });
  }

  protected override timeoutError(within: string): UpstreamError {
    return new UpstreamError('timeout_total', `The media at ${this.pool.host} did not arrive within ${within}.`);
  }

  #tooLarge(): UpstreamError {
    return new UpstreamError('reply_too_large', `The media at ${this.pool.host} is larger than the limit.`);
  }
}
