import { isObject } from '../../../formats/json/object.ts';
import { isTextField } from '../../../core/settings/query/compared.ts';
import type { Explanation, TestExplanation } from './explanation.ts';

/** Fields of bodies whose values are words of the APIs, or names that the settings know. All other texts are content. */
const SHOWN: ReadonlySet<string> = new Set([
  'model',
  'role',
  'type',
  'object',
  'service_tier',
  'reasoning_effort',
  'effort',
  'anthropic_version',
  'mimeType',
  'mime_type',
  'media_type',
  'response_format',
  'encoding_format',
  'quality',
  'size',
  'voice',
  'mode',
]);
/** A compared value that is longer may be a text of the request. */
const LONGEST_FOUND = 128;
const MOST_LEVELS = 64;

/** Its length says how much the reader would see. */
const hidden = (text: string): string => `[text, ${text.length} characters]`;

const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/** @param name of the field that has the value */
export function hide(value: unknown, name = '', level = 0): unknown {
  if (typeof value === 'string') return SHOWN.has(name) && value.length <= LONGEST_FOUND ? value : hidden(value);
  if (level > MOST_LEVELS) return hidden('');
  if (Array.isArray(value)) return value.map((item) => hide(item, name, level + 1));
  if (!isObject(value)) return value;
  // Numbers of many digits are objects that write themselves.
  if ('toJSON' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner, key, level + 1)]));
}

/** A JSON text, which may be cut. */
function hideJson(text: string | undefined, path: string): string | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.stringify(hide(JSON.parse(text), lastName(path)));
  } catch {
    return hidden(text);
  }
}

const withFound = (test: TestExplanation): TestExplanation => ({
  ...test,
  ...(typeof test.found === 'string' &&
    (test.found.length > LONGEST_FOUND || isTextField(test.field)) && { found: hidden(test.found) }),
  ...(test.inner && { inner: test.inner.map(withFound) }),
});

/** The explanation without the texts of its request. Which fields there are, their sizes and their sources stay. */
export function withoutTexts(explanation: Explanation): Explanation {
  const { prompt, rules, targets } = explanation;
  return {
    ...explanation,
    ...(prompt && {
      prompt: { ...prompt, messages: prompt.messages.map((one) => ({ ...one, content: hide(one.content) })) },
    }),
    rules: rules.map((rule) => ({
      ...rule,
      conditions: rule.conditions.map((one) => ({ ...one, tests: one.tests.map(withFound) })),
    })),
    targets: targets.map((target) => ({
      ...target,
      body: hide(target.body),
      changes: target.changes.map((change) => ({
        ...change,
        ...('value' in change && { value: hide(change.value, lastName(change.path)) }),
        ...('was' in change && { was: hide(change.was, lastName(change.path)) }),
      })),
      ...(target.cache && { cache: { ...target.cache, parts: hide(target.cache.parts) as Record<string, unknown> } }),
      ...(target.outbound && {
        outbound: {
          ...target.outbound,
          body: hide(target.outbound.body),
          diff: target.outbound.diff.map((one) => ({
            ...one,
            ...(one.received !== undefined && { received: hideJson(one.received, one.path)! }),
            ...(one.sent !== undefined && { sent: hideJson(one.sent, one.path)! }),
          })),
        },
      }),
    })),
  };
}
