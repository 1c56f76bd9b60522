import { sign } from 'node:crypto';
import { GatewayError } from '../../plugin/index.ts';
import type { MintedToken } from '../../state/tokens.ts';
import type { SmallReply } from '../../upstream/types.ts';
import type { ProviderSetup } from '../definition.ts';
import type { ServiceAccount } from './service-account.ts';

// The exchange of RFC 7523 is our own because google-auth-library brings an HTTP stack that would go past the egress guard,
// the pools and the deadlines of src/upstream (and about 20 transitive packages) for one signed POST.

export const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';
export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The most Google allows. */
const ASSERTION_LIFE_SECONDS = 3_600;
const TIMEOUT_MS = 10_000;
const MAX_REASON = 300;

/** Why there is no token, in words that may be shown: no assertion, no key, no token in it. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
}

/** One call of the token endpoint. Throws TokenFault. */
export async function mintGoogleToken(
  account: ServiceAccount,
  { upstreamExchange, clock }: Pick<ProviderSetup, 'upstreamExchange' | 'clock'>,
): Promise<MintedToken> {
  const assertion = signAssertion(account, clock.wall());
  const reply = await upstreamExchange({
    url: account.tokenUri,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
    allowInsecure: account.listedTokenUri,
    timeoutMs: TIMEOUT_MS,
  }).catch((error: unknown) => {
    // Only the gateway's own errors are known to be fit to show.
    const reason = error instanceof GatewayError ? error.message : 'the call of the token endpoint failed';
    throw new TokenFault(reason, { cause: error });
  });
  return readToken(reply, assertion);
}

/** wire.md C12; no `sub`: it is for domain-wide delegation only. */
function signAssertion(account: ServiceAccount, wallMs: number): string {
  const issuedAt = Math.floor(wallMs / 1_000);
  const header = { alg: 'RS256', typ: 'JWT', ...(account.privateKeyId && { kid: account.privateKeyId }) };
  const claims = {
    iss: account.clientEmail,
    scope: SCOPE,
    aud: account.tokenUri,
    iat: issuedAt,
    exp: issuedAt + ASSERTION_LIFE_SECONDS,
  };
  const signed = `${base64url(header)}.${base64url(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), account.privateKey).toString('base64url')}`;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function readToken(reply: SmallReply, assertion: string): MintedToken {
  const json = parseObject(reply.text);
  if (reply.status < 200 || reply.status > 299) throw new TokenFault(refusal(reply.status, json, assertion));
  if (!json) throw new TokenFault(`the token endpoint answered ${reply.status} without a JSON object`);
  const { access_token: value, expires_in: seconds, token_type: type } = json;
  // RFC 6750 section 2.1: what a bearer token may be made of. Anything else must not become part of a header.
  if (typeof value !== 'string' || !/^[A-Za-z0-9\-._~+/]+=*$/.test(value)) {
    throw new TokenFault(`the token endpoint answered ${reply.status} without a usable access_token`);
  }
  if (type !== undefined && !(typeof type === 'string' && type.toLowerCase() === 'bearer')) {
    throw new TokenFault('the token endpoint gave a token_type other than Bearer');
  }
  // Some servers write the number as text.
  const life = typeof seconds === 'string' ? Number(seconds) : seconds;
  if (typeof life !== 'number' || !Number.isFinite(life) || life <= 0) {
    throw new TokenFault('the token endpoint did not say how long the token lives (expires_in)');
  }
  return { value, expiresInMs: life * 1_000 };
}

/** `invalid_grant: Invalid JWT Signature.`, never with the assertion, should the endpoint repeat it. */
function refusal(status: number, json: Record<string, unknown> | undefined, assertion: string): string {
  const { error, error_description: description } = json ?? {};
  const words = [error, description].filter((part) => typeof part === 'string' && part !== '').join(': ');
  if (words === '') return `the token endpoint answered ${status}`;
  const shown = words.replaceAll(assertion, '[assertion]').replaceAll(/[A-Za-z0-9_.-]{80,}/g, '[…]');
  return printable(shown).slice(0, MAX_REASON);
}

const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? { ...json } : undefined;
  } catch {
    return undefined;
  }
}
