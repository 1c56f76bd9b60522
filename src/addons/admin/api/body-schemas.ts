import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import { CAPTURE_BODIES } from './capture-schemas.ts';
import { CONSOLE_BODIES, LABEL, VERSION } from './console-schemas.ts';
import { ROLES, SCOPES } from './roles.ts';
import { BASE, ID, list, MOMENT, object, own, REASON, text } from './schema-words.ts';

/** @param isNeeded an object without fields means nothing */
const create = (noun: string, isNeeded = false): Schema =>
  object({ id: ID, spec: own(`${noun}_spec`), reason: REASON }, isNeeded ? ['id', 'spec'] : ['id']);
// The patched document is checked, not the patch: a null removes a field.
const patch = (noun: string): Schema =>
  object(
    {
      spec: {
        description: `A merge patch of the fields of \`${noun}_spec\`.`,
        type: 'object',
        minProperties: 1,
        examples: [{}],
      },
      reason: REASON,
    },
    ['spec'],
  );

export const BODY_SCHEMAS = {
  ...CAPTURE_BODIES,
  ...CONSOLE_BODIES,
  create_organization: create('organization'),
  patch_organization: patch('organization'),
  create_team: create('team'),
  patch_team: patch('team'),
  create_key: create('key'),
  patch_key: patch('key'),
  create_budget: create('budget', true),
  patch_budget: patch('budget'),
  create_limit: create('limit', true),
  patch_limit: patch('limit'),
  create_price: create('price', true),
  patch_price: patch('price'),
  create_alert: create('alert', true),
  patch_alert: patch('alert'),
  create_provider: create('provider', true),
  patch_provider: patch('provider'),
  create_prompt: create('prompt', true),
  patch_prompt: patch('prompt'),
  release_prompt: object({ version: VERSION, reason: REASON }, ['version']),
  promote_prompt: object({ version: VERSION, label: LABEL, reason: REASON }, ['version', 'label']),
  create_config: create('config', true),
  patch_config: patch('config'),
  rotate: object(
    {
      overlap: {
        $ref: `${BASE}server.json#/definitions/duration`,
        description: 'Time for which the secret before stays valid, at most 90 days.',
        default: '24h',
        examples: ['24h'],
      },
      reason: REASON,
    },
    [],
  ),
  revoke: object(
    {
      which: text('all: every secret of the key, for ever. previous: the one before the last rotation.', {
        enum: ['all', 'previous'],
        default: 'all',
      }),
      reason: REASON,
    },
    [],
  ),
  adjust: object(
    {
      by: text('The change, in the unit of the budget. Negative: less is spent.', {
        pattern: '^-?[0-9]{1,16}(\\.[0-9]{1,9})? (USD|tokens)$',
        examples: ['-5 USD', '20000 tokens'],
      }),
      of: text('spent: what is spent. unreconciled: what processes that ended had leased and not reported.', {
        enum: ['spent', 'unreconciled'],
        default: 'spent',
      }),
      reason: { ...REASON, minLength: 1 },
    },
    ['by', 'reason'],
  ),
  create_token: object(
    {
      id: { ...ID, examples: ['ann-laptop'] },
      role: text(
        'viewer reads. operator rotates and revokes keys and adjusts budgets a little, too. admin does everything.',
        { enum: ROLES },
      ),
      expires_at: text(
        'Time from which the token is refused (RFC 3339), at most 90 days from now and at most the end of the token that creates it. Default: the earlier of the two.',
        { ...MOMENT, examples: ['2027-01-01T00:00:00Z'] },
      ),
      networks: list(
        { type: 'string', minLength: 1, maxLength: 50 },
        {
          description:
            'Networks of clients that may use the token, in CIDR notation, within those of the token that creates it. Default: the same as that token, any without one.',
          minItems: 1,
          maxItems: 64,
          examples: [['10.0.0.0/8']],
        },
      ),
      scopes: list(
        { type: 'string', enum: SCOPES },
        {
          description:
            'Resources that the token may read or write, within its role and among those of the token that creates it. Default: the same as that token.',
          minItems: 1,
          uniqueItems: true,
          examples: [['keys:write', 'usage:read']],
        },
      ),
      content: {
        description:
          'true: the token may read the texts of requests, whatever its role. Its creator has the right, or is the bootstrap token.',
        type: 'boolean',
        default: false,
        examples: [true],
      },
      reason: REASON,
    },
    ['id', 'role'],
  ),
  explain: object(
    {
      method: text('Of HTTP.', { default: 'POST' }),
      path: text('With its query.', { default: '/v1/chat/completions' }),
      headers: { description: 'The headers of the client.', type: 'object', additionalProperties: { type: 'string' } },
      body: { description: 'The body of the client: JSON, or its text. A request without a body has none.' },
      key: text('The id of the key in whose name the request is explained. Default: the key in `headers`.'),
      draws: list(
        { type: 'number', minimum: 0, exclusiveMaximum: 1 },
        { description: 'The numbers that a load balance draws, one after the other.', minItems: 1, maxItems: 64 },
      ),
      at: text('Time of the request. Default: now.', MOMENT),
      of: text(
        'What if: the explain id of a kept request, in place of `method`, `path` and `body`; `headers` are added to its own.',
        { maxLength: 64 },
      ),
      settings: {
        description:
          'What if: texts of settings files in place of those in force, such as `{"gateway/production.yaml": "…"}`. They load no module and read no variable or file that the settings in force do not.',
        type: 'object',
        additionalProperties: { type: 'string' },
        maxProperties: 16,
      },
      health: {
        description: 'What if: the health of targets by their places, such as `{"config.targets[0]": "open"}`.',
        type: 'object',
        additionalProperties: { type: 'string', enum: ['closed', 'open', 'half_open'] },
        maxProperties: 64,
      },
    },
    [],
  ),
} satisfies Readonly<Record<string, Schema>>;

export type BodyName = keyof typeof BODY_SCHEMAS;
