import type { Caller, Exchange } from '../../src/core/kernel/index.ts';

type Edits = Parameters<NonNullable<Exchange['request']['body']>['edit']>[0];
type BoundMetadata = Readonly<Record<string, string>>;

/** The fields in which each API's clients name the user on whose behalf they ask. */
const USER_FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'openai-chat': [['user'], ['safety_identifier']],
  'openai-responses': [['user'], ['safety_identifier']],
  'anthropic-messages': [['metadata', 'user_id']],
};

/** APIs whose `metadata` holds any keys: a value of a bound key is the same statement as one in the header. */
const FREE_METADATA: ReadonlySet<string> = new Set(['openai-chat', 'openai-responses']);

/**
 * The APIs whose requests have cost labels. A label with the name of a bound key is removed if its value differs. Nothing replaces it,
 * because labels allow fewer characters, and the config says which metadata become labels.
 */
const WITH_LABELS: ReadonlySet<string> = new Set(['openai-chat', 'gemini']);

/**
 * The edits that put the key's own values in place of others that the body has for them: `user` of the key's metadata in the API's field
 * for the user, and each of its keys in the body's `metadata`; differing labels go. Nothing is added that the client did not send.
 */
export function boundEdits({ operation, request }: Exchange, { keyId }: Caller, bound: BoundMetadata): Edits {
  const { body } = request;
  const format = operation?.format.name;
  if (!body || format === undefined) return [];
  const source = `metadata of the key ${keyId}`;
  const wanted = [
    ...(bound['user'] === undefined ? [] : (USER_FIELDS[format] ?? []).map((path) => ({ path, value: bound['user'] }))),
    ...(FREE_METADATA.has(format)
      ? Object.entries(bound).map(([key, value]) => ({ path: ['metadata', key], value }))
      : []),
    ...(WITH_LABELS.has(format)
      ? Object.entries(bound).map(([key, value]) => ({ path: ['labels', key], value, isRemoved: true }))
      : []),
  ];
  return wanted.flatMap(({ path: [top = '', inner], value, isRemoved = false }: WantedField) => {
    if (!body.has(top)) return [];
    const given = body.value(top);
    const now = inner === undefined ? given : memberOf(given, inner);
    if (now === undefined || now === value) return [];
    return [{ path: inner === undefined ? [top] : [top, inner], value: isRemoved ? undefined : value, source }];
  });
}

interface WantedField {
  readonly path: readonly string[];
  readonly value: string | undefined;
  readonly isRemoved?: boolean;
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
