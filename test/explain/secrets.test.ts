import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { explainCommand } from '../../src/addons/explain/cli/explain.ts';
import { testCommand } from '../../src/addons/config-tests/cli/test.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { writeSettings } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

// Every secret in settings and requests contains this word, and no output does.
const WORD = 'canary';

/** Where it stands all the same. */
const leaksIn = (said: string): readonly string[] => said.match(new RegExp(`.{0,60}${WORD}.{0,20}`, 'g')) ?? [];

const privateKey = testPrivateKey();

const ENV = {
  OPENAI: 'canary-openai/0123456789',
  TEAM_PASS: 'canary-"team"-pass',
  SHORT: 'canary',
  GATEWAY_KEY: 'canary-gateway-key-0123',
  ADMIN: 'canary-admin-token-0123',
  USER_TOKEN: 'canary-user-token-0123',
  SERVICE_ACCOUNT: JSON.stringify({
    type: 'service_account',
    project_id: 'my-project',
    private_key_id: 'canary-private-key-id',
    client_email: 'a@my-project.iam.gserviceaccount.com',
    private_key: privateKey,
  }),
};
const IN_FILE = 'canary-of-a-file-0123';
const IN_CLEAR = 'canary-in-clear-text-0123';
const OWN_TOKEN = 'canary-own-token-0123';
const COOKIE = 'canary-cookie-0123';

/** What a caller may have pasted into a prompt: all of it, bare, in JSON and as URLs have it. */
const QUOTED = [
  ...Object.values(ENV).filter((text) => text !== ENV.SHORT && !text.startsWith('{')),
  IN_FILE,
  IN_CLEAR,
  OWN_TOKEN,
  COOKIE,
  'canary-private-key-id',
  encodeURIComponent(ENV.OPENAI),
  JSON.stringify({ key: ENV.TEAM_PASS }),
  'https://me:canary-in-a-url@example.com/a.png',
  'sk-canary-0123456789',
].join(' and ');

const TOOL = { name: 'f', parameters: { type: 'object', properties: { [ENV.GATEWAY_KEY]: { type: 'string' } } } };
const BODY = {
  model: 'any',
  user: ENV.GATEWAY_KEY,
  max_tokens: 5,
  tools: [{ type: 'function', function: TOOL }],
  messages: [
    { role: 'user', content: QUOTED },
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify({ a: QUOTED }) } }],
    },
    { role: 'tool', tool_call_id: 'c', content: QUOTED },
  ],
};
const HEADERS = {
  'x-gateway-api-key': ENV.GATEWAY_KEY,
  authorization: `Bearer ${OWN_TOKEN}`,
  cookie: `session=${COOKIE}; b=2`,
  'x-team': ENV.USER_TOKEN,
  // The key alone is no name of a request, and would not be told at all.
  'x-request-id': `of-${ENV.GATEWAY_KEY}`,
  'x-gateway-metadata': JSON.stringify({ team: ENV.GATEWAY_KEY, [OWN_TOKEN]: COOKIE }),
};

// A test file has the values of references that are not secrets by their place: they are in a file, so they are no secrets.
const OF_TEST = { ...ENV, GATEWAY_KEY: 'key-of-this-test', USER_TOKEN: 'u' };
const TEST = `env: ${JSON.stringify(OF_TEST)}
cases:
  - name: is not as expected
    headers: { x-team: red }
    request: { body: ${JSON.stringify({ ...BODY, user: 'u', tools: undefined, messages: [{ role: 'user', content: 'Hi' }] })} }
    upstream: [{ answer: Hello }]
    expect: { target: "@claude", attempts: 7, outbound: { url: "https://nowhere", headers: { authorization: x, x-team-pass: x }, body: { user: x } }, status: 500, headers: { x-a: b }, body: { a: b } }
`;

