import type { GatewayFile, Guard } from '../../../../schemas/types.generated.ts';
import { isObject } from '../../../core/kernel/index.ts';
import { within } from '../../../core/settings/checks/check.ts';
import type { Report } from '../../../core/kernel/report.ts';

/** Portkey's keys for guards, and what each is of. */
export const PORTKEY_KEYS = {
  input_guardrails: 'input',
  before_request_hooks: 'input',
  output_guardrails: 'output',
  after_request_hooks: 'output',
} as const;

type CheckGuard = (guard: Guard, report: Report) => void;

/** The guards of a config or a target, also those in Portkey's words. */
export function guardsIn(
  file: Pick<GatewayFile, 'guards'>,
  report: Report = () => {},
  check?: CheckGuard,
): readonly Guard[] {
  const theirs = Object.entries(PORTKEY_KEYS).flatMap(([key, on]) => {
    // The types have our keys alone.
    const hooks: unknown = Reflect.get(file, key);
    return (Array.isArray(hooks) ? (hooks as unknown[]) : []).flatMap((hook, index) =>
      guardsOf(hook, { on, name: `${key}-${index + 1}`, report: within(report, key, index), check }),
    );
  });
  return [...(file.guards ?? []), ...theirs];
}

interface Setup {
  readonly on: 'input' | 'output';
  readonly name: string;
  readonly report: Report;
  readonly check: CheckGuard | undefined;
}

const FACTS: ReadonlySet<string> = new Set(
  'id name type deny async sequential on_fail on_success checks check status is_enabled'.split(' '),
);

/** `{ "default.contains": { … }, deny: true }`, `{ checks: [{ id, parameters }], deny: true }`, or one of them as `check`. */
function guardsOf(hook: unknown, { on, name, report, check: checkGuard }: Setup): readonly Guard[] {
  if (!isObject(hook)) return miss(report, 'an id of a guardrail that Portkey keeps: write its checks');
  const { id, deny, checks, check } = hook;
  const listed = [...(Array.isArray(checks) ? (checks as unknown[]) : []), ...(check === undefined ? [] : [check])];
  const short = Object.entries(hook)
    .filter(([key]) => !FACTS.has(key))
    .map(([key, parameters]) => ({ id: key, parameters }));
  const all = [...listed, ...short];
  if (all.length === 0)
    return miss(report, 'there are no checks: write `checks: [{ id: default.contains, parameters }]`');
  const action = deny === true ? 'deny' : 'observe';
  return all.flatMap((one, index): readonly Guard[] => {
    const found = equivalentOf(one);
    if (typeof found === 'string') return miss(report, found);
    const own = typeof id === 'string' && NAME.test(id) ? id : name;
    const last = on === 'input' && found.check !== 'models' && found.check !== 'metadata' && found.check !== 'jwt';
    const guard: Guard = {
      name: all.length === 1 ? own : `${own}-${index + 1}`,
      on: [on],
      action,
      // Portkey reads texts alone, and of a request the last one.
      on_unseen: 'allow',
      ...(last && { only: { last: true, kinds: ['text', 'tool_result'] } }),
      ...found,
    };
    checkGuard?.(guard, report);
    return [guard];
  });
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$/;

function equivalentOf(check: unknown): ReturnType<NonNullable<(typeof PORTKEY_CHECKS)[string]>> {
  const { id, parameters } = isObject(check) ? check : {};
  if (typeof id !== 'string') return 'a check has no `id`';
  const translate =
    id.startsWith('default.') || !id.includes('.') ? PORTKEY_CHECKS[id.replace(/^default\./, '')] : undefined;
  if (!translate) return `there is no check for Portkey's \`${id}\`: write \`check: webhook\` of a guard`;
  const found = translate(isObject(parameters) ? parameters : {});
  return typeof found === 'string' ? `Portkey's \`${id}\` has no equivalent: ${found}` : found;
}

function miss(report: Report, message: string): readonly Guard[] {
  report({ path: [], message });
  return [];
}

type Parameters = Readonly<Record<string, unknown>>;

/** Takes the place of one of Portkey's checks; a text says why nothing does. */
type Equivalent = Pick<Guard, 'check' | 'action' | 'options'> | string;

const text = (options: object): Equivalent => ({ check: 'text', options: { ...options } });

const listOf = (value: unknown): readonly string[] => [value].flat().map(String);

const range = (min: unknown, max: unknown): object => ({
  ...(typeof min === 'number' && { min }),
  // Portkey's own maximum stands for none.
  ...(typeof max === 'number' && max < 99_999 && { max }),
});

/** Portkey's checks that need no service of another vendor, by their ids without `default.`. */
const PORTKEY_CHECKS: Readonly<Partial<Record<string, (parameters: Parameters) => Equivalent>>> = {
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
