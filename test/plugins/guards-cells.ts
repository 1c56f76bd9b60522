import { TARGETS } from './client-apis.ts';

/** The cells of the table in docs/plugins/guards-table.md: guard × client API × form × upstream × action. */

export const ACTIONS = ['deny', 'mask', 'observe'] as const;
export type Action = (typeof ACTIONS)[number];

export const CHECKS = [
  'regex',
  'words',
  'pii',
  'secrets',
  'injection',
  'json_schema',
  'text',
  'webhook',
  'models',
  'metadata',
  'jwt',
] as const;
export type CheckName = (typeof CHECKS)[number];

export const APIS = ['chat', 'messages', 'responses', 'gemini'] as const;
export const FORMS = [
  'plain',
  'SSE',
  'JSON array',
  'WebSocket',
  'plain, cached',
  'SSE, cached',
  'JSON array, cached',
] as const;

export interface Door {
  readonly api: (typeof APIS)[number];
  readonly form: (typeof FORMS)[number];
  readonly target: (typeof TARGETS)[number];
}

export interface Rule {
  readonly check: CheckName;
  readonly on: 'input' | 'output';
  readonly action: Action;
}

/** Why there is no such door. */
export function noDoor({ api, form }: Pick<Door, 'api' | 'form'>): string | undefined {
  if (form.startsWith('JSON array') && api !== 'gemini') return 'only Gemini streams a JSON array';
  return form === 'WebSocket' && api !== 'responses' ? 'only Responses has a WebSocket' : undefined;
}

/** Checks that read no text. */
export const OF_REQUESTS: readonly CheckName[] = ['models', 'metadata', 'jwt'];

/** Why the settings refuse such a guard. */
export function noRule({ check, on, action }: Rule): string | undefined {
  const ofRequest = OF_REQUESTS.includes(check);
  if (ofRequest && on === 'output') return 'reads requests';
  const masks = !ofRequest && !['injection', 'json_schema', 'text'].includes(check);
  return action === 'mask' && !masks ? 'replaces no text' : undefined;
}

export const doors: readonly Door[] = APIS.flatMap((api) =>
  FORMS.flatMap((form) => TARGETS.map((target) => ({ api, form, target }))),
).filter((door) => noDoor(door) === undefined);

export const rules: readonly Rule[] = CHECKS.flatMap((check) =>
  (['input', 'output'] as const).flatMap((on) => ACTIONS.map((action) => ({ check, on, action }))),
).filter((rule) => noRule(rule) === undefined);

export const cellOf = ({ api, form, target }: Door, { check, on, action }: Rule): string =>
  [api, form, target, check, on, action].join(' | ');

export const cells: readonly string[] = doors.flatMap((door) => rules.map((rule) => cellOf(door, rule)));
