/** A reply of the admin listener: text, an object to encode as JSON, a file in pieces, or nothing. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: object | string | AsyncIterable<string> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export const failure = (
  status: number,
  code: string,
  message: string,
  headers?: AdminAnswer['headers'],
): AdminAnswer => ({
  status,
  body: { error: { code, message } },
  ...(headers && { headers }),
});

export const notFound = (message: string): AdminAnswer => failure(404, 'not_found', message);

export const methodNotAllowed = (allow: string): AdminAnswer =>
  failure(405, 'method_not_allowed', `This path accepts ${allow.replace(', ', ' and ')}.`, { allow });
