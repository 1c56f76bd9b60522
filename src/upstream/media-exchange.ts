import { UpstreamError, type GatewayError } from '../plugin/index.ts';
import { Dispatch } from './dispatch.ts';
import { formatDuration } from './limits.ts';
import type { OriginPool } from './pool.ts';
import type { Download, DownloadRequest } from './types.ts';

interface DownloadSettle {
  resolve(download: Download): void;
  reject(error: GatewayError): void;
}

/**
 * One GET of media that a caller names. Every status resolves, and redirects are not followed: the calling code decides about them.
 * Only the body of a 200 is read, and only as much as `admit` allows.
 */
export class MediaExchange extends Dispatch {
  readonly #request: DownloadRequest;
  readonly #settle: DownloadSettle;
  readonly #pieces: Buffer[] = [];
  #headers: Record<string, string> = {};
  #stopTimer: (() => void) | undefined;
  #stopListening: (() => void) | undefined;

  constructor(pool: OriginPool, request: DownloadRequest, settle: DownloadSettle) {
    const { url, headers } = request;
    super(pool, { path: url.pathname + url.search, method: 'GET', headers, body: null });
    this.#request = request;
    this.#settle = settle;
  }

  begin(after: (ms: number, task: () => void) => () => void): void {
    const { timeoutMs, cancellation } = this.#request;
    this.#stopTimer = after(timeoutMs, () => this.onFault(this.#timeoutError()));
    this.#stopListening = cancellation.onCancel((reason) => this.onFault(reason));
    if (!this.over) this.start();
  }

  protected override onSent(): void {}

  protected override onHeaders(status: number, headers: Record<string, string>): void {
    this.#headers = headers;
    if (status !== 200) {
      this.#release();
      this.stop();
      this.#settle.resolve({ status, headers, body: Buffer.alloc(0) });
      return;
    }
    // A body with a content-length above the limit is not read. undici refuses a length that is not a number.
    const announced = Number(headers['content-length'] ?? 0);
    if (announced > this.#request.room()) this.onFault(this.#tooLarge());
  }

  protected override onBytes(bytes: Buffer): void {
    if (this.#request.admit(bytes.length)) this.#pieces.push(bytes);
    else this.onFault(this.#tooLarge());
  }

  protected override onComplete(): void {
    this.#release();
    this.#settle.resolve({ status: 200, headers: this.#headers, body: Buffer.concat(this.#pieces) });
  }

  override onFault(error: GatewayError): void {
    this.#release();
    this.stop();
    this.#settle.reject(error);
  }

  #release(): void {
    this.#stopTimer?.();
    this.#stopListening?.();
  }

  #tooLarge(): UpstreamError {
    return new UpstreamError('reply_too_large', `The media at ${this.pool.host} is larger than the limit.`);
  }

  #timeoutError(): UpstreamError {
    const within = formatDuration(this.#request.timeoutMs);
    return new UpstreamError('timeout_total', `The media at ${this.pool.host} did not arrive within ${within}.`);
  }
}
