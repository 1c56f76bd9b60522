import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAgreement } from './kit/agree.ts';
import { blocked, FALLBACK, healthy, refuse, silence } from './kit/deeds.ts';
import { DIALECT_NAMES } from './kit/dialects.ts';
import { startRig, type Rig } from './kit/rig.ts';
import type { Deed } from './kit/upstream.ts';
import { configFor, FALLBACK_OF } from './scenarios.ts';

/** How long is waited and for whom, where the config or the caller says more than the table does. */

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(
    Object.fromEntries(
      DIALECT_NAMES.flatMap((name) => {
        const both = configFor(name, 'both', {});
        const filter = { mode: 'fallback', on_errors: ['default', 'content_filter'] };
        return [
          [name, both],
          [`${name}-brief`, { ...both, deadline: '900ms' }],
          [`${name}-filter`, { ...configFor(name, 'both', {}), strategy: filter }],
        ];
      }),
    ),
  );
});
afterAll(() => rig.close());

const limited = { status: 429, message: 'Too many requests.' };

describe('a 429', () => {
  it('is waited out in whole seconds too', async () => {
    rig.primary.does(refuse(limited, { 'retry-after': '1' }));
    const seen = await rig.ask({ api: 'chat', stream: false, config: 'anthropic' });
    expectAgreement(seen);
    const [first, second] = seen.primary;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(999);
    expect(seen.line.provider).toBe(`fallback-${FALLBACK_OF.anthropic}`);
  });

  it('says in its body how long, where it is Google’s', async () => {
    rig.primary.does((_, res) => {
      const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.08s' }];
      const error = { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details };
      res.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    });
    const seen = await rig.ask({ api: 'chat', stream: false, config: 'gemini' });
    expectAgreement(seen);
    const [first, second, third] = seen.primary;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(79);
    expect(third!.at - second!.at).toBeGreaterThanOrEqual(79);
  });

  it.each([
    ['the config’s deadline', 'openai-brief', {}],
    ['what the caller gives it', 'openai', { 'x-gateway-request-timeout': '900' }],
  ])('that asks for more than %s leaves is left at once', async (_, config, headers) => {
    rig.primary.does(refuse(limited, { 'retry-after-ms': '1900' }));
    const seen = await rig.ask({ api: 'chat', stream: true, config, headers });
    expectAgreement(seen);
    expect([seen.primary.length, seen.received?.status]).toEqual([1, 200]);
    expect(seen.line.duration_ms).toBeLessThan(1900);
  });
});

it('a deadline ends a request with a silent target, and no other target is tried', async () => {
  rig.primary.does(silence);
  const seen = await rig.ask({ api: 'messages', stream: true, config: 'gemini-brief' });
  expectAgreement(seen);
  expect([seen.received?.status, seen.record.error?.code]).toEqual([504, 'timeout_request']);
  expect([seen.primary.length, seen.fallback.length]).toEqual([1, 0]);
});

describe('a client whose request was tried again', () => {
  it.each(['chat', 'messages'] as const)('gets `x-should-retry: false` (%s)', async (api) => {
    rig.primary.does(refuse({ status: 503, message: 'no' }));
    rig.fallback.does(refuse({ status: 503, message: 'no' }));
    const seen = await rig.ask({ api, stream: false, config: 'openai' });
    rig.fallback.does(healthy(FALLBACK));
    expectAgreement(seen);
    expect(seen.received?.headers['x-should-retry']).toBe('false');
    expect([seen.primary.length, seen.fallback.length]).toEqual([3, 1]);
  });
});

describe('a content filter, where the config says to go on', () => {
  const asError: Deed = refuse({ status: 400, message: 'The prompt was filtered.', code: 'content_filter' });
  it.each([
    ...DIALECT_NAMES.flatMap((name) => [false, true].map((stream) => ({ name, stream, deed: blocked, how: 'answer' }))),
    { name: 'openai' as const, stream: true, deed: asError, how: 'error' },
  ])('of $name as an $how (stream: $stream) gives way to the fallback, without another try', async (filtered) => {
    rig.primary.does(filtered.deed);
    const seen = await rig.ask({ api: 'chat', stream: filtered.stream, config: `${filtered.name}-filter` });
    expectAgreement(seen);
    expect(seen.record.attempts.map(({ tries, failure }) => [tries.length, failure?.code])).toEqual([
      [1, 'content_filter'],
      [1, undefined],
    ]);
    expect(seen.received?.error).toBeUndefined();
  });
});
