import type { Guard } from '../../../../schemas/types.generated.ts';
import { isObject } from '../../../core/kernel/index.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** Takes the place of one of Portkey's checks; a text says why nothing does. */
export type Equivalent = Pick<Guard, 'check' | 'action' | 'options'> | string;

const text = (options: object): Equivalent => ({ check: 'text', options: { ...options } });

const listOf = (value: unknown): readonly string[] => [value].flat().map(String);

const range = (min: unknown, max: unknown): object => ({
  ...(typeof min === 'number' && { min }),
  // Portkey's own maximum stands for none.
  ...(typeof max === 'number' && max < 99_999 && { max }),
});

/** Portkey's checks that need no service of another vendor, by their ids without `default.`. */
export const PORTKEY_CHECKS: Readonly<Partial<Record<string, (parameters: Parameters) => Equivalent>>> = {
  contains: ({ words, operator = 'any' }) => text({ contains: listOf(words), operator }),
  regexMatch: ({ rule, not }) => text(not === true ? { not_pattern: String(rule) } : { pattern: String(rule) }),
  regexReplace: ({ rule, redactText = '[REDACTED]' }) => ({
    check: 'regex',
    action: 'mask',
    options: { pattern: String(rule), mask: String(redactText) },
  }),
  jsonSchema: ({ schema }) => ({ check: 'json_schema', options: { schema: isObject(schema) ? schema : {} } }),
  jsonKeys: ({ keys, operator = 'all' }) =>
    operator === 'all' ? text({ json_keys: listOf(keys) }) : 'its `operator` has to be `all`',
  wordCount: ({ minWords, maxWords }) => text({ words: range(minWords, maxWords) }),
  sentenceCount: ({ minSentences, maxSentences }) => text({ sentences: range(minSentences, maxSentences) }),
  characterCount: ({ minCharacters, maxCharacters }) => text({ characters: range(minCharacters, maxCharacters) }),
  containsCode: ({ not }) =>
    not === true ? text({ code: false }) : 'it asks for code in one language: write `check: text` with a `pattern`',
  alluppercase: () => text({ letters: 'upper' }),
  alllowercase: () => text({ letters: 'lower' }),
  endsWith: ({ suffix }) => text({ ends_with: String(suffix) }),
  notNull: () => text({ empty: false }),
  modelWhitelist: ({ Models, inverse }) => ({
    check: 'models',
    options: inverse === true ? { deny: [...listOf(Models)] } : { allow: [...listOf(Models)] },
  }),
  requiredMetadataKeys: ({ metadataKeys, operator = 'all' }) =>
    operator === 'all'
      ? { check: 'metadata', options: { required: [...listOf(metadataKeys)] } }
      : 'its `operator` has to be `all`',
  allowedRequestTypes: () => 'write `endpoints` of the key, or `only: { operations: [...] }` of a guard',
  jwt: ({ jwksUri, headerKey = 'Authorization', algorithms, clockTolerance = 5 }) => ({
    check: 'jwt',
    options: {
      header: String(headerKey),
      jwks_url: String(jwksUri),
      leeway_ms: Number(clockTolerance) * 1000,
      ...(algorithms !== undefined && { algorithms: [...listOf(algorithms)] }),
    },
  }),
  webhook: () => 'the webhook of a guard has another contract: write `check: webhook` (docs/plugins/guards.md)',
  validUrls: () => 'it calls each address: write `check: webhook`, and call them there',
  addPrefix: () => 'write the plugin `inject-prompt`',
};
