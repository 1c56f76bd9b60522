import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from './websockets/kit.testkit.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Refusals that name what was meant, on each API, plain and streamed; and the models of configs in the metrics. */

const turn = [{ role: 'user', content: 'Hello' }];
const DOORS: readonly (readonly [string, (model: string, stream: boolean) => readonly [path: string, body: object]])[] =
  [
    ['chat', (model, stream) => ['/v1/chat/completions', { model, stream, messages: turn }]],
    ['messages', (model, stream) => ['/v1/messages', { model, stream, max_tokens: 9, messages: turn }]],
    ['responses', (model, stream) => ['/v1/responses', { model, stream, input: 'Hello' }]],
    [
      'gemini',
      (model, stream) => [
        `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
      ],
    ],
  ];
const CASES = DOORS.flatMap(([door, body]) => [false, true].map((stream) => ({ door, body, stream })));

const PORTKEY = 'The header x-portkey-provider has no effect: `header_prefixes: [gateway, portkey]`';

const key = (id: string, more: object = {}) => ({ id, key: `\${env:NONE:-gatehouse-${id}-key-0123456789}`, ...more });
const settings = {
  catalog: {
    providers: [
      { slug: 'sim', provider: 'simulator' },
      { slug: 'other', provider: 'simulator' },
    ],
    aliases: {
      fast: { target: '@sim/sim-echo' },
      secret: { target: '@other/sim-echo' },
      hidden: { target: '@sim/sim-echo', hidden: true },
    },
  },
  keys: {
    keys: [
      { id: 'test', key: `\${env:TEST_KEY:-${KEY}}`, inline_configs: true },
      key('bound', { providers: ['@sim'], configs: ['prod'] }),
    ],
  },
  gateway: {
    prod: { provider: '@sim', override_params: { model: 'house model' } },
    'of-board': { provider: '@other' },
  },
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway(settings);
});
afterAll(() => gateway.close());

async function ask(path: string, body: object, headers: Record<string, string> = {}, at = gateway): Promise<string> {
  const response = await fetch(at.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(headers['x-portkey-api-key'] === undefined && { 'x-gateway-api-key': KEY }),
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return `${response.status} ${await response.text()}`.replaceAll('\\"', '"');
}

describe.each(CASES)('$door, streamed: $stream', ({ body, stream }) => {
  it('an unknown alias gets the nearest one', async () => {
    expect(await ask(...body('fasst', stream))).toMatch(/^400 .*"fasst" names no provider.* Did you mean "fast"\?/s);
  });

  it('an unknown config gets the nearest one', async () => {
    const refused = await ask(...body('@sim/sim-echo', stream), { 'x-gateway-config': 'prdo' });
    expect(refused).toMatch(/^400 .*no gateway config "prdo"\. Did you mean "prod"\?/s);
  });

  it('headers of Portkey that are not read are named', async () => {
    const headers = { 'x-portkey-provider': '@sim', 'x-portkey-trace-id': 't' };
    expect(await ask(...body('unknown-name', stream), headers)).toContain(PORTKEY);
  });
});

describe('a WebSocket', () => {
  it.each<[string, string, Record<string, string>, RegExp]>([
    ['an unknown alias', 'fasst', {}, /Did you mean "fast"\?/],
    ['an unknown config', '@sim/sim-echo', { 'x-gateway-config': 'prdo' }, /Did you mean "prod"\?/],
    ['headers of Portkey', 'unknown-name', { 'x-portkey-provider': '@sim' }, /x-portkey-provider has no effect/],
  ])('gets the hint at %s', async (_, model, headers, hint) => {
    const client = await connect(gateway, { headers });
    const [refused] = await client.turn({ model, input: 'Hello' });
    expect(JSON.stringify(refused).replaceAll(/\\+"/g, '"')).toMatch(hint);
  });
});

describe('a hint', () => {
  const bound = { 'x-gateway-api-key': 'gatehouse-bound-key-0123456789' };
  const chat = (model: string) => ['/v1/chat/completions', { model, messages: turn }] as const;

  it('names no alias and no config that the key may not use, and no hidden alias', async () => {
    expect(await ask(...chat('secre'), bound)).not.toContain('Did you mean');
    expect(await ask(...chat('secre'))).toContain('Did you mean "secret"?');
    expect(await ask(...chat('hiden'))).not.toContain('Did you mean');
    expect(await ask(...chat('fast'), { ...bound, 'x-gateway-config': 'of-bord' })).not.toContain('of-board');
    expect(await ask(...chat('fast'), { ...bound, 'x-gateway-config': 'prodd' })).toMatch(
      /^403 .*Did you mean "prod"/s,
    );
  });

  it('stands in the refusal of a single model, too', async () => {
    const response = await fetch(`${gateway.url}/v1/models/fasst`, { headers: { 'x-gateway-api-key': KEY } });
    expect(await response.text()).toContain('Did you mean');
  });

  it('about headers of Portkey is one line of the log, also where requests are served', async () => {
    const own = await startTestGateway(settings);
    const headers = { 'x-portkey-metadata': '{}' };
    for (let index = 0; index < 3; index += 1) expect(await ask(...chat('fast'), headers, own)).toMatch(/^200/);
    expect(await ask(...chat('fast'), { 'x-portkey-api-key': 'k' }, own)).toMatch(
      /^401 .*x-portkey-api-key has no effect/s,
    );
    expect(own.logs.filter(({ msg }) => String(msg).includes('has no effect: `header_prefixes'))).toHaveLength(1);
    await own.close();
  });

  it('about headers of Portkey is not given where the gateway reads them', async () => {
    const own = await startTestGateway({ ...settings, server: { header_prefixes: ['gateway', 'portkey'] } });
    expect(await ask(...chat('sim-echo'), { 'x-portkey-provider': '@sim' }, own)).toMatch(/^200/);
    expect(await ask(...chat('unknown'), { 'x-portkey-trace-id': 't' }, own)).not.toContain('has no effect');
    expect(own.logText()).not.toContain('has no effect');
    await own.close();
  });
});

describe('the metrics', () => {
  const attempts = async (of: TestGateway): Promise<string> => {
    const text = await (await fetch(`${of.statusUrl}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => /request_model="/.test(line) && !line.endsWith(' 0'))
      .join('\n');
  };

  it('count the first answer of a model that a config names under its name', async () => {
    const own = await startTestGateway(settings);
    expect(
      await ask('/v1/chat/completions', { model: 'any', messages: turn }, { 'x-gateway-config': 'prod' }, own),
    ).toMatch(/^200/);
    expect(await attempts(own)).toContain('request_model="house model"');
    expect(await attempts(own)).not.toContain('__other__');
    await own.close();
  });

  it('count a model under `__other__` that a config of the caller names', async () => {
    const own = await startTestGateway(settings);
    const config = JSON.stringify({ provider: '@sim', override_params: { model: 'house model' } });
    expect(
      await ask('/v1/chat/completions', { model: 'any', messages: turn }, { 'x-gateway-config': config }, own),
    ).toMatch(/^200/);
    expect(await attempts(own)).not.toContain('house model');
    await own.close();
  });
});