let configs: string;
let upstream: ScriptedUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream((_, res) => json(res, openaiReply('Hello')));
  configs = writeSettings({
    server: `listen: { host: 127.0.0.1, port: 0 }
status: { host: 127.0.0.1, port: 0 }
admin: { port: 0, token: "\${env:ADMIN}", explain: all, content: true }
`,
    catalog: `providers:
  - slug: gpt
    provider: openai
    base_url: ${upstream.url}/v1
    allow_insecure: true
    api_key: \${env:OPENAI}
    secret_headers: { x-team-pass: "\${env:TEAM_PASS}", x-team-pin: "\${env:SHORT}" }
  - { slug: claude, provider: anthropic, api_key: "\${file:claude.key}" }
  - { slug: clear, provider: openai, api_key: ${IN_CLEAR} }
  - { slug: google, provider: vertex-ai, region: us-central1, project_id: my-project, service_account: "\${env:SERVICE_ACCOUNT}" }
`,
    keys: `keys:
  - { id: team, key: "\${env:GATEWAY_KEY}", inline_configs: true, custom_hosts: { hosts: [ example.com ] } }
`,
    gateway: {
      prod: `strategy:
  mode: conditional
  conditions:
    - { query: { metadata.team: "\${env:GATEWAY_KEY}" }, then: chain }
    - { query: { params.user: { $regex: "can.ry" } }, then: chain }
  default: chain
forward_headers: [ x-team ]
reply_headers: [ explain_id ]
targets:
  - name: chain
    strategy: { mode: fallback }
    targets:
      - { provider: "@gpt", override_params: { model: gpt-5, user: "\${env:USER_TOKEN}" }, cache: { mode: exact, max_age: 60 } }
      - { provider: "@claude", override_params: { model: claude-sonnet-4-5 }, drop_params: [ user ] }
      - { provider: "@clear", override_params: { model: gpt-5 } }
      - { provider: "@google", override_params: { model: gemini-2.5-flash } }
`,
    },
  });
  writeFileSync(join(configs, 'claude.key'), IN_FILE);
  const problems = (await loadSettings(configs, { env: ENV })).diagnostics.filter(
    ({ severity }) => severity === 'error',
  );
  expect(problems).toEqual([]);
  gateway = await startGateway({ configs, env: ENV, logTo: { write() {} } });
});
afterAll(async () => {
  await gateway?.close();
  await upstream.close();
});

/** Standard output and standard error together. */
function capture() {
  let text = '';
  const write = (more: string): void => void (text += more);
  return {
    out: { out: write, err: write, colour: false, color: false, terminal: { columns: 80 } },
    // The folder of this test and names of variables are none.
    said: () => text.replaceAll(configs, 'configs'),
  };
}

const INLINE = JSON.stringify({
  provider: '@gpt',
  override_params: { model: 'm', user: OWN_TOKEN, metadata: { note: ENV.GATEWAY_KEY } },
});

/** Requests that go through, and refused ones: by header, body, path and key. */
const ASKED: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] = [
  ['a fallback', { 'x-gateway-config': 'prod' }, '/v1/chat/completions', '"number": 3'],
  ['a config of its own', { 'x-gateway-config': INLINE }, '/v1/chat/completions', '"found": "inline"'],
  ['a query', { 'x-gateway-config': 'prod' }, `/v1/chat/completions?key=${ENV.GATEWAY_KEY}`, '"number": 3'],
  ['an unknown config', { 'x-gateway-config': ENV.GATEWAY_KEY }, '/v1/chat/completions', 'unknown_config'],
  [
    'a config with mistakes',
    { 'x-gateway-config': `{"provider":"${ENV.GATEWAY_KEY}","${OWN_TOKEN}":1}` },
    '/v1/chat/completions',
    '"status": 400',
  ],
  [
    'a host with a password',
    { 'x-gateway-custom-host': 'https://me:canary-pw@example.com/v1?key=canary-query-0123' },
    '/v1/chat/completions',
    'invalid_header',
  ],
  ['an unknown key', { 'x-gateway-api-key': 'canary-unknown-key-0123' }, '/v1/chat/completions', 'invalid_api_key'],
  ['a path where nothing is', {}, `/v1/${ENV.GATEWAY_KEY}`, '"status": 404'],
  ['metadata that are none', { 'x-gateway-metadata': ENV.GATEWAY_KEY }, '/v1/chat/completions', '"status": 400'],
];

const MCP_TOKEN = 'canary-mcp-token-0123';
const mcp = { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example', require_approval: 'never' };

/** Tokens of MCP servers in bodies, as the vendors spell them; what the upstream gets of them. */
const SERVERS: readonly (readonly [string, string, object, string])[] = [
  [
    'of the Messages API',
    '/v1/messages',
    {
      max_tokens: 5,
      messages: [{ role: 'user', content: MCP_TOKEN }],
      mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'docs', authorization_token: MCP_TOKEN }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }],
    },
    '"authorization_token": "[secret]"',
  ],
  [
    'of the Responses API',
    '/v1/responses',
    { input: 'hi', max_output_tokens: 5, tools: [{ ...mcp, authorization: MCP_TOKEN }] },
    '"authorization_token": "[secret]"',
  ],
  [
    'in a header of the Responses API',
    '/v1/responses',
    { input: 'hi', max_output_tokens: 5, tools: [{ ...mcp, headers: { Authorization: `Bearer ${MCP_TOKEN}` } }] },
    '"authorization_token": "[secret]"',
  ],
  [
    'among the items of the Responses API',
    '/v1/responses',
    {
      input: [
        { type: 'additional_tools', role: 'developer', tools: [{ ...mcp, authorization: MCP_TOKEN }] },
        { role: 'user', content: 'hi' },
      ],
      max_output_tokens: 5,
    },
    '"authorization_token": "[secret]"',
  ],
];

