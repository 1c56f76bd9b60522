import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';

interface Signer {
  readonly jwk: JWK;
  sign(claims: object, options?: { readonly expires?: string; readonly audience?: string }): Promise<string>;
}

async function signer(kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' },
    sign: (claims, { expires = '1h', audience = 'gateway' } = {}) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'ES256', kid })
        .setIssuer('https://issuer.example')
        .setAudience(audience)
        .setExpirationTime(expires)
        .sign(privateKey),
  };
}

let first: Signer;
let second: Signer;
beforeAll(async () => {
  [first, second] = await Promise.all([signer('one'), signer('two')]);
});

/** The keys of the issuer; undefined: it fails. */
let keys: readonly JWK[] | undefined;

async function start(guard: object = {}) {
  const issuer = await startUpstream((_, res) => json(res, { keys }, keys ? 200 : 500));
  onTestFinished(() => issuer.close());
  const options = {
    header: 'x-user-token',
    jwks_url: `${issuer.url}/keys`,
    issuer: 'https://issuer.example',
    audience: 'gateway',
    claims: { role: ['dev', 'ops'] },
    timeout_ms: 60_000,
    allow_insecure: true,
  };
  const pair = await startPair((_, res) => json(res, openaiReply('ok')), {
    server: { guards: [{ name: 'user', check: 'jwt', options, ...guard }] },
  });
  const ask = async (token?: string) => {
    const response = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${KEY}`,
        ...(token !== undefined && { 'x-user-token': token }),
      },
      body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.text();
    return response.status;
  };
  return { ...pair, ask, issuer };
}

describe('a guard of tokens', () => {
  it('lets pass what its issuer has signed, and fetches the keys once', async () => {
    keys = [first.jwk];
    const { ask, issuer, gateway } = await start();
    const token = await first.sign({ role: 'dev' });
    expect(await Promise.all([ask(token), ask(`Bearer ${token}`), ask(token)])).toEqual([200, 200, 200]);
    expect(issuer.seen).toHaveLength(1);
    expect(gateway.logText()).not.toContain(token);
  });

  it('denies every other token', async () => {
    keys = [first.jwk];
    const { ask, issuer } = await start();
    const [head, , signature] = (await first.sign({ role: 'dev' })).split('.');
    const forged = Buffer.from(JSON.stringify({ role: 'ops', aud: 'gateway', exp: 9_999_999_999 })).toString(
      'base64url',
    );
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${forged}.`;
    const refused = [
      undefined,
      '',
      'no token',
      unsigned,
      `${head}.${forged}.${signature}`,
      await first.sign({ role: 'guest' }),
      await first.sign({}),
      await first.sign({ role: 'dev' }, { expires: '-1h' }),
      await first.sign({ role: 'dev' }, { audience: 'another' }),
      await second.sign({ role: 'dev' }),
      'x'.repeat(14_000),
    ];
    for (const token of refused) expect([token, await ask(token)]).toEqual([token, 400]);
    // Tokens with unknown keys do not make the gateway call the issuer again and again.
    expect(issuer.seen).toHaveLength(1);
  });

  it('fails closed while there are no keys, unless the settings say otherwise', async () => {
    keys = undefined;
    const token = await first.sign({ role: 'dev' });
    const { ask } = await start();
    expect(await ask(token)).toBe(503);
    const open = await start({ on_error: 'allow' });
    expect(await open.ask(token)).toBe(200);
    expect(open.gateway.logs.at(-1)).toMatchObject({ guards: ['user:input:skipped'] });
  });
});
