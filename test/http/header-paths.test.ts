import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { headerPaths, type HeaderPath } from '../headers/header-paths/paths.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  geminiReply,
  json,
  openaiReply,
  startUpstream,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/upstream.ts';

/** Values that Claude takes on Vertex AI, where unknown ones are left out: one for each header that may hold them. */
const BETAS: Readonly<Record<string, string>> = {
  'anthropic-beta': 'context-1m-2025-08-07',
  'x-gateway-anthropic-beta': 'interleaved-thinking-2025-05-14',
  'x-gateway-familya-beta': 'claude-code-20250219',
  'x-acme-anthropic-beta': 'compact-2026-01-12',
  'x-acme-familya-beta': 'web-search-2025-03-05',
};
const GATEWAY_KEY = 'mark-gateway-key-41d0-0000';
const TOKEN = 'mark-authorization';

/** Headers that a request might have, whatever the settings say of them. */
const OTHERS =
  `cookie proxy-authorization x-tenant x-source x-entrance x-request-id traceparent tracestate baggage user-agent
  openai-organization openai-project openai-beta anthropic-version anthropic-dangerous-direct-browser-access x-goog-user-project x-goog-api-client
  x-stainless-lang x-forwarded-for forwarded via referer origin x-anything accept-language x-gateway-trace-id idempotency-key`
    .trim()
    .split(/\s+/);

const MODELS = {
  '@openai': 'gpt-4o',
  '@claude': 'claude-sonnet-4-5',
  '@vertex': 'anthropic.claude-sonnet-4-5',
  '@local': 'some-model',
} as const;
type Provider = keyof typeof MODELS;
const PROVIDERS = Object.keys(MODELS) as Provider[];

