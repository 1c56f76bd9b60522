/** Lines of server.yaml that turn a feature on. */
export const FEATURES = {
  store: 'state:\n  store: { type: sqlite, dir: state }',
  records: 'state:\n  store: { type: sqlite, dir: state }\n  records: { days: 7 }',
  explain: 'admin:\n  explain: all',
  content: 'admin:\n  content: true',
} as const;
