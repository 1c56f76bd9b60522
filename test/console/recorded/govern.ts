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
