import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptRequests, keepForExplain } from './kept-requests.ts';
import type { ExplainQuestion } from './question.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import type { GatewayContext } from '../../../core/kernel/index.ts';
import { compileGatewayConfig } from '../../../core/settings/compile/gateway-config.ts';
import { compileServerSettings } from '../../../core/settings/compile/server-settings.ts';
import { HttpExchange } from '../../../core/http/gateway/exchange.ts';
import { HeaderNames } from '../../../core/http/gateway/header-names.ts';
import { inboundContext } from './inbound.ts';

function explainer() {
  let holders = 0;
  return {
    hold: () => void (holders += 1),
    release: () => void (holders -= 1),
    explain: () => Promise.reject(new Error('no test calls this')),
    get holders() {
      return holders;
    },
  };
}

const question = (bytes: number): ExplainQuestion => ({
  method: 'POST',
  path: '/',
  headers: {},
  body: Buffer.alloc(bytes),
});

describe('stored requests', () => {
  it('are the latest, up to the maximum', () => {
    const kept = new KeptRequests({ requests: 2, bytes: 1e6 });
    for (const id of ['a', 'b', 'c']) kept.add(id, { question: question(1), explainer: explainer() });
    expect(['a', 'b', 'c'].map((id) => kept.find(id) !== undefined)).toEqual([false, true, true]);
  });

  it('are dropped when storing is disabled', () => {
    const kept = new KeptRequests();
    const own = explainer();
    kept.add('a', { question: question(1), explainer: own });
    expect([kept.open, own.holders]).toEqual([true, 1]);
    kept.apply(false);
    expect([kept.open, own.holders, kept.bytes, kept.find('a')]).toEqual([false, 0, 0, undefined]);
    kept.apply(true);
    expect(kept.open).toBe(true);
  });

  it('are dropped for larger ones, the oldest first', () => {
    const kept = new KeptRequests({ requests: 100, bytes: 100_000 });
    for (const [id, bytes] of [
      ['a', 30_000],
      ['b', 30_000],
      ['c', 50_000],
    ] as const)
      kept.add(id, { question: question(bytes), explainer: explainer() });
    expect(['a', 'b', 'c'].map((id) => kept.find(id) !== undefined)).toEqual([false, true, true]);
  });

  it('are not dropped for one that is too large itself', () => {
    const kept = new KeptRequests({ requests: 100, bytes: 100_000 });
    kept.add('a', { question: question(1), explainer: explainer() });
    kept.add('b', { question: question(100_001), explainer: explainer() });
    expect([kept.find('a') !== undefined, kept.find('b')]).toEqual([true, undefined]);
  });

  it('hold their settings as long as they are stored', () => {
    const [one, other] = [explainer(), explainer()];
    const kept = new KeptRequests({ requests: 2, bytes: 1e6 });
    kept.add('a', { question: question(1), explainer: one });
    kept.add('b', { question: question(1), explainer: one });
    expect(one.holders).toBe(2);
    kept.add('c', { question: question(1), explainer: other });
    expect([one.holders, other.holders]).toEqual([1, 1]);
    kept.clear();
    expect([one.holders, other.holders, kept.bytes]).toEqual([0, 0, 0]);
  });

  it('never exceed the limits', () => {
    const limits = { requests: 5, bytes: 40_000 };
    fc.assert(
      fc.property(fc.array(fc.nat(50_000), { maxLength: 30 }), (sizes) => {
        const held = explainer();
        const kept = new KeptRequests(limits);
        for (const [index, bytes] of sizes.entries()) {
          kept.add(String(index), { question: question(bytes), explainer: held });
          expect(kept.bytes).toBeLessThanOrEqual(limits.bytes);
          expect(held.holders).toBeLessThanOrEqual(limits.requests);
        }
        kept.clear();
        expect([kept.bytes, held.holders]).toEqual([0, 0]);
      }),
    );
  });
});

const server = compileServerSettings({ admin: { explain: 'all' } });
const CREDENTIAL = 'canary-of-the-caller-0123';

/** The stored question of a request. */
function keptOf(path: string, headers: Readonly<Record<string, string>>) {
  const kept = new KeptRequests();
  // Never called here.
  const explainer = { hold() {}, release() {} } as Parameters<typeof keepForExplain>[0]['explainer'];
  const keep = keepForExplain({ kept, explainer, health: { peek: () => undefined }, clock: systemClock }, server)!;
  const { req } = inboundContext({ method: 'POST', path, headers, body: Buffer.alloc(0) });
  const snapshot = { hash: '', headerNames: new HeaderNames(['x-gateway-']), server };
  const exchange = new HttpExchange(req, {
    operation: undefined,
    clientFormat: undefined,
    params: {},
    snapshot,
    clock: systemClock,
  });
  const config = compileGatewayConfig('it', {});
  exchange.config = config;
  keep(config, { exchange } as unknown as GatewayContext);
  return kept.find(exchange.explainId!)!.question;
}

it.each<[string, string, Readonly<Record<string, string>>]>([
  ['the query', `/v1/chat/completions?key=${CREDENTIAL}`, {}],
  ['a header for credentials', '/v1/chat/completions', { 'x-gateway-api-key': CREDENTIAL, cookie: `a=${CREDENTIAL}` }],
  [
    'another header that quotes it',
    '/v1/chat/completions',
    { 'x-api-key': CREDENTIAL, 'x-note': `I am ${CREDENTIAL}` },
  ],
])('a credential in %s is not stored with a request', (_, path, headers) => {
  const question = keptOf(path, { 'x-tenant': 'eu', ...headers });
  expect(JSON.stringify(question)).not.toContain(CREDENTIAL);
  expect(question).toMatchObject({ path: '/v1/chat/completions', headers: { 'x-tenant': 'eu' } });
});

it('a request is stored with its decoded body, so without the headers of the coded one', () => {
  const coded = { 'content-encoding': 'zstd', 'content-length': '9', expect: '100-continue' };
  const { headers } = keptOf('/v1/chat/completions', { ...coded, 'content-type': 'application/json' });
  expect(headers).toEqual({ 'content-type': 'application/json' });
});
