/** Names of the schemas of the admin API; `schemas.ts` has the schemas, which the commands do not load. */
export const BODIES = [
  'create_organization',
  'patch_organization',
  'create_team',
  'patch_team',
  'create_key',
  'patch_key',
  'create_budget',
  'patch_budget',
  'create_limit',
  'patch_limit',
  'create_price',
  'patch_price',
  'create_alert',
  'patch_alert',
  'rotate',
  'revoke',
  'adjust',
  'create_token',
] as const;
export type BodyName = (typeof BODIES)[number];

export const ANSWERS = [
  'organization',
  'team',
  'key',
  'created_key',
  'budget',
  'limit',
  'price',
  'alert',
  'usage_row',
  'ledger_row',
  'audit_row',
  'audit_verdict',
  'token',
  'created_token',
  'identity',
  'document',
] as const;
export type AnswerName = (typeof ANSWERS)[number];
