// Answers of the API as they were, for the page without a gateway.

const START = Date.UTC(2026, 10, 28, 18, 43, 59);

const KINDS = [
  {
    state: 'complete',
    rescued: true,
    status: 200,
    key_id: 'search',
    team: 'search',
    config_id: 'production',
    provider: 'simulator',
    request_model: 'sim-steady',
    duration_ms: 401,
    attempts: 2,
    retries: 1,
    skipped: 0,
    tokens: { input: 6, output: 5 },
    cost_usd: 0.000056,
  },
  {
    state: 'failed',
    status: 429,
    key_id: 'batch',
    team: 'interns',
    provider: 'simulator',
    request_model: 'sim-error-429',
    duration_ms: 8,
    attempts: 1,
    retries: 0,
    skipped: 0,
    error: { code: 'rate_limited', type: 'upstream' },
  },
  {
    state: 'complete',
    status: 200,
    key_id: 'search',
    team: 'search',
    config_id: 'production',
    provider: 'simulator',
    request_model: 'sim-steady',
    duration_ms: 9,
    attempts: 1,
    retries: 0,
    skipped: 0,
  },
  {
    state: 'failed',
    status: 401,
    duration_ms: 0.4,
    attempts: 0,
    retries: 0,
    skipped: 0,
    error: { code: 'invalid_api_key', type: 'rejected' },
  },
  {
    state: 'complete',
    status: 200,
    key_id: 'batch',
    team: 'interns',
    provider: 'simulator',
    request_model: 'sim-slow-200',
    duration_ms: 207,
    attempts: 1,
    retries: 0,
    skipped: 0,
  },
];

export const idOf = (index: number): string => `01a22378-a8f5-755d-bfdc-${String(index).padStart(12, '0')}`;

export const lines = (size: number): readonly object[] =>
  Array.from({ length: size }, (_, index) => ({
    request_id: idOf(index),
    time: new Date(START - index * 700).toISOString(),
    stream: false,
    ...KINDS[index % KINDS.length],
  }));

const PLACES = { primary: 13, spare: 17 };

export const request = {
  request_id: idOf(0),
  time: '2026-11-28T18:43:59.000Z',
  ended: '2026-11-28T18:43:59.401Z',
  explain_id: 'exp1',
  state: 'complete',
  status: 200,
  duration_ms: 401,
  overhead_ms: 2,
  first_content_ms: 400,
  method: 'POST',
  path: '/v1/chat/completions',
  route: '/v1/chat/completions',
  key_id: 'search',
  team: 'search',
  config: { id: 'production', hash: '1b6c023f0bdbe515' },
  settings_hash: '04a0fcf0aa',
  metadata: { tier: 'gold', _user: 'u3' },
  cost_usd: 0.000056,
  client_ip: '127.0.0.1',
  retries: 1,
  attempts: [
    {
      target: 'config.targets[0].targets[0]',
      target_name: 'primary',
      provider: 'simulator',
      request_model: 'sim-error-503',
      why: 'first',
      started_ms: 1,
      duration_ms: 394,
      outcome: 'error',
      failure: {
        code: 'upstream_unavailable',
        type: 'upstream',
        status: 503,
        kinds: ['server'],
        upstream_kind: 'overloaded',
        upstream_message: 'Simulated error 503.',
      },
      tries: [
        { started_ms: 2, duration_ms: 5, outcome: 'error', status: 503 },
        { started_ms: 391, duration_ms: 4, waited_ms: 384, outcome: 'error', status: 503 },
      ],
    },
    {
      target: 'config.targets[0].targets[1]',
      target_name: 'spare',
      provider: 'simulator',
      request_model: 'sim-steady',
      why: 'fallback',
      started_ms: 396,
      duration_ms: 5,
      outcome: 'success',
      answered: true,
      tokens: { input: 6, output: 5 },
      cost_usd: 0.000056,
      first_content_ms: 4,
      tries: [{ started_ms: 396, duration_ms: 5, outcome: 'success', status: 200 }],
    },
  ],
  skipped: [],
  conditions: [
    {
      at: 'config',
      held: 'conditions[0]',
      to: 'config.targets[0]',
      tests: [{ field: 'metadata.tier', operator: '$eq', wanted: 'gold', found: 'gold', holds: true }],
    },
  ],
};

export const PRODUCTION = `name: Production
reply_headers: [explain_id, cost]
strategy:
  mode: conditional
  conditions:
    - query: { metadata.tier: { $eq: gold } }
      then: gold
  default: steady
targets:
  - name: gold
    strategy: { mode: fallback }
    targets:
      - name: primary
        provider: "@simulator"
        override_params: { model: sim-error-503 }
        retry: { attempts: 1 }
      - name: spare
        provider: "@simulator"
        override_params: { model: sim-steady, temperature: 0.2 }
  - name: steady
    provider: "@simulator"
    override_params: { model: sim-steady }
`;

const at = (file: string, line: number) => ({ file, line, column: 5 });

export const places = {
  config: 'production',
  hash: '04a0fcf0aa',
  places: {
    config: at('gateway/production.yaml', 1),
    'config.conditions[0]': at('gateway/production.yaml', 6),
    'config.targets[0]': at('gateway/production.yaml', 10),
    'config.targets[0].targets[0]': at('gateway/production.yaml', PLACES.primary),
    'config.targets[0].targets[1]': at('gateway/production.yaml', PLACES.spare),
    'config.targets[1]': at('gateway/production.yaml', 20),
  },
};

export const session = {
  user: 'ann',
  role: 'admin',
  content: true,
  expires_at: null,
  session: false,
  features: {
    store: true,
    owns: ['keys', 'teams', 'budgets', 'providers', 'alerts', 'prompts', 'configs'],
    seals: true,
    records: true,
    labels: ['env'],
    explain: 'all',
    sign_in: false,
  },
  version: '0.1.0',
  settings_hash: '04a0fcf0aa',
  boot_id: 'b1',
  started_at: '2026-11-28T18:00:00Z',
  time_zone: 'UTC',
  data_url: 'http://127.0.0.1:8787',
};
