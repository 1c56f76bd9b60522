/** The subjects of alerts; the schema of server.yaml has the same words. */
export const ALERT_KINDS = [
  'budget',
  'exhausted',
  'anomaly',
  'unknown_price',
  'lost_lease',
  'key_expiry',
  'backup_failure',
  'rolled_back',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];
