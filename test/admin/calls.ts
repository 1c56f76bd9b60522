import { OPERATIONS, type OperationId } from '../../src/addons/admin/api/routes.ts';
import type { AdminGateway, Answer } from './kit.ts';

/** One valid call of each operation. `ID` is the id of an object that the test has created. */
export interface SampleCall {
  readonly path: string;
  readonly body?: object;
}

const OBJECTS = ['organizations', 'teams', 'keys'] as const;

const ofObjects = Object.fromEntries(
  OBJECTS.flatMap((kind) => [
    [`${kind}.list`, { path: `/${kind}` }],
    [`${kind}.get`, { path: `/${kind}/ID` }],
    [`${kind}.create`, { path: `/${kind}`, body: { id: 'NEW', spec: {} } }],
    [`${kind}.patch`, { path: `/${kind}/ID`, body: { spec: { metadata: { cost_center: '4711' } } } }],
    [`${kind}.delete`, { path: `/${kind}/ID` }],
  ]),
) as Record<`${(typeof OBJECTS)[number]}.${'list' | 'get' | 'create' | 'patch' | 'delete'}`, SampleCall>;

const WEBHOOK = {
  url: 'https://alerts.example/canary-path',
  secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  kinds: ['budget'],
};

const VERSION = { model: '@sim/m', text: 'Summarise: {{ticket}}', variables: { ticket: {} } };
const PROMPT = { versions: { 1: VERSION, 2: VERSION } };

