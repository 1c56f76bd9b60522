import type { JsonObject } from '../conversation.ts';

const ERROR_KINDS: Readonly<Record<number, { readonly type: string; readonly code: string | null }>> = {
  401: { type: 'authentication_error', code: 'invalid_api_key' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota' },
  403: { type: 'permission_error', code: null },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  413: { type: 'invalid_request_error', code: 'request_too_large' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  503: { type: 'server_error', code: 'overloaded' },
};

/** An error body (docs/protocols/errors.md#openai-errors). */
export function errorBody(status: number, message: string, param: string | null = null): JsonObject {
  const fallback = { type: status < 500 ? 'invalid_request_error' : 'server_error', code: null };
  const { type, code } = ERROR_KINDS[status] ?? fallback;
  return { error: { message, type, param, code } };
}
