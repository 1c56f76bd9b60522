import { createHash } from 'node:crypto';
import type { Attempt, CacheSettings, Exchange, ResolvedTarget } from '../../src/plugin/index.ts';

/** How the reply travels, not what it says: the kept one is told either way. */
const NOT_OF_THE_ANSWER: ReadonlySet<string> = new Set(['stream', 'stream_options']);

export interface Question {
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
export function cacheKey({ exchange, attempt, resolved, settings, namespace, spoken }: Question): string {
  const { operation, upstreamToken, request, strict, strictParams } = exchange;
  const { target, body } = attempt;
  const { slug, provider, origin, path, model, format, headers } = resolved;
  const hash = createHash('sha256');
  hash.update(
    JSON.stringify([
      scopeOf(exchange, settings),
      // Only the digest of all this is kept. What one credential may see, another may not.
      upstreamToken?.reveal(),
      namespace,
      operation?.id,
      [slug, provider, origin, path, model, format, headers],
      strict ?? target.strict ?? true,
      strictParams,
      target.forwardHeaders.map((name) => [name, request.headers[name]]),
      spoken,
    ]),
  );
  body.fingerprint(hash, NOT_OF_THE_ANSWER);
  return hash.digest('base64url');
}

/**
 * Whether keys share replies is for the operator to say. A config that came with a request is the caller's own word: with it
 * anybody could choose to be in somebody else's scope.
 */
function scopeOf({ config, caller }: Exchange, { scope }: CacheSettings): readonly unknown[] {
  if (scope === 'config' && config && config.id !== 'inline') return ['config', config.id, config.hash];
  return ['key', caller?.keyId];
}