export const CALLS: Readonly<Record<OperationId, SampleCall>> = {
  ...ofObjects,
  'keys.rotate': { path: '/keys/ID:rotate', body: { overlap: '1h' } },
  'keys.revoke': { path: '/keys/ID:revoke', body: { which: 'previous' } },
  'budgets.list': { path: '/budgets' },
  'budgets.get': { path: '/budgets/ID' },
  'budgets.create': {
    path: '/budgets',
    body: { id: 'NEW', spec: { node: 'team:search', cap: '1 USD', period: 'day' } },
  },
  'budgets.patch': { path: '/budgets/ID', body: { spec: { cap: '20 USD' } } },
  'budgets.delete': { path: '/budgets/ID' },
  'limits.list': { path: '/limits' },
  'limits.get': { path: '/limits/ID' },
  'limits.create': { path: '/limits', body: { id: 'NEW', spec: { node: 'organization:acme', requests: '600/min' } } },
  'limits.patch': { path: '/limits/ID', body: { spec: { requests: '60/min' } } },
  'limits.delete': { path: '/limits/ID' },
  'prices.list': { path: '/prices' },
  'prices.get': { path: '/prices/ID' },
  'prices.create': { path: '/prices', body: { id: 'NEW', spec: { model: 'm', usd: { input: 1, output: 2 } } } },
  'prices.patch': { path: '/prices/ID', body: { spec: { factor: 0.5 } } },
  'prices.delete': { path: '/prices/ID' },
  'alerts.list': { path: '/alerts' },
  'alerts.get': { path: '/alerts/ID' },
  'alerts.create': { path: '/alerts', body: { id: 'NEW', spec: WEBHOOK } },
  'alerts.patch': { path: '/alerts/ID', body: { spec: { kinds: ['anomaly'] } } },
  'alerts.delete': { path: '/alerts/ID' },
  'budgets.adjust': { path: '/budgets/team:search:month:usd:adjust', body: { by: '-1 USD', reason: 'a refund' } },
  'usage.list': { path: '/usage?by=team' },
  'ledger.list': { path: '/ledger' },
  'audit.list': { path: '/audit' },
  'audit.verify': { path: '/audit:verify' },
  'tokens.list': { path: '/tokens' },
  'tokens.get': { path: '/tokens/ID' },
  'tokens.create': { path: '/tokens', body: { id: 'NEW', role: 'viewer' } },
  'tokens.delete': { path: '/tokens/ID' },
  'requests.list': { path: '/requests?state=complete&label.app=search' },
  'requests.get': { path: '/requests/served' },
  'requests.costs': { path: '/requests/served/costs' },
  'requests.explain': { path: '/explain', body: { key: 'test', body: { model: '@sim/m', messages: [] } } },
  'requests.explained': { path: '/explain/EXPLAIN_ID' },
  'requests.test': { path: '/requests/served/test' },
  'requests.curl': { path: '/requests/served/curl' },
  'captures.list': { path: '/captures' },
  'captures.get': { path: '/captures/ID' },
  'captures.start': { path: '/captures', body: { where: { key: 'test' }, requests: 1, minutes: 1 } },
  'captures.delete': { path: '/captures/ID' },
  'session.get': { path: '/session' },
  'session.create': { path: '/session', body: { token: 'TOKEN' } },
  'session.delete': { path: '/session' },
  'settings.get': { path: '/settings' },
  'settings.file': { path: '/settings/file?path=gateway/default.yaml' },
  'settings.places': { path: '/settings/places?config=default' },
  'settings.names': { path: '/settings/names' },
  'settings.history': { path: '/settings/history' },
  'settings.validate': {
    path: '/settings/validate',
    body: { files: { 'gateway/default.yaml': 'provider: "@sim"\n' } },
  },
  'settings.patch': { path: '/settings/patch', body: { files: { 'gateway/default.yaml': 'provider: "@sim"\n' } } },
  'schemas.get': { path: '/schemas/gateway' },
  'configs.list': { path: '/configs' },
  'configs.get': { path: '/configs/ID' },
  'configs.create': { path: '/configs', body: { id: 'NEW', spec: { text: 'provider: "@sim"\n' } } },
  'configs.patch': { path: '/configs/ID', body: { spec: { text: 'provider: "@sim"\n' } } },
  'configs.delete': { path: '/configs/ID' },
  'settings.effect': {
    path: '/settings/effect',
    body: { files: { 'gateway/default.yaml': 'provider: "@sim"\n' }, last: 5 },
  },
  'settings.tests': { path: '/settings/tests', body: { files: { 'gateway/default.yaml': 'provider: "@sim"\n' } } },
  'find.list': { path: '/find?q=test' },
  'stream.get': { path: '/stream' },
  'stats.get': { path: '/stats?by=key' },
  'providers.list': { path: '/providers' },
  'providers.kinds': { path: '/providers/kinds' },
  'providers.get': { path: '/providers/sim' },
  'providers.create': { path: '/providers', body: { id: 'NEW', spec: { provider: 'simulator' } } },
  'providers.patch': { path: '/providers/ID', body: { spec: { models: ['m'] } } },
  'providers.delete': { path: '/providers/ID' },
  'providers.test': { path: '/providers:test', body: { slug: 'sim' } },
  'providers.draft': {
    path: '/providers:draft',
    body: { id: 'NEW', spec: { provider: 'openai', api_key: '${env:K}' } },
  },
  'keys.draft': { path: '/keys:draft', body: { id: 'NEW', spec: { team: 'search' } } },
  'prices.draft': { path: '/prices:draft', body: { id: 'NEW', spec: { model: 'm', usd: { input: 1 } } } },
  'prompt-cache.get': { path: '/prompt-cache?key=test' },
  'playground.create': { path: '/playground', body: { as: 'test', body: { model: '@sim/m', messages: [] } } },
  'prompts.list': { path: '/prompts' },
  'prompts.get': { path: '/prompts/ID' },
  'prompts.create': { path: '/prompts', body: { id: 'NEW', spec: PROMPT } },
  'prompts.patch': { path: '/prompts/ID', body: { spec: { description: 'Summarises.' } } },
  'prompts.delete': { path: '/prompts/ID' },
  'prompts.release': { path: '/prompts/ID:release', body: { version: 1 } },
  'prompts.promote': { path: '/prompts/ID:promote', body: { version: 2, label: 'production' } },
  'prompts.render': {
    path: '/prompts/ID:render',
    body: { draft: { text: 'Hello {{name}}', variables: { name: {} } }, variables: { name: 'Ann' } },
  },
  'prompts.run': {
    path: '/prompts/ID:run',
    body: { as: 'test', versions: [{ draft: { text: 'Hello', model: '@sim/m' } }], cases: [{}] },
  },
  'prompts.draft': { path: '/prompts:draft', body: { id: 'NEW', spec: PROMPT } },
  'alerts.fired': { path: '/alerts/fired' },
  'alerts.test': { path: '/alerts/ID:test' },
  'plugins.list': { path: '/plugins' },
  'people.list': { path: '/people' },
  'whoami.get': { path: '/whoami' },
  'replicas.list': { path: '/replicas' },
  'openapi.get': { path: '/openapi.json' },
};

export const BUILT = OPERATIONS;

/** What `POST` creates under an id. @param node without a budget and limits yet */
export const sampleOf = (kind: string, id: string, node: string): object => {
  if (kind === 'tokens') return { id, role: 'viewer' };
  if (kind === 'prices') return { id, spec: { model: 'm', usd: { input: 1, output: 2 } } };
  if (kind === 'alerts') return { id, spec: WEBHOOK };
  if (kind === 'prompts') return { id, spec: PROMPT };
  if (kind === 'providers') return { id, spec: { provider: 'simulator' } };
  if (kind === 'configs') return { id, spec: { text: '{}\n' } };
  if (kind === 'budgets') return { id, spec: { node, cap: '10 USD', period: 'day' } };
  return { id, spec: kind === 'limits' ? { node, concurrency: 5 } : {} };
};

/** Releases version 2 of a prompt of `sampleOf`, which a label may name: version 1 is a draft. */
export const releasePrompt = (admin: AdminGateway, token: string, id: string): Promise<Answer> =>
  admin.ask('POST', `/prompts/${id}:release`, { token, body: { version: 2 }, headers: { 'if-match': '*' } });

export const CREATED_KINDS = [
  'organizations',
  'teams',
  'keys',
  'budgets',
  'limits',
  'prices',
  'alerts',
  'providers',
  'prompts',
  'configs',
  'tokens',
];
