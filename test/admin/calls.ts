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
  'budgets.get': { path: '/budgets/team:search:month:usd' },
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
