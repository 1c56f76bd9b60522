import type { OperationId } from '../../src/admin/api/routes.ts';

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
  'budgets.adjust': { path: '/budgets/team:search:month:usd:adjust', body: { by: '-1 USD', reason: 'a refund' } },
  'usage.list': { path: '/usage?by=team' },
  'ledger.list': { path: '/ledger' },
  'audit.list': { path: '/audit' },
  'audit.verify': { path: '/audit:verify' },
  'tokens.list': { path: '/tokens' },
  'tokens.get': { path: '/tokens/ID' },
  'tokens.create': { path: '/tokens', body: { id: 'NEW', role: 'viewer' } },
  'tokens.delete': { path: '/tokens/ID' },
  'whoami.get': { path: '/whoami' },
  'openapi.get': { path: '/openapi.json' },
};

/** What `POST` creates under an id. @param node without a budget and limits yet */
export const sampleOf = (kind: string, id: string, node: string): object => {
  if (kind === 'tokens') return { id, role: 'viewer' };
  if (kind === 'budgets') return { id, spec: { node, cap: '10 USD', period: 'day' } };
  return { id, spec: kind === 'limits' ? { node, concurrency: 5 } : {} };
};

export const CREATED_KINDS = ['organizations', 'teams', 'keys', 'budgets', 'limits', 'tokens'];
