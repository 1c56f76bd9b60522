import type { IncomingHttpHeaders } from 'node:http';

/** Names of the gateway's own headers under the configured prefixes, worked out once. */
export class HeaderNames {
  readonly #prefixes: readonly string[];
  readonly #names = new Map<string, readonly string[]>();
  readonly response: ResponseHeaderNames;

  constructor(prefixes: readonly string[]) {
    this.#prefixes = prefixes;
    const first = prefixes[0] ?? 'x-gateway-';
    this.response = {
      requestId: `${first}request-id`,
      traceId: `${first}trace-id`,
      provider: `${first}provider`,
      optionIndex: `${first}last-used-option-index`,
      retryCount: `${first}retry-attempt-count`,
      droppedParams: `${first}dropped-params`,
      cacheStatus: `${first}cache-status`,
    };
  }

  /** Value of `<prefix><name>` under the first prefix the request used. */
  read(headers: IncomingHttpHeaders, name: string): string | undefined {
    for (const full of this.#all(name)) {
      const value = headers[full];
      if (value !== undefined) return Array.isArray(value) ? value[0] : value;
    }
    return undefined;
  }

  /** `<prefix><name>` as the request wrote it; one that it did not send has the first prefix. */
  nameFor(headers: IncomingHttpHeaders, name: string): string {
    const names = this.#all(name);
    return names.find((full) => headers[full] !== undefined) ?? names[0] ?? name;
  }

  #all(name: string): readonly string[] {
    let names = this.#names.get(name);
    if (!names) this.#names.set(name, (names = this.#prefixes.map((prefix) => prefix + name)));
    return names;
  }
}

export interface ResponseHeaderNames {
  readonly requestId: string;
  readonly traceId: string;
  readonly provider: string;
  readonly optionIndex: string;
  readonly retryCount: string;
  readonly droppedParams: string;
  readonly cacheStatus: string;
}
