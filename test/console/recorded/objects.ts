import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const START = Date.UTC(2026, 10, 28, 17, 43, 50);
const POINTS = 360;

const counts = (of: (index: number) => number): number[] =>
  Array.from({ length: POINTS }, (_, index) => Math.max(0, Math.round(of(index))));

const series = (name: string, size: number) => ({
  name,
  requests: counts((at) => size * (30 + 20 * Math.sin(at / 40) + (at % 7))),
  errors: counts((at) => size * (at % 60 < 5 ? 8 : 0)),
  rescued: counts((at) => size * (at % 30 < 3 ? 4 : 0)),
  cached: counts((at) => size * 3 * Math.abs(Math.sin(at / 20))),
  tokens_in: counts(() => size * 900),
  tokens_out: counts(() => size * 300),
  nano: counts((at) => size * (1_000_000 + (at % 9) * 100_000)),
  unpriced: counts((at) => (name === 'sim-steady' && at % 60 === 0 ? 1 : 0)),
  p50_ms: counts((at) => 180 + 40 * Math.sin(at / 30)),
  p95_ms: counts((at) => 420 + 160 * Math.sin(at / 25) + (at % 60 < 5 ? 600 : 0)),
  first_p95_ms: counts((at) => 220 + 60 * Math.sin(at / 25)),
});

const NAMES: Readonly<Record<string, readonly string[]>> = {
  key: ['search', 'batch', 'interns', 'nightly-reports'],
  model: ['gemini-2.5-pro', 'claude-sonnet-4-5', 'sim-steady'],
  error: ['upstream_unavailable', 'rate_limited'],
};

export const stats = (by: string | null): object => ({
  step_s: 10,
  since: new Date(START).toISOString(),
  points: POINTS,
  series: by === null ? [series('', 1)] : (NAMES[by] ?? []).map((name, index) => series(name, 1 / (index + 1))),
  other: null,
  complete_since: null,
});

export const settings = {
  hash: '04a0fcf0aa',
  loaded_at: '2026-11-28T18:00:00Z',
  reload: {
    ok: false,
    at: '2026-11-28T18:40:00Z',
    diagnostics: [
      {
        file: 'gateway/production.yaml',
        line: 14,
        column: 19,
        severity: 'error',
        message: 'there is no entry @simulater; did you mean @simulator?',
      },
    ],
  },
  warnings: [],
  files: [{ path: 'catalog.yaml', bytes: 900 }],
  configs: [{ id: 'production', file: 'gateway/production.yaml', hash: '1b6c' }],
};

const place = { file: 'catalog.yaml', line: 5, column: 5 };

export const providers = [
  {
    slug: 'simulator',
    id: 'simulator',
    provider: 'simulator',
    owner: 'catalog.yaml:2',
    place: { ...place, line: 2 },
    etag: '"1"',
    spec: { provider: 'simulator' },
    credential: { kind: 'none' },
    models: [],
    targets: [
      {
        config: 'production',
        target: 'config.targets[0].targets[0]',
        at: { file: 'gateway/production.yaml', line: 13, column: 9 },
        health: [
          {
            state: 'open',
            enforced: false,
            failed: 5,
            of: 8,
            last_error: 'server_error',
            retry_in_ms: 12_000,
            worker: 1,
          },
        ],
      },
    ],
  },
  {
    slug: 'vertex',
    id: 'vertex',
    provider: 'vertex-ai',
    owner: 'catalog.yaml:5',
    place,
    etag: '"2"',
    spec: { provider: 'vertex-ai', region: 'europe-west4' },
    base_url: 'https://europe-west4-aiplatform.googleapis.com',
    credential: {
      kind: 'service_account',
      ref: '${file:/run/secrets/vertex.json}',
      email: 'gateway@acme-prod.iam.gserviceaccount.com',
      project: 'acme-prod',
    },
    models: ['gemini-2.5-*'],
    targets: [
      {
        config: 'production',
        target: 'config.targets[1]',
        at: { file: 'gateway/production.yaml', line: 20, column: 5 },
        health: [{ state: 'closed', enforced: true, failed: 0, of: 120 }],
      },
    ],
  },
  {
    slug: 'anthropic',
    id: 'anthropic',
    provider: 'anthropic',
    owner: 'store',
    etag: '"7"',
    spec: { provider: 'anthropic' },
    base_url: 'https://api.anthropic.com',
    credential: { kind: 'api_key', last4: 'x7Qa' },
    models: [],
    targets: [],
  },
];

