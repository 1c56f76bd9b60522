import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/plugin/index.ts';
import type { Caller } from '../../src/core/kernel/index.ts';
import { createCaller, createExchange, runPlugin, type ExchangeParts } from '../../src/plugin/testing/index.ts';
import auth from './index.ts';

const caller = (keyId: string): Caller => createCaller({ keyId });
const KEYS: Readonly<Record<string, Caller>> = { 'key-a': caller('a'), 'key-b': caller('b') };

async function authenticate(parts: ExchangeParts) {
  const asked: string[] = [];
  const exchange = createExchange({ caller: undefined, ...parts });
  const find = (key: string, address: string): Caller | undefined => {
    asked.push(`${key} from ${address}`);
    if (key === 'key-old') throw new GatewayError('expired_api_key', 'The key has expired.');
    return KEYS[key];
  };
  const { nextCalls } = await runPlugin(auth, { exchange, needs: { keys: { find } } });
  return { exchange, asked, nextCalls };
}

const codeOf = (error: unknown): unknown => (error instanceof GatewayError ? error.code : error);

describe('auth', () => {
  it.each([
    ['x-gateway-api-key', { 'x-gateway-api-key': 'key-a' }],
    ['Authorization: Bearer', { authorization: 'Bearer key-a' }],
    ['Authorization: bearer, in any case', { authorization: 'bEaReR   key-a ' }],
    ['Authorization without a scheme', { authorization: 'key-a' }],
    ['its own header, besides a scheme without a token', { 'x-gateway-api-key': 'key-a', authorization: 'Bearer' }],
    ['x-api-key', { 'x-api-key': 'key-a' }],
    ['x-goog-api-key', { 'x-goog-api-key': 'key-a' }],
    ['the second of two in x-goog-api-key', { 'x-goog-api-key': 'unknown, key-a' }],
  ])('finds the caller by %s, and leaves nothing for the upstream', async (_, headers) => {
    const { exchange, nextCalls } = await authenticate({ headers });
    expect(exchange.caller?.keyId).toBe('a');
    expect(exchange.upstreamToken).toBeUndefined();
    expect(nextCalls).toBe(1);
  });

  it.each([
    ['x-gateway-api-key', { 'x-gateway-api-key': 'key-a', authorization: 'Bearer ya29.token' }],
    ['x-api-key', { 'x-api-key': 'key-a', authorization: 'ya29.token' }],
  ])('takes what is left in Authorization beside %s for the caller’s upstream token', async (_, headers) => {
    const { exchange } = await authenticate({ headers });
    expect(exchange.upstreamToken?.reveal()).toBe('ya29.token');
    expect(JSON.stringify(exchange.upstreamToken)).not.toContain('ya29');
  });

  it('tries the next header when one contains no gateway key', async () => {
    const { exchange } = await authenticate({
      headers: { 'x-gateway-api-key': 'nonsense', authorization: 'Bearer key-b' },
    });
    expect(exchange.caller?.keyId).toBe('b');
    expect(exchange.upstreamToken).toBeUndefined();
  });

  it('never uses a second gateway key as an upstream token', async () => {
    const { exchange } = await authenticate({
      headers: { 'x-gateway-api-key': 'key-a', authorization: 'Bearer key-b' },
    });
    expect(exchange.caller?.keyId).toBe('a');
    expect(exchange.upstreamToken).toBeUndefined();
  });

  // In the format of `gatehouse keys create`, but in no key ring.
  const DEAD = 'gatehouse_abcdefghij12_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdEfa1b2c3';
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

  it.each([
    ['after Bearer', { authorization: `Bearer ${DEAD}` }],
    ['after bearer and several spaces', { authorization: `bearer    ${DEAD}  ` }],
    ['after BEARER and a tab', { authorization: `BEARER\t${DEAD}` }],
    ['without a scheme', { authorization: DEAD }],
    ['after Bearer twice', { authorization: `Bearer Bearer ${DEAD}` }],
    ['after another scheme', { authorization: `Token ${DEAD}` }],
    ['in quotes', { authorization: `Bearer "${DEAD}"` }],
    ['in a list', { authorization: `Bearer ya29.token, Bearer ${DEAD}` }],
    ['as the password of Basic', { authorization: basic(`me:${DEAD}`) }],
    ['as the user of basic', { authorization: basic(`${DEAD}:`).replace('Basic', 'basic') }],
    ['cut short', { authorization: `Bearer ${DEAD.slice(0, 30)}` }],
    ['in capitals', { authorization: `Bearer ${DEAD.toUpperCase()}` }],
    ['in x-api-key', { 'x-api-key': DEAD }],
    ['in x-goog-api-key', { 'x-goog-api-key': DEAD }],
    ['as a second x-goog-api-key', { 'x-goog-api-key': `key-b, ${DEAD}` }],
    ['in its own header', { 'x-gateway-api-key': DEAD }],
  ])('refuses a revoked or unknown key of the gateway’s form %s, beside a live key too', async (_, headers) => {
    for (const live of [{}, { 'x-gateway-api-key': 'key-a' }, { authorization: 'key-a' }, { 'x-api-key': 'key-a' }]) {
      const failure = await authenticate({ headers: { ...live, ...headers } }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'invalid_api_key', status: 401 });
      expect(String(failure)).not.toMatch(/gatehouse_/i);
    }
  });

  it.each([
    ['after Bearer twice', 'Bearer Bearer key-b'],
    ['after another scheme', 'Token key-b'],
    ['in a list', 'Bearer ya29.token, Bearer key-b'],
    ['in Basic', basic('me:key-b')],
  ])('never takes a second gateway key %s for an upstream token', async (_, authorization) => {
    const { exchange } = await authenticate({ headers: { 'x-gateway-api-key': 'key-a', authorization } });
    expect(exchange.caller?.keyId).toBe('a');
    expect(exchange.upstreamToken).toBeUndefined();
  });

  it.each([
    'sk-proj-gatehouse',
    'gatehouse_token',
    basic('user:password'),
    'AWS4-HMAC-SHA256 Credential=x, Signature=y',
  ])('leaves %s, which has another form, for the upstream', async (authorization) => {
    const { exchange } = await authenticate({ headers: { 'x-gateway-api-key': 'key-a', authorization } });
    expect(exchange.upstreamToken?.reveal()).toBe(authorization);
  });

  it.each([
    ['a revoked key', DEAD],
    ['a revoked key in Basic', basic(`me:${DEAD}`).slice(6)],
    ['a live key', 'key-b'],
  ])('never takes %s behind many words for an upstream token', async (_, key) => {
    for (const count of [15, 16, 17, 31, 32, 33, 7000]) {
      const authorization = `${'x '.repeat(count)}${key}`;
      const run = authenticate({ headers: { 'x-gateway-api-key': 'key-a', authorization } });
      const token = await run.then(({ exchange }) => exchange.upstreamToken?.reveal(), codeOf);
      expect([undefined, 'invalid_api_key']).toContain(token);
    }
  });

  it('rejects a credential with more words than it looks up', async () => {
    const headers = { 'x-gateway-api-key': 'key-a', authorization: 'x '.repeat(7000) };
    const failure = await authenticate({ headers }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'invalid_api_key', status: 401 });
    expect(String(failure)).toContain('more than 32 words');
  });

  it.each([
    ['of Digest', `Digest ${'name="value", '.repeat(9)}nc=00000001`],
    ['of 15 KB in base64', createHash('shake256', { outputLength: 11_000 }).update('token').digest('base64')],
  ])('leaves a long credential %s for the upstream', async (_, authorization) => {
    const { exchange, asked } = await authenticate({ headers: { 'x-gateway-api-key': 'key-a', authorization } });
    expect(exchange.upstreamToken?.reveal()).toBe(authorization);
    expect(asked.length).toBeLessThan(40);
  });

  it('looks up each key with the client’s address', async () => {
    const { asked } = await authenticate({ headers: { authorization: 'key-a' }, remoteAddress: '10.1.2.3' });
    expect(asked).toEqual(['key-a from 10.1.2.3']);
  });

  it.each([
    ['without any key', {}, 'missing_api_key'],
    ['with an empty one', { authorization: 'Bearer ' }, 'missing_api_key'],
    ['with an unknown one', { authorization: 'Bearer sk-wrong' }, 'invalid_api_key'],
    ['with one that has expired', { authorization: 'Bearer key-old' }, 'expired_api_key'],
    [
      'with an expired one besides a valid one',
      { 'x-gateway-api-key': 'key-a', authorization: 'Bearer key-old' },
      'expired_api_key',
    ],
  ])('refuses a request %s, and quotes none', async (_, headers, code) => {
    const failure = await authenticate({ headers }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, status: 401 });
    expect(String(failure)).not.toContain('sk-wrong');
  });
});
