import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAdmin, type AdminGateway, FILE_KEY } from '../admin/kit.ts';

/** The calls of the admin API, in a gateway that has served requests. Each runs in a process of its own. */

const CONFIG =
  'strategy: { mode: fallback }\ntargets:\n  - { name: first, provider: "@sim", override_params: { model: sim-error-503 } }\n  - { name: second, provider: "@sim", override_params: { model: sim-steady } }\n';
const TESTS = `cases:
  - name: goes to the first target
    request: { body: { model: any, messages: [{ role: user, content: Hi }] } }
    upstream: [{ answer: Hello }]
    expect: { target: first }
  - name: goes to the second target
    request: { body: { model: any, messages: [{ role: user, content: Hi }] } }
    upstream: [{ answer: Hello }]
    expect: { target: second }
`;
const SECRET = 'sk-canary-0123456789abcdef';

let admin: AdminGateway;
let token: string;
beforeAll(async () => {
  const catalog = `providers:\n  - slug: sim\n    provider: simulator\n  - slug: other\n    provider: openai\n    api_key: ${SECRET}\n  - slug: named\n    provider: openai\n    base_url: https://named.example/v1\n    api_key: \${env:NAMED_KEY}\n`;
  const prices = { prices: [{ model: '*', usd: { input: 1, output: 1 } }] };
  const env = { NAMED_KEY: 'named-canary-0123456789' };
  admin = await startAdmin({ env, catalog, prices, gateway: { prod: CONFIG, default: { provider: '@sim' } } });
  token = await admin.token('operator');
  for (const text of ['one', 'two'])
    await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': FILE_KEY, 'x-gateway-config': 'prod' },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: text }] }),
    }).then((reply) => reply.text());
});
afterAll(() => admin.close());

interface Event {
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read data of all shapes
  readonly data: any;
}

const eventsOf = (text: string): readonly Event[] =>
  text
    .trim()
    .split('\n\n')
    .map((block) => {
      const [, event = '', data = ''] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
      return { event, data: JSON.parse(data) as unknown };
    });

const post = (path: string, body: object, as = token) => admin.ask('POST', path, { token: as, body });

describe('POST settings/effect', () => {
  it('shows which of the last requests texts in the place of settings would send elsewhere', async () => {
    const { status, text } = await post('/settings/effect', {
      files: { 'gateway/prod.yaml': CONFIG.replace('sim-error-503', 'demo') },
      last: 10,
    });
    const events = eventsOf(text);
    expect(status).toBe(200);
    expect(events[0]).toEqual({ event: 'progress', data: { done: 0, of: 2 } });
    expect(events.at(-2)).toMatchObject({
      event: 'change',
      data: {
        count: 2,
        before: { to: '@sim/sim-error-503, then @sim/sim-steady', place: { file: 'gateway/prod.yaml', line: 3 } },
        after: { to: '@sim/demo', place: { file: 'gateway/prod.yaml', line: 3 } },
      },
    });
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { same: 0, changed: 2, unknown: 0 } });
    expect(text).not.toContain('canary');
  });

  it('looks at as many as it is given', async () => {
    const { text } = await post('/settings/effect', { files: { 'gateway/prod.yaml': CONFIG }, last: 1 });
    expect(eventsOf(text).at(-1)).toMatchObject({ event: 'done', data: { same: 1, changed: 0, unknown: 0 } });
  });

  it('says why settings do not load, and guesses nothing', async () => {
    const { text } = await post('/settings/effect', { files: { 'gateway/prod.yaml': 'provider: "@none"\n' } });
    expect(eventsOf(text).at(-1)!.data).toMatchObject({
      unknown: 2,
      reasons: [{ count: 2, reason: expect.stringMatching(/^the settings do not load: gateway\/prod\.yaml:1:11: /) }],
    });
  });

  it.each(['${env:NAMED_KEY}', '${file:../keys.yaml}'])('compares nothing with %s', async (secret) => {
    const config = `strategy: { mode: conditional, conditions: [{ query: { metadata.app: { $gt: "${secret}" } }, then: a }], default: b }
targets: [{ name: a, provider: "@sim" }, { name: b, provider: "@sim" }]\n`;
    const files = { 'gateway/prod.yaml': config };
    const { text } = await post('/settings/effect', { files });
    expect(eventsOf(text).at(-1)!.data).toMatchObject({
      unknown: 2,
      reasons: [{ reason: expect.stringMatching(/not set|is a file of/) }],
    });
    const question = { headers: { 'x-gateway-config': 'prod' }, key: 'test', body: { model: 'any', messages: [] } };
    expect(await post('/explain', { ...question, settings: files })).toMatchObject({ status: 422 });
  });

  it.each([
    [{ files: {} }],
    [{ files: { '../catalog.yaml': '' } }],
    [{ files: { 'gateway/../../x.yaml': '' } }],
    [{ files: { 'prod.yaml': '' } }],
    [{ files: { 'gateway/prod.yaml': '' }, last: 1001 }],
  ])('refuses %j', async (body) => {
    expect(await post('/settings/effect', body)).toMatchObject({ status: 422 });
  });
});

describe('POST settings/tests', () => {
  it('runs tests with texts in the place of settings and of tests', async () => {
    const { text } = await post('/settings/tests', {
      files: { 'gateway/prod.yaml': CONFIG, 'gateway/prod.test.yaml': TESTS },
    });
    const events = eventsOf(text);
    expect(events).toMatchObject([
      {
        event: 'case',
        data: { file: 'gateway/prod.test.yaml', line: 2, name: 'goes to the first target', ok: true, differences: [] },
      },
      {
        event: 'case',
        data: {
          line: 6,
          ok: false,
          differences: [{ line: 9, what: 'target', expected: 'second', got: expect.any(String) }],
        },
      },
      { event: 'done', data: { passed: 1, failed: 1 } },
    ]);
  });

  it('runs those whose name the filter has', async () => {
    const files = { 'gateway/prod.test.yaml': TESTS };
    const { text } = await post('/settings/tests', { files, filter: 'second' });
    expect(eventsOf(text)).toMatchObject([{ data: { name: 'goes to the second target' } }, { event: 'done' }]);
  });

  it('loads no module that the settings in force do not name', async () => {
    const files = { 'server.yaml': 'plugins: [./evil.mjs]\n', 'gateway/prod.test.yaml': TESTS };
    const { text } = await post('/settings/tests', { files });
    expect(eventsOf(text)).toEqual([
      { event: 'done', data: { passed: 0, failed: 0, problems: [expect.stringContaining('texts load no module')] } },
    ]);
  });

  it('takes the role operator', async () => {
    expect(
      await post('/settings/tests', { files: { 'gateway/prod.yaml': CONFIG } }, await admin.token('viewer')),
    ).toMatchObject({ status: 403 });
  });
});