const catalog = JSON.parse(readFileSync(join(import.meta.dirname, '../../../schemas/catalog.json'), 'utf8')) as {
  definitions: Record<string, object>;
};
const entry = (name: string): object => ({ ...catalog.definitions[name], definitions: catalog.definitions });
export const kinds = [
  {
    kind: 'vertex-ai',
    title: 'Vertex AI',
    description: 'Gemini and partner models on Google Cloud.',
    schema: entry('vertex'),
    secrets: ['service_account', 'api_key'],
    shared: [],
  },
  {
    kind: 'anthropic',
    title: 'Anthropic',
    description: 'Claude models.',
    schema: entry('openai'),
    secrets: ['api_key'],
    shared: [],
  },
  {
    kind: 'openai',
    title: 'OpenAI',
    description: 'OpenAI, or a server with its API.',
    schema: catalog,
    secrets: ['api_key'],
    shared: [],
  },
];

const key = (id: string, team: string | null, more: object = {}) => ({
  id,
  owner: 'store',
  etag: '"3"',
  updated_by: 'ann',
  updated_at: '2026-11-20T10:00:00Z',
  spec: { ...(team !== null && { team }), models: ['gemini-2.5-*'], ...more },
  state: 'active',
  credentials: [{ slot: 0, last4: 'b3Zq', valid_from: '2026-11-20T10:00:00Z', valid_to: null }],
  last_used: { at: '2026-11-28T18:43:59Z', address: '127.0.0.1' },
});

export const keyList = [
  {
    ...key('search', 'search', { default_config: 'production' }),
    effective: [
      { kind: 'models', node: 'key:search', owner: 'store', spec: ['gemini-2.5-*'] },
      {
        kind: 'budget',
        node: 'team:search',
        owner: 'teams.yaml:4',
        spec: { cap: '500 USD', period: 'month' },
        budget: 'team:search:month:usd',
      },
      { kind: 'limits', node: 'organization:acme', owner: 'teams.yaml:1', spec: { requests: '600/m' } },
    ],
  },
  key('batch', 'interns', { expires_at: '2026-12-01T00:00:00Z' }),
  { ...key('demo', null), owner: 'keys.yaml:5' },
];

export const teams = [
  {
    id: 'search',
    owner: 'teams.yaml:4',
    etag: '"1"',
    updated_by: null,
    updated_at: null,
    spec: { organization: 'acme' },
  },
  {
    id: 'interns',
    owner: 'store',
    etag: '"1"',
    updated_by: 'ann',
    updated_at: '2026-11-20T10:00:00Z',
    spec: { organization: 'acme' },
  },
];

const budget = (node: string, cap: number, spent: number) => ({
  id: `${node}:month:usd`,
  owner: 'store',
  etag: '"1"',
  updated_by: null,
  updated_at: null,
  name: `${node}:month:usd`,
  part_of: null,
  node,
  spec: { cap: '500 USD', period: 'month' },
  unit: 'nano_usd',
  cap: cap * 1e9,
  period_start: '2026-11-01T00:00:00Z',
  period_end: '2026-12-01T00:00:00Z',
  spent: spent * 1e9,
  leased: 0,
  unreconciled: 0,
  saturated: false,
});

export const budgets = [
  budget('team:search', 500, 431),
  budget('team:interns', 50, 12),
  budget('organization:acme', 2000, 640),
];

export const costs = {
  request_id: 'x',
  tokens: { input: 6, output: 5 },
  cost_usd: 0.000056,
  targets: [
    {
      target: 'config.targets[0].targets[0]',
      target_name: 'primary',
      provider: 'simulator',
      model: 'sim-error-503',
      cost_usd: null,
      unknown: 'model',
    },
    {
      target: 'config.targets[0].targets[1]',
      target_name: 'spare',
      provider: 'simulator',
      model: 'sim-steady',
      cost_usd: 0.000056,
      answered: true,
    },
  ],
  models: [
    { provider: 'vertex', model: 'gemini-2.5-flash', cost_usd: 0.0000143 },
    { provider: 'vertex', model: 'gemini-2.5-pro', cost_usd: 0.0000575 },
    { provider: 'anthropic', model: 'claude-sonnet-4-5', cost_usd: 0.000093 },
    { provider: 'simulator', model: 'sim-steady', cost_usd: null, unknown: 'model' },
  ],
  left_out: 0,
};
