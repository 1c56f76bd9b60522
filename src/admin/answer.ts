/** What the admin listener answers: text as it is, or what becomes JSON. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: object | string;
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
  failure(405, 'method_not_allowed', `This path takes ${allow.replace(', ', ' and ')}.`, { allow });
