import { UpstreamError, type GatewayError } from '../plugin/index.ts';
import { BoundedBody, readText } from './bounded-body.ts';
import { Dispatch } from './dispatch.ts';
import { formatDuration } from './limits.ts';
import type { OriginPool } from './pool.ts';
import type { SmallReply, SmallRequest } from './types.ts';

/** A token reply has at most 2 KiB, a set of signing keys about ten. */
const MAX_SMALL_REPLY = 64 * 1024;

interface SmallSettle {
  resolve(reply: SmallReply): void;
  reject(error: GatewayError): void;
}

/** A small request of the gateway itself. Every status resolves, and redirects are not followed. */
export class SmallExchange extends Dispatch {
  readonly #timeoutMs: number;
  readonly #settle: SmallSettle;
  readonly #body = new BoundedBody(MAX_SMALL_REPLY);
  #status = 0;
  #headers: Record<string, string> = {};
  #stopTimer: (() => void) | undefined;

  constructor(pool: OriginPool, path: string, request: SmallRequest, settle: SmallSettle) {
    const { method, headers, body } = request;
    super(pool, { path, method, headers, body: body ?? null });
    this.#timeoutMs = request.timeoutMs;
    this.#settle = settle;
  }

  begin(after: (ms: number, task: () => void) => () => void): void {
    this.#stopTimer = after(this.#timeoutMs, () => this.onFault(this.#timeoutError()));
    this.start();
  }

  protected override onSent(): void {}

  protected override onHeaders(status: number, headers: Record<string, string>): void {
    this.#status = status;
    this.#headers = headers;
  }

  protected override onBytes(bytes: Buffer): void {
    if (this.#body.push(bytes)) return;
    this.onFault(
      new UpstreamError('reply_too_large', `The answer of ${this.pool.host} exceeds ${MAX_SMALL_REPLY} bytes.`),
    );
  }

  protected override onComplete(): void {
    this.#stopTimer?.();
    const text = readText(this.#body.bytes(), this.#headers, MAX_SMALL_REPLY);
    this.#settle.resolve({ status: this.#status, headers: this.#headers, text });
  }

  override onFault(error: GatewayError): void {
    this.#stopTimer?.();
    this.stop();
    this.#settle.reject(error);
  }

  #timeoutError(): UpstreamError {
    const phase = this.#status === 0 ? 'timeout_first_byte' : 'timeout_total';
    return new UpstreamError(phase, `${this.pool.host} did not answer within ${formatDuration(this.#timeoutMs)}.`);
  }
}
