/** What the admin listener answers: text as it is, or what becomes JSON. */
export interface Answer {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const failure = (status: number, code: string, message: string, headers?: Answer['headers']): Answer => ({
  status,
  body: { error: { code, message } },
  ...(headers && { headers }),
});

export const notFound = (message: string): Answer => failure(404, 'not_found', message);

export const methodNotAllowed = (allow: string): Answer =>
  failure(405, 'method_not_allowed', `This path takes ${allow.replace(', ', ' and ')}.`, { allow });
