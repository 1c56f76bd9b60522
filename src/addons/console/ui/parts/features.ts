/** Lines of server.yaml that turn a feature on. */
export const FEATURES = {
  store: 'state:\n  store: { type: sqlite, dir: /var/lib/gatehouse/state }',
  records: 'state:\n  store: { type: sqlite, dir: /var/lib/gatehouse/state }\n  records: { days: 7 }',
  explain: 'admin:\n  explain: all',
  plugins: 'telemetry:\n  metrics: { plugins: all }',
  webhooks:
    'alerts:\n  webhooks:\n    - id: ops\n      url: ${env:OPS_WEBHOOK_URL}\n      secret: ${env:OPS_WEBHOOK_SECRET}',
  'prefix hashes': 'telemetry:\n  prefix_hashes: true',
} as const;