/** @param sign what the JSON must have, so that it was this that was looked at */
async function expectNoLeaks(headers: readonly string[], question: object, sign: string): Promise<void> {
  for (const json of [true, false]) {
    const { out, said } = capture();
    const input = () => Promise.resolve(Buffer.from(JSON.stringify(question)));
    const code = await explainCommand({ configs, env: ENV, request: '-', headers, draws: [], json, input, ...out });
    expect(code, said()).toBe(0);
    if (json) expect(said()).toContain(sign);
    expect(leaksIn(said())).toEqual([]);
  }
}

describe('no secret is in', () => {
  it.each(SERVERS)('an explanation of a request with a token of an MCP server %s', async (_, path, body, sign) => {
    const lines = ['x-gateway-api-key: ' + ENV.GATEWAY_KEY, 'x-gateway-provider: @claude'];
    await expectNoLeaks(lines, { path, body: { model: 'claude-sonnet-4-5', ...body } }, sign);
  });

  it.each(ASKED)('the text or the JSON of gatehouse explain: %s', async (_, headers, path, sign) => {
    const lines = Object.entries({ ...HEADERS, ...headers }).map(([name, value]) => `${name}: ${value}`);
    await expectNoLeaks(lines, { path, body: BODY }, sign);
  });

  it('what explain complains about: a key in place of its id, a broken request', async () => {
    for (const options of [
      { key: ENV.GATEWAY_KEY, headers: [], body: JSON.stringify(BODY) },
      { key: 'gatehouse_team_canary-0123456789-0123456789', headers: [], body: JSON.stringify(BODY) },
      { headers: [ENV.GATEWAY_KEY], body: JSON.stringify(BODY) },
      { headers: [], body: `{"key":"${ENV.GATEWAY_KEY}" "` },
    ]) {
      const { out, said } = capture();
      const { body, ...flags } = options;
      const input = () => Promise.resolve(Buffer.from(body));
      const code = await explainCommand({
        configs,
        env: ENV,
        request: '-',
        draws: [],
        json: false,
        input,
        ...flags,
        ...out,
      });
      expect([code, said()]).toEqual([2, expect.stringMatching(/^gatehouse: .*\n$/)]);
      expect(leaksIn(said())).toEqual([]);
    }
  });

  const ask = (path: string, init: RequestInit = {}, accept = 'application/json') =>
    fetch(gateway.admin!.url + path, {
      ...init,
      headers: { authorization: `Bearer ${ENV.ADMIN}`, 'content-type': 'application/json', accept },
    });

  it.each(ASKED)('what the admin listener explains: %s', async (_, headers, path) => {
    const body = JSON.stringify({ path, headers: { ...HEADERS, ...headers }, body: BODY });
    for (const accept of ['application/json', 'text/plain']) {
      const response = await ask('/admin/v1/explain', { method: 'POST', body }, accept);
      const said = await response.text();
      expect([response.status, said.includes('[secret]')]).toEqual([200, true]);
      expect(leaksIn(said)).toEqual([]);
    }
  });

  it('the explanation of a request that was served', async () => {
    const served = await fetch(`${gateway.data.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...HEADERS, 'content-type': 'application/json', 'x-gateway-config': 'prod', 'x-request-id': 'one' },
      body: JSON.stringify(BODY),
    });
    await served.text();
    const id = served.headers.get('x-gateway-explain-id');
    for (const accept of ['application/json', 'text/plain']) {
      const response = await ask(`/admin/v1/explain/${id}?texts=true`, {}, accept);
      const said = await response.text();
      expect([served.status, response.status]).toEqual([200, 200]);
      expect(leaksIn(said)).toEqual([]);
    }
  });

  it.each(['pretty', 'junit', 'github'] as const)('what gatehouse test reports: %s', async (reporter) => {
    writeFileSync(join(configs, 'gateway/prod.test.yaml'), TEST);
    const { out, said } = capture();
    expect(await testCommand({ dir: configs, reporter, bail: false, ...out })).toBe(1);
    expect(said()).toContain('is not as expected');
    expect(leaksIn(said())).toEqual([]);
  });
});
