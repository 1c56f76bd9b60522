const row = (seq: number, more: object = {}) => ({
  seq,
  at: new Date(Date.UTC(2026, 10, 28, 18, 0, seq)).toISOString(),
  actor: 'token:ann',
  role: 'admin',
  address: '10.0.0.7',
  action: 'put',
  kind: 'keys',
  id: 'search',
  before: { spec: { models: ['gemini-2.5-*'], team: 'search' } },
  after: { spec: { models: ['gemini-2.5-*', 'claude-*'], team: 'search' } },
  reason: 'keys.patch: more models',
  prev: '0'.repeat(64),
  hash: 'ab'.repeat(32),
  ...more,
});

/** A whole page of the audit: the newest rows first. */
export const auditRows = [
  row(120, { action: 'read', kind: 'requests', id: '0192-0', before: null, after: null, reason: 'a complaint' }),
  row(119),
  row(118, {
    action: 'refused',
    kind: 'budgets',
    id: '',
    before: null,
    after: null,
    reason: 'budgets.create: forbidden',
  }),
  ...Array.from({ length: 100 }, (_, index) => row(117 - index, { id: `key-${index}` })),
];

export const fired = [
  {
    id: '5f0e7d1a-0000-8000-a000-000000000001',
    at: '2026-11-28T18:40:00.000Z',
    kind: 'budget',
    nodes: ['team:search', 'organization:acme'],
    text: 'team:search:month:usd has spent 431 of 500 USD',
    deliveries: [
      { webhook: 'ops', state: 'delivered', tries: 1 },
      { webhook: 'finance', state: 'waiting', tries: 2, problem: 'HTTP 503' },
    ],
  },
  {
    id: '5f0e7d1a-0000-8000-a000-000000000002',
    at: '2026-11-28T18:30:00.000Z',
    kind: 'key_expiry',
    nodes: [],
    text: 'the key batch ends in 3 days',
    deliveries: [],
  },
];

const meta = { etag: '"3"', updated_by: 'token:ann', updated_at: '2026-11-20T10:00:00Z' };

export const webhooks = [
  { ...meta, id: 'ops', owner: 'store', spec: { kinds: ['budget', 'exhausted'] } },
  {
    ...meta,
    id: 'finance',
    owner: 'server.yaml:12',
    updated_by: null,
    updated_at: null,
    spec: { nodes: ['team:search'] },
  },
];

const plugin = (level: string, name: string, more: object = {}) => ({
  name,
  plugin: name,
  level,
  external: false,
  own: { runs: 280, mean_ms: 0.14, p95_ms: 0.64 },
  errors: [],
  ...more,
});

export const plugins = [
  plugin('entry', 'auth', { errors: [{ what: 'missing_api_key', count: 3 }] }),
  plugin('entry', 'body'),
  plugin('request', 'route', { own: null }),
  plugin('attempt', 'house-rules', {
    external: true,
    own: { runs: 300, mean_ms: 61.2, p95_ms: null },
    errors: [
      { what: 'timeout', count: 2 },
      { what: 'blocked', count: 12 },
    ],
  }),
  plugin('attempt', 'send', { own: { runs: 300, mean_ms: 412, p95_ms: 655.36 } }),
];

const token = (id: string, more: object = {}) => ({
  ...meta,
  id,
  owner: 'store',
  role: 'viewer',
  content: false,
  expires_at: '2027-01-05T00:00:00Z',
  last4: 'x7Qa',
  state: 'active',
  ...more,
});

export const tokens = [
  token('ann', { role: 'admin', content: true }),
  token('grafana', { scopes: ['usage:read'], networks: ['10.0.0.0/8'] }),
  token('old', { state: 'expired' }),
];

export const people = [
  {
    user: 'token:ann',
    role: 'admin',
    content: true,
    by: 'session',
    address: '10.0.0.7',
    seen_at: '2026-11-28T18:43:00Z',
  },
  {
    user: 'loopback',
    role: 'operator',
    content: false,
    by: 'none',
    address: '127.0.0.1',
    seen_at: '2026-11-28T18:10:00Z',
  },
];

const digest = `sha256:${'ab'.repeat(32)}`;

export const prompts = [
  {
    ...meta,
    id: 'ticket-summary',
    owner: 'store',
    spec: {
      description: 'Summarises a support ticket.',
      labels: { production: 1, staging: 2 },
      versions: {
        1: {
          digest,
          model: '@vertex/gemini-2.5-flash',
          variables: { ticket: { example: 'It does not start.' } },
          messages: [{ role: 'user', content: 'Summarise: {{ticket}}' }],
        },
        2: { digest, text: 'Short: {{ticket}}', variables: { ticket: {} } },
        3: {
          note: 'The tone is a variable.',
          model: '@vertex/gemini-2.5-flash',
          parameters: { temperature: 0.2 },
          variables: {
            ticket: {
              description: 'Text of the ticket.',
              schema: { type: 'string', maxLength: 20000 },
              example: 'It does not start.',
            },
            tone: { schema: { type: 'string', enum: ['friendly', 'formal'] }, default: 'formal' },
            photos: { schema: { type: 'array', items: { type: 'string' } }, default: [] },
          },
          messages: [
            { role: 'system', content: 'Be {{tone}}.{{#photos}} There is a photo of {{.}}.{{/photos}}' },
            { role: 'user', content: 'Summarise for {{reader}}:\n{{ticket}}' },
          ],
        },
      },
    },
  },
  {
    ...meta,
    id: 'greeting',
    owner: 'prompts/greeting.yaml:1',
    updated_by: null,
    updated_at: null,
    spec: { versions: { 1: { text: 'Hello {{name}}', variables: { name: {} } } } },
  },
];

export const promptDraft = {
  file: 'prompts/greeting.yaml',
  folder: '/etc/gatehouse',
  patch: '--- a/prompts/greeting.yaml\n+++ b/prompts/greeting.yaml\n@@ -1,1 +1,2 @@\n versions:\n+  2: {}\n',
  apply: ['git apply gatehouse.patch'],
  set: [],
  diagnostics: [],
};