const CONFIGS: Readonly<Record<string, object>> = {
  forwarding: { forward_headers: ['X-Tenant', 'user-agent'] },
  nearer: { forward_headers: ['x-tenant'], targets: [{ forward_headers: ['x-source', 'anthropic-beta'] }] },
  plain: { retry: { attempts: 0 } },
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let possible: readonly HeaderPath[];

const settings = (url: string) => ({
  server: { header_prefixes: ['gateway', 'acme'] },
  catalog: {
    providers: [
      { slug: 'openai', provider: 'openai', base_url: `${url}/openai/v1`, api_key: '${env:A}' },
      { slug: 'claude', provider: 'anthropic', base_url: `${url}/claude`, api_key: '${env:B}' },
      {
        slug: 'vertex',
        provider: 'vertex-ai',
        base_url: `${url}/vertex`,
        project_id: 'a-project',
        region: 'us-central1',
      },
      { slug: 'local', provider: 'openai', base_url: `${url}/local/v1`, secret_headers: { 'x-entrance': '${env:C}' } },
    ].map((entry) => ({ ...entry, allow_insecure: true })),
  },
  keys: {
    keys: [{ id: 'k', key: GATEWAY_KEY_REFERENCE, custom_hosts: { hosts: ['127.0.0.1:*'], allow_insecure: true } }],
  },
  gateway: CONFIGS,
});
const GATEWAY_KEY_REFERENCE = '${env:K}';
const env = { A: 'mark-openai-key-9e2b', B: 'mark-claude-key-77c5', C: 'mark-entrance-5a5a', K: GATEWAY_KEY };

function reply({ url }: SeenRequest, res: ServerResponse): void {
  if (url.includes('count')) return json(res, { input_tokens: 3, totalTokens: 3 });
  if (url.startsWith('/claude') || url.includes('rawPredict')) return json(res, anthropicReply('hi'));
  json(res, url.startsWith('/vertex') ? geminiReply('hi') : openaiReply('hi'));
}

beforeAll(async () => {
  upstream = await startUpstream(reply);
  const texts = settings(upstream.url);
  gateway = await startTestGateway(texts, { env });
  const { server, catalog, keys, gateway: configs } = texts;
  const files = Object.entries({
    server,
    catalog,
    keys,
    ...Object.fromEntries(Object.entries(configs).map(([id, file]) => [`gateway/${id}`, file])),
  });
  const loaded = await loadSettings('configs', {
    env,
    files: memoryFiles(Object.fromEntries(files.map(([name, file]) => [`configs/${name}.yaml`, JSON.stringify(file)]))),
  });
  possible = await headerPaths(loaded, systemClock);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const KEY_PLACES = ['x-gateway-api-key', 'x-acme-api-key', 'x-api-key', 'authorization'];

/** Every header at once, each with a value of its own, and the gateway key in one place. */
function everyHeader(place: string): Record<string, string> {
  const marked = Object.fromEntries(OTHERS.map((name) => [name, `mark-${name}`]));
  return { ...marked, ...BETAS, authorization: `Bearer ${TOKEN}`, [place]: GATEWAY_KEY };
}

const valueOf = (header: string): string => BETAS[header] ?? `mark-${header}`;

/** Which of the request's headers are in what an upstream got, as `header → its name there`. */
function reached(requests: readonly SeenRequest[]): string[] {
  const found = requests.flatMap(({ headers }) =>
    Object.entries(headers).flatMap(([as, value]) =>
      [...OTHERS, ...Object.keys(BETAS), 'authorization']
        .filter((header) => words(value).includes(valueOf(header)))
        .map((header) => `${header} → ${as}`),
    ),
  );
  return [...new Set(found)].toSorted();
}

const words = (value: string | readonly string[] | undefined): string[] =>
  [value ?? []].flat().flatMap((one) => one.split(/[\s,]+/));

async function ask(path: string, body: object, headers: Record<string, string>): Promise<number> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.status;
}

/** Through every operation that the model can be asked by, with the key in every place, under either prefix. */
async function seenBy(provider: Provider, config: string | undefined): Promise<readonly SeenRequest[]> {
  const before = upstream.seen.length;
  const model = `${provider}/${MODELS[provider]}`;
  const messages = [{ role: 'user', content: 'Hi' }];
  for (const place of KEY_PLACES) {
    for (const skipped of ['x-acme-', 'x-gateway-']) {
      const all = Object.entries(everyHeader(place)).filter(([name]) => name === place || !name.startsWith(skipped));
      const headers = { ...Object.fromEntries(all), ...(config !== undefined && { 'x-gateway-config': config }) };
      for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens'])
        await ask(path, { model, ...(path.endsWith('tokens') ? {} : { max_tokens: 5 }), messages }, headers);
    }
  }
  return upstream.seen.slice(before);
}

const CASES = [undefined, ...Object.keys(CONFIGS)].flatMap((config) =>
  PROVIDERS.map((provider) => ({ config, provider })),
);

describe('what the settings let through of headers', () => {
  it.each(CASES)('is what reaches $provider with the config $config, and no more', async ({ config, provider }) => {
    const seen = await seenBy(provider, config);
    expect(seen.length).toBeGreaterThan(0);
    const paths = possible.filter((path) => path.config === config && path.provider === provider);
    expect(reached(seen)).toEqual([...new Set(paths.map(({ header, as }) => `${header} → ${as}`))].toSorted());
  });

  it('is what reaches a host of the caller’s choice', async () => {
    const before = upstream.seen.length;
    const headers = { ...everyHeader('x-gateway-api-key'), 'x-gateway-custom-host': `${upstream.url}/local/v1` };
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
    expect(await ask('/v1/chat/completions', body, headers)).toBe(200);
    expect(reached(upstream.seen.slice(before))).toEqual(['authorization → authorization']);
    const paths = possible.filter((path) => path.config === undefined && path.provider === 'custom host');
    expect(paths.map(({ header, as }) => `${header} → ${as}`)).toEqual(['authorization → authorization']);
  });

  it('holds for keys, too: no gateway key reaches an upstream, and no entry’s key reaches another entry', () => {
    const all = upstream.seen.map(({ url, headers }) => ({ url, text: JSON.stringify(headers) }));
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(({ text }) => text.includes(GATEWAY_KEY))).toEqual([]);
    for (const [slug, key] of [
      ['openai', env.A],
      ['claude', env.B],
      ['local', env.C],
    ] as const) {
      const holders = new Set(all.filter(({ text }) => text.includes(key)).map(({ url }) => url.split('/')[1]));
      expect([...holders]).toEqual([slug]);
    }
  });
});
