import { EventEmitter } from 'node:events';
import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';

/**
 * Replaces node:http's response for Koa and keeps everything set on it. Each attempt has its own, so that headers and a
 * body that a failed attempt set through `ctx` are dropped with it. Koa middleware works unchanged inside an attempt.
 */
export class ResponseCapture extends EventEmitter {
  statusCode = 404;
  statusMessage = '';
  readonly headersSent = false;
  readonly finished = false;
  readonly writable = true;
  readonly #headers = new Map<string, OutgoingHttpHeader>();

  /**
   * Validates as node:http does, so that the error is thrown at the faulty call. Once the reply leaves, it is too late
   * for an error reply.
   */
  setHeader(name: string, value: OutgoingHttpHeader): this {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, String(one));
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const before = this.#headers.get(name.toLowerCase());
    return this.setHeader(name, before === undefined ? [value].flat() : [before, value].flat().map(String));
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  getHeaders(): OutgoingHttpHeaders {
    return Object.fromEntries(this.#headers);
  }
}
