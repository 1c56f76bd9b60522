import fc from 'fast-check';

/** Kinds of catalog entries that differ in the headers they send. */
export const ENTRY_KINDS = [
  'openai with a key',
  'openai without a credential',
  'openai with secret headers',
  'openai with a key, headers and secret headers',
  'azure',
  'azure with secret headers',
  'anthropic',
  'vertex with an API key',
  'vertex with a service account',
  'vertex without a credential',
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

type Names = readonly string[] | undefined;

export interface TargetPlan {
  /** Index of the catalog entry. */
  readonly entry: number;
  readonly forward: Names;
}

export interface ConfigPlan {
  readonly forward: Names;
  /** Set: the targets are in a group inside the config, with this list or none. */
  readonly group: { readonly forward: Names } | undefined;
  /** Empty: the request names the provider. */
  readonly targets: readonly TargetPlan[];
  readonly customHosts: boolean;
}

export const KEY_PLACES = ['own header', 'authorization', 'x-api-key', 'x-goog-api-key', 'query'] as const;
/** What `Authorization` holds where the gateway key is elsewhere. */
export const AUTHORIZATIONS = ['token', 'the same key', 'another key', 'a key in Basic', 'nothing'] as const;
export const OPERATIONS = [
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1beta/models/{model}:generateContent',
] as const;

export interface RequestPlan {
  /** A config of the settings, one that comes with the request, or none. */
  readonly config: { readonly stored: number } | { readonly inline: ConfigPlan } | undefined;
  /** Used where the config has no targets: an entry by index, or a place that the request itself names. */
  readonly to: number | 'custom host' | 'vertex-ai';
  readonly path: (typeof OPERATIONS)[number];
  readonly prefix: number;
  readonly key: (typeof KEY_PLACES)[number];
  readonly authorization: (typeof AUTHORIZATIONS)[number];
  /** Header names in `Connection`. */
  readonly connection: readonly string[];
}

/** Settings, and requests to them. */
export interface Plan {
  /** As server.yaml has them. */
  readonly prefixes: readonly string[];
  /** False: a plugin of the operator replaces `auth` and admits every caller. */
  readonly auth: boolean;
  readonly entries: readonly EntryKind[];
  readonly keyHosts: boolean;
  readonly configs: readonly ConfigPlan[];
  readonly requests: readonly RequestPlan[];
}

/** Headers that a config may forward. */
export const FORWARDABLE = [
  'x-tenant',
  'x_source',
  'user-agent',
  'accept-language',
  'anthropic-beta',
  'x-hop',
] as const;

const letters = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });
/** Header names are case-insensitive (RFC 9110, section 5.1). */
export const inAnyCase = (name: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(name, letters)
    .map(([text, upper]) => [...text].map((letter, at) => (upper[at] ? letter.toUpperCase() : letter)).join(''));

const forward: fc.Arbitrary<Names> = fc.option(
  fc
    .uniqueArray(fc.constantFrom(...FORWARDABLE), { minLength: 1, maxLength: 4 })
    .chain((names) => fc.tuple(...names.map((name) => inAnyCase(fc.constant(name))))),
  { nil: undefined },
);

const config = (entries: number): fc.Arbitrary<ConfigPlan> =>
  fc.record({
    forward,
    group: fc.option(fc.record({ forward }), { nil: undefined }),
    targets: fc
      .uniqueArray(fc.nat(entries - 1), { maxLength: 3 })
      .chain((indices) => fc.tuple(...indices.map((entry) => fc.record({ entry: fc.constant(entry), forward })))),
    customHosts: fc.boolean(),
  });

const request = (entries: number, configs: number, prefixes: number): fc.Arbitrary<RequestPlan> =>
  fc.record({
    config: fc.oneof(
      fc.constant(undefined),
      ...(configs === 0 ? [] : [fc.record({ stored: fc.nat(configs - 1) })]),
      // An inline config cannot set custom_hosts.
      fc.record({ inline: config(entries).map((plan) => ({ ...plan, customHosts: false })) }),
    ),
    to: fc.oneof(
      { weight: 1, arbitrary: fc.nat(entries - 1) },
      { weight: 1, arbitrary: fc.constantFrom('custom host' as const, 'vertex-ai' as const) },
    ),
    path: fc.constantFrom(...OPERATIONS),
    prefix: fc.nat(prefixes - 1),
    key: fc.constantFrom(...KEY_PLACES),
    authorization: fc.oneof(fc.constant('token' as const), fc.constantFrom(...AUTHORIZATIONS)),
    connection: fc.subarray(['x-hop', 'x-tenant', 'x-anything']),
  });

/** The extra weight makes two service accounts in one catalog, and entries that send the caller's token, frequent enough. */
const entryKind = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ENTRY_KINDS) },
  { weight: 1, arbitrary: fc.constantFrom<EntryKind>('vertex with a service account', 'vertex without a credential') },
);

export const plans: fc.Arbitrary<Plan> = fc
  .record({
    prefixes: fc.constantFrom(['gateway'], ['gateway', 'acme'], ['acme', 'gateway', 'my-auth-'], ['x-session-token-']),
    entries: fc.array(entryKind, { minLength: 1, maxLength: 4 }),
    configs: fc.nat(2),
  })
  .chain(({ prefixes, entries, configs }) =>
    fc.record({
      prefixes: fc.constant(prefixes),
      auth: fc.integer({ min: 0, max: 3 }).map((drawn) => drawn > 0),
      entries: fc.constant(entries),
      keyHosts: fc.integer({ min: 0, max: 3 }).map((drawn) => drawn > 0),
      configs: fc.array(config(entries.length), { minLength: configs, maxLength: configs }),
      requests: fc.array(request(entries.length, configs, prefixes.length), { minLength: 6, maxLength: 6 }),
    }),
  );
