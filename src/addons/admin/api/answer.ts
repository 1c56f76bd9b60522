/** A reply of the admin listener: text, an object to encode as JSON, a file in pieces, or nothing. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: object | string | Uint8Array | AsyncIterable<string | Uint8Array> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}
