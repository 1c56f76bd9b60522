import type { Guard } from '../../../../schemas/types.generated.ts';

export type CheckName = Guard['check'];

/** A check as settings see it. Its code is loaded only where a guard names it. */
export interface CheckFacts {
  readonly options: object;
  readonly masks: boolean;
  /** It reads no text, and only requests. */
  readonly ofRequest?: true;
  readonly action?: Guard['action'];
}

const closed = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

const listOf = (items: object, maxItems: number): object => ({ type: 'array', items, minItems: 1, maxItems });

const MASK = { type: 'string', maxLength: 200, description: 'The text in place of a match.' };

const PATTERN = { type: 'string', minLength: 1, maxLength: 1000 };

const RANGE = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    min: { type: 'integer', minimum: 0, description: 'At least.' },
    max: { type: 'integer', minimum: 0, description: 'At most.' },
  },
};

export const PII_KINDS = ['email', 'phone', 'card', 'iban', 'ssn', 'ip', 'secret'] as const;

/** Those with a public key: a secret that both sides have would stand in the settings of both. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

export const CHECKS: Readonly<Record<CheckName, CheckFacts>> = {
  regex: {
    masks: true,
    options: closed(
      {
        pattern: { ...PATTERN, description: 'Regular expression (RE2).' },
        mask: { ...MASK, default: '[REDACTED]' },
        longest: {
          type: 'integer',
          minimum: 1,
          maximum: 65_536,
          description:
            'The most characters of a match, for a pattern without a bound. Matches that would be longer are not found beyond it in a stream. Default: as the pattern says.',
        },
      },
      ['pattern'],
    ),
  },
  words: {
    masks: true,
    options: closed(
      {
        words: {
          ...listOf({ type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' }, 1000),
          description: 'Words and phrases, found as whole words in any case.',
        },
        mask: { ...MASK, default: '[REDACTED]' },
      },
      ['words'],
    ),
  },
  pii: {
    masks: true,
    options: closed({
      kinds: {
        ...listOf({ type: 'string', enum: PII_KINDS }, PII_KINDS.length),
        uniqueItems: true,
        default: ['email', 'phone', 'card', 'iban', 'ssn', 'ip'],
        description: 'What is found. A match becomes its kind: `[EMAIL]`.',
      },
      countries: {
        ...listOf({ type: 'string', pattern: '^[A-Z]{2}$' }, 20),
        uniqueItems: true,
        description: 'Countries (ISO 3166) whose phones are found as people there write them, without `+`.',
      },
    }),
  },
  secrets: { masks: true, options: closed({}) },
  injection: { masks: false, action: 'observe', options: closed({}) },
  json_schema: {
    masks: false,
    options: closed(
      {
        schema: { type: 'object', description: 'JSON Schema (draft-07) that the whole text, as JSON, must fit.' },
      },
      ['schema'],
    ),
  },
  text: {
    masks: false,
    options: closed({
      contains: { ...listOf({ type: 'string', minLength: 1 }, 1000), description: 'Parts of the text, in any case.' },
      operator: {
        type: 'string',
        enum: ['any', 'all', 'none'],
        default: 'any',
        description: 'How many of `contains`.',
      },
      pattern: { ...PATTERN, description: 'Regular expression (RE2) that is found.' },
      not_pattern: { ...PATTERN, description: 'Regular expression (RE2) that is not found.' },
      words: { ...RANGE, description: 'The number of words.' },
      sentences: { ...RANGE, description: 'The number of sentences.' },
      characters: { ...RANGE, description: 'The number of characters.' },
      ends_with: { type: 'string', minLength: 1, description: 'The end of the text, without white space.' },
      letters: { type: 'string', enum: ['upper', 'lower'], description: 'The case of all letters.' },
      json_keys: { ...listOf({ type: 'string' }, 100), description: 'Keys of the text, which is a JSON object.' },
      code: { const: false, description: 'No program is in the text.' },
      empty: { const: false, description: 'The text is more than white space.' },
    }),
  },
  models: {
    masks: false,
    ofRequest: true,
    options: closed({
      allow: {
        ...listOf({ type: 'string', minLength: 1 }, 200),
        description: 'The only models that requests may name; `*` stands for any text.',
      },
      deny: { ...listOf({ type: 'string', minLength: 1 }, 200), description: 'Models that requests may not name.' },
    }),
  },
  metadata: {
    masks: false,
    ofRequest: true,
    options: closed({
      required: { ...listOf({ type: 'string', minLength: 1 }, 50), description: 'Keys that a request must have.' },
      allowed: {
        type: 'object',
        description: 'The allowed values of a key, where a request has it.',
        additionalProperties: listOf({ type: 'string' }, 200),
      },
    }),
  },
  jwt: {
    masks: false,
    ofRequest: true,
    options: closed({
      header: {
        type: 'string',
        minLength: 1,
        maxLength: 100,
        default: 'authorization',
        description: 'The header with the token, with or without `Bearer`.',
      },
      jwks_url: {
        type: 'string',
        minLength: 1,
        description: 'The address of the keys (JWKS) of the issuer, https unless `allow_insecure` is set.',
      },
      jwks: {
        type: 'object',
        required: ['keys'],
        properties: { keys: { type: 'array', items: { type: 'object' } } },
        description: 'The keys themselves, in place of `jwks_url`.',
      },
      issuer: { type: 'string', minLength: 1, description: 'The value of `iss`.' },
      audience: { type: 'string', minLength: 1, description: 'A value of `aud`.' },
      algorithms: {
        ...listOf({ type: 'string', enum: ALGORITHMS }, ALGORITHMS.length),
        default: ALGORITHMS,
        description: 'The algorithms of signatures.',
      },
      claims: {
        type: 'object',
        description: 'Claims that the token must have, each with its allowed values.',
        additionalProperties: listOf({ type: 'string' }, 200),
      },
      leeway_ms: {
        type: 'integer',
        minimum: 0,
        maximum: 600_000,
        default: 5000,
        description: 'Milliseconds by which clocks may differ.',
      },
      timeout_ms: {
        type: 'integer',
        minimum: 10,
        maximum: 60_000,
        default: 2000,
        description: 'Milliseconds for the keys.',
      },
      allow_insecure: { type: 'boolean', default: false, description: 'Allows http and the own network.' },
    }),
  },
  webhook: {
    masks: true,
    options: closed(
      {
        url: { type: 'string', minLength: 1, description: 'The address, https unless `allow_insecure` is set.' },
        secret: {
          type: 'string',
          minLength: 1,
          'x-secret': true,
          description: 'The key of the signatures: `whsec_` and the base64 of 24 to 64 random bytes.',
        },
        timeout_ms: { type: 'integer', minimum: 10, maximum: 60_000, default: 2000, description: 'Milliseconds.' },
        connections: { type: 'integer', minimum: 1, maximum: 256, default: 32, description: 'Calls at a time.' },
        allow_insecure: { type: 'boolean', default: false, description: 'Allows http and the own network.' },
      },
      ['url', 'secret'],
    ),
  },
};

export const actionOf = ({ action, check }: Guard): NonNullable<Guard['action']> =>
  action ?? CHECKS[check].action ?? 'deny';
