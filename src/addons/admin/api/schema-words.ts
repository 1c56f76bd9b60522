import type { Schema } from '../../../core/settings/schema/schema-files.ts';

// Pieces of the schemas of the admin API.

export const BASE = 'https://gatehouse.dev/schemas/';
export const OWN = `${BASE}admin.json`;

export const text = (description: string, more: object = {}): Schema => ({ description, type: 'string', ...more });
export const flag = (description: string): Schema => ({ description, type: 'boolean' });
export const number = (description: string): Schema => ({ description, type: 'number' });
export const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = Object.keys(properties),
  more: object = {},
): Schema => ({
  type: 'object',
  additionalProperties: false,
  ...(required.length > 0 && { required }),
  properties,
  ...more,
});
export const list = (items: Schema, more: object = {}): Schema => ({ type: 'array', items, ...more });
export const texts = (description: string): Schema => list({ type: 'string' }, { description });
export const own = (name: string): Schema => ({ $ref: `${OWN}#/definitions/${name}` });

export const MOMENT = { format: 'date-time' } as const;
export const moment = (description: string): Schema => text(description, MOMENT);
export const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] });
export const integer = (description: string, more: object = {}): Schema => ({ description, type: 'integer', ...more });

export const ID = text(
  'Letters, digits, `.`, `_` and `-`, at most 64 characters. An id that was deleted is not given again.',
  {
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
    examples: ['search'],
  },
);
export const REASON = text('The reason, for the audit.', { maxLength: 500, examples: ['a new team'] });
