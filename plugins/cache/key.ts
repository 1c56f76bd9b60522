import { createHash } from 'node:crypto';
import type {
  Attempt,
  CacheSettings,
  ComparedText,
  Exchange,
  Operation,
  ResolvedTarget,
  TextPlace,
} from '../../src/core/kernel/index.ts';

/** These keys decide the transport of the reply, not its content: a cached reply can be rendered either way. */
const TRANSPORT_KEYS: ReadonlySet<string> = new Set(['stream', 'stream_options']);

const WITHOUT_MESSAGES: ReadonlySet<string> = new Set([...TRANSPORT_KEYS, 'messages']);

export interface CacheQuestion {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly resolved: ResolvedTarget;
  readonly settings: CacheSettings;
  readonly namespace: string | undefined;
  readonly spoken: readonly (string | undefined)[];
}

/**
 * The key of a cached reply: a digest of everything that decides the reply's content and who may see it. The input is
 * one JSON array of fixed shape followed by the body's fingerprint, so that different requests never have equal inputs.
 */
export function cacheKey(question: CacheQuestion): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(Object.values(partsOf(question))));
  question.attempt.body.fingerprint(hash, TRANSPORT_KEYS);
  return hash.digest('base64url');
}

/** The scope and group of a request's text: near requests have equal exact keys except for the compared text. */
export function textPlace(question: CacheQuestion, { around }: ComparedText): TextPlace {
  const { attempt, exchange, settings } = question;
  const hash = createHash('sha256');
  const parts = partsOf(question);
  // Vectors of two models are not comparable.
  hash.update(JSON.stringify([...Object.values(parts), settings.semantic?.embeddings]));
  attempt.body.fingerprint(hash, WITHOUT_MESSAGES);
  for (const bytes of around) {
    hash.update(`${bytes.length}:`);
    hash.update(bytes);
  }
  return { scope: JSON.stringify(scopeOf(exchange, settings)), group: hash.digest('base64url') };
}

/** The query chooses how a stream is written, and a stored one is served as its bytes. */
const formOf = ({ id, query }: Operation): string => (query ? `${id}?${query.name}=${query.value}` : id);

/** All parts except the body. The digest covers the values in this order. */
function partsOf({ exchange, attempt, resolved, settings, namespace, spoken }: CacheQuestion) {
  const { operation, upstreamToken, strict, strictParams } = exchange;
  const { target } = attempt;
  const { slug, provider, origin, path, model, format, headers } = resolved;
  return {
    scope: scopeOf(exchange, settings),
    // Only the digest is stored. A reply that one credential may see is not shared with another.
    token: upstreamToken?.reveal(),
    namespace,
    operation: operation && formOf(operation),
    target: [slug, provider, origin, path, model, format, headers],
    strict: strict ?? target.strict ?? true,
    strictParams,
    forwarded: forwardedOf(target, exchange),
    spoken,
    // Plugins between this one and the upstream decide the reply, too. The server's chain is the same for all.
    ...(target.chain && { plugins: target.chain.id }),
  };
}

/** The client's headers that reach the upstream, also under another name. */
function forwardedOf({ forwardHeaders }: Attempt['target'], { request, mappedHeaders }: Exchange) {
  const same = forwardHeaders.map((name) => [name, request.headers[name]] as const);
  if (!mappedHeaders) return same;
  return [...same, ...Object.entries(mappedHeaders).map(([name, { value }]) => [name, value] as const)];
}

/** For `gatehouse explain`, without secrets. Bodies that the cache takes as equal have one digest. */
export function describeKey(question: CacheQuestion): Readonly<Record<string, unknown>> {
  const { scope, token, target, forwarded, ...rest } = partsOf(question);
  const [slug, provider, origin, path, model, format, headers] = target;
  const [sharedBy, ...of] = scope;
  const body = createHash('sha256');
  question.attempt.body.fingerprint(body, TRANSPORT_KEYS);
  const parts = {
    scope: [sharedBy, ...of].join(' '),
    upstreamToken: token === undefined ? undefined : '[secret]',
    ...rest,
    spoken: rest.spoken.filter((value) => value !== undefined),
    target: { slug, provider, origin, path, model, format, headers },
    forwarded: Object.fromEntries(forwarded),
    body: body.digest('base64url'),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => !isEmpty(value)));
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Only the operator decides who shares replies: a caller's own config could claim the scope of others. */
function scopeOf({ config, caller }: Exchange, { scope }: CacheSettings): readonly unknown[] {
  if (scope === 'config' && config && config.id !== 'inline') return ['config', config.id, config.hash];
  return ['key', caller?.keyId];
}
