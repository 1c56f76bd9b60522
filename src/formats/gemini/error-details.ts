import type { JsonObject } from '../conversation.ts';
import type { ClientError } from '../client-error.ts';
import { stringOf } from '../json/read.ts';
import { objectsOf } from './wire.ts';

/** The details of Google's errors (docs/protocols/errors.md#google-errors). */
const TYPE_PREFIX = 'type.googleapis.com/google.rpc.';

type DetailName = 'BadRequest' | 'ErrorInfo' | 'QuotaFailure' | 'RetryInfo';

const detail = (name: DetailName, fields: JsonObject): JsonObject => ({ '@type': TYPE_PREFIX + name, ...fields });

export const detailOf = (details: readonly JsonObject[], name: DetailName): JsonObject | undefined =>
  details.find((one) => stringOf(one['@type'])?.endsWith(`google.rpc.${name}`));

/** Others name the server's stack and the account's requests. */
const PASSED =
  /^type\.googleapis\.com\/google\.rpc\.(?:BadRequest|ErrorInfo|Help|LocalizedMessage|PreconditionFailure|QuotaFailure|RetryInfo)$/;

/** Keys of `metadata` in ErrorInfo that clients may see. Its other keys name the project in forms of their own (`consumer`, `containerInfo`). */
const METADATA: ReadonlySet<string> = new Set([
  'method',
  'model',
  'quota_limit',
  'quota_limit_value',
  'quota_location',
  'quota_metric',
  'quota_unit',
  'service',
]);

const MAX_DETAILS = 10;
const MAX_DEPTH = 8;
/** Characters of all keys and values. */
const MAX_SIZE = 8 * 1024;

/** The details that clients of Google's API may see; undefined: none, or too many. */
export function readDetails(details: unknown): readonly JsonObject[] | undefined {
  const passed = objectsOf(details)
    .slice(0, MAX_DETAILS)
    .filter((one) => PASSED.test(stringOf(one['@type']) ?? ''))
    .map((one) => (one['metadata'] === undefined ? one : { ...one, metadata: metadataOf(one['metadata']) }));
  return passed.length > 0 && roomAfter(passed, MAX_SIZE, MAX_DEPTH) >= 0 ? passed : undefined;
}

/** The room that the value leaves; negative: the value is too large, or too deep for JSON.stringify. */
function roomAfter(value: unknown, room: number, depth: number): number {
  if (typeof value !== 'object' || value === null) return room - String(value).length;
  if (depth === 0) return -1;
  let left = room;
  for (const [key, inner] of Object.entries(value)) {
    left = roomAfter(inner, left - key.length - 1, depth - 1);
    if (left < 0) return left;
  }
  return left;
}

const metadataOf = (metadata: unknown): JsonObject =>
  Object.fromEntries(Object.entries(Object(metadata) as JsonObject).filter(([key]) => METADATA.has(key)));

/** Google's own details first: clients read the first one of a type. */
export function writeDetails(error: ClientError, isOutOfBudget: boolean): readonly JsonObject[] {
  const { status, message, code, param, limit, retryAfterMs = limit?.retryAfterMs, upstreamDetails = [] } = error;
  const details = [...upstreamDetails];
  if (code !== null) details.push(detail('ErrorInfo', { reason: code, domain: 'gatehouse' }));
  if (param !== null && !detailOf(upstreamDetails, 'BadRequest'))
    details.push(detail('BadRequest', { fieldViolations: [{ field: param, description: message }] }));
  const subject = limit?.counts ?? (isOutOfBudget ? 'budget' : undefined);
  if (subject !== undefined) details.push(detail('QuotaFailure', { violations: [{ subject, description: message }] }));
  if (retryAfterMs !== undefined && WAITS.has(status) && !detailOf(upstreamDetails, 'RetryInfo'))
    details.push(detail('RetryInfo', { retryDelay: `${Math.ceil(retryAfterMs) / 1000}s` }));
  return details;
}

/** Statuses after which Google's clients wait (docs/protocols/errors.md#retry-info). */
const WAITS: ReadonlySet<number> = new Set([429, 503, 529]);
