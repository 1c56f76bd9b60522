import { createHash } from 'node:crypto';
import type { Attempt, CacheSettings, Exchange, ResolvedTarget } from '../../src/plugin/index.ts';

/** How the reply travels, not what it says: the kept one is told either way. */
const NOT_OF_THE_ANSWER: ReadonlySet<string> = new Set(['stream', 'stream_options']);

export interface CacheQuestion {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly resolved: ResolvedTarget;
  readonly settings: CacheSettings;
  readonly namespace: string | undefined;
  /** `ReplyCache.spoken` */
  readonly spoken: readonly (string | undefined)[];
}

/**
 * What a kept reply is found by: everything that decides what the answer is and who may see it. One JSON array of a fixed
 * shape and the body's fingerprint behind it, so that no two questions are written alike.
 */
export function cacheKey(question: CacheQuestion): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(Object.values(partsOf(question))));
  question.attempt.body.fingerprint(hash, NOT_OF_THE_ANSWER);
  return hash.digest('base64url');
}

/** Everything but the body. The digest is of the values in this order. */
function partsOf({ exchange, attempt, resolved, settings, namespace, spoken }: CacheQuestion) {
  const { operation, upstreamToken, request, strict, strictParams } = exchange;
  const { target } = attempt;
  const { slug, provider, origin, path, model, format, headers } = resolved;
  return {
    scope: scopeOf(exchange, settings),
    // Only the digest of all this is kept. What one credential may see, another may not.
    token: upstreamToken?.reveal(),
    namespace,
    operation: operation?.id,
    target: [slug, provider, origin, path, model, format, headers],
    strict: strict ?? target.strict ?? true,
    strictParams,
    forwarded: target.forwardHeaders.map((name) => [name, request.headers[name]]),
    spoken,
  };
}

/**
 * The same for people: what is told of a key must not tell what only those who have it may know. The body stands as a digest, and
 * is of two requests the same where their bodies are for the cache.
 */
export function describeKey(question: CacheQuestion): Readonly<Record<string, unknown>> {
  const { scope, token, target, forwarded, ...rest } = partsOf(question);
  const [slug, provider, origin, path, model, format, headers] = target;
  const [sharedBy, ...of] = scope;
  const body = createHash('sha256');
  question.attempt.body.fingerprint(body, NOT_OF_THE_ANSWER);
  const parts = {
    scope: [sharedBy, ...of].join(' '),
    upstreamToken: token === undefined ? undefined : '[secret]',
    ...rest,
    spoken: rest.spoken.filter((value) => value !== undefined),
    target: { slug, provider, origin, path, model, format, headers },
    forwarded: Object.fromEntries(forwarded),
    body: body.digest('base64url'),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => !saysNothing(value)));
}

const saysNothing = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/**
 * Whether keys share replies is for the operator to say. A config that came with a request is the caller's own word: with it
 * anybody could choose to be in somebody else's scope.
 */
function scopeOf({ config, caller }: Exchange, { scope }: CacheSettings): readonly unknown[] {
  if (scope === 'config' && config && config.id !== 'inline') return ['config', config.id, config.hash];
  return ['key', caller?.keyId];
}
