import type { CompiledGuard } from '../guard.ts';
import type { GuardStep, GuardTools } from './step.ts';
import { KeySets, type KeySet } from './key-set.ts';
import { verdictOf } from './verdicts.ts';

type Jose = typeof import('jose');
const loadJose = (): Promise<Jose> => import('jose');

interface JwtOptions {
  readonly header: string;
  readonly jwks_url?: string;
  readonly jwks?: KeySet;
  readonly issuer?: string;
  readonly audience?: string;
  readonly algorithms: readonly string[];
  readonly claims?: Readonly<Record<string, readonly string[]>>;
  readonly leeway_ms: number;
  readonly timeout_ms: number;
  readonly allow_insecure: boolean;
}

/** A guard whose check is the token of the request: a JSON Web Token (RFC 7519) that an issuer has signed. */
export function jwtStep(guard: CompiledGuard, tools: GuardTools): GuardStep {
  // The options have passed the schema of the check.
  const options = guard.options as unknown as JwtOptions;
  const { header, jwks, jwks_url: url, timeout_ms: timeoutMs, allow_insecure: allowInsecure } = options;
  const sets = url === undefined ? undefined : new KeySets({ url, timeoutMs, allowInsecure }, tools);
  const keysOf = (anew: boolean): Promise<KeySet> | KeySet => sets?.get(anew) ?? jwks ?? { keys: [] };
  return async (ctx, next) => {
    const verdict = verdictOf(ctx.exchange, guard, 'input');
    // A dry run has no credentials, and calls nothing.
    if (tools.dry) verdict.skipped();
    else {
      const token = tokenIn(ctx.exchange.request.headers[header.toLowerCase()]);
      let isValid = false;
      try {
        isValid = token !== undefined && (await isValidToken(token, { options, keysOf, now: tools.clock.wall() }));
      } catch (thrown) {
        verdict.failed(thrown);
        return next();
      }
      if (!isValid) verdict.found();
      // The token is for this gateway: no upstream gets it.
      else if (guard.action === 'deny' && header.toLowerCase() === 'authorization')
        ctx.exchange.upstreamToken = undefined;
    }
    return next();
  };
}

/** Longer ones are not read: the cost of a signature grows with what it signs. */
const MAX_TOKEN = 16_384;

function tokenIn(value: string | readonly string[] | undefined): string | undefined {
  const text = typeof value === 'string' ? value.replace(/^bearer +/i, '') : undefined;
  return text !== undefined && text.length <= MAX_TOKEN ? text : undefined;
}

interface Verification {
  readonly options: JwtOptions;
  readonly keysOf: (anew: boolean) => Promise<KeySet> | KeySet;
  readonly now: number;
}

/** Rejects when the keys cannot be read. */
async function isValidToken(token: string, { options, keysOf, now }: Verification): Promise<boolean> {
  const jose = await loadJose();
  const { issuer, audience, algorithms, leeway_ms: leeway } = options;
  const wanted = {
    algorithms: [...algorithms],
    currentDate: new Date(now),
    clockTolerance: leeway / 1000,
    // A token without an end would be valid for ever.
    requiredClaims: ['exp'],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  for (const anew of [false, true]) {
    const keys = await keysOf(anew);
    try {
      const { payload } = await jose.jwtVerify(token, jose.createLocalJWKSet({ keys: [...keys.keys] }), wanted);
      return hasClaims(payload, options.claims);
    } catch (thrown) {
      if (!isOfToken(jose, thrown)) throw thrown;
      if (!(thrown instanceof jose.errors.JWKSNoMatchingKey)) return false;
    }
  }
  return false;
}

/** The fault is the token's, and not that of the keys. */
const isOfToken = (jose: Jose, thrown: unknown): boolean =>
  thrown instanceof jose.errors.JOSEError && !(thrown instanceof jose.errors.JWKSInvalid);

const hasClaims = (payload: Readonly<Record<string, unknown>>, claims: JwtOptions['claims'] = {}): boolean =>
  Object.entries(claims).every(([claim, allowed]) =>
    [payload[claim]].flat().some((value) => typeof value === 'string' && allowed.includes(value)),
  );
