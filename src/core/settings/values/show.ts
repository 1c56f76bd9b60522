import { nameOf, valueAt } from '../schema/pointer.ts';

export interface ValueOrigin {
  readonly secret: boolean;
  /** `env:NAME`, `file:path`; empty for text written in the YAML. */
  readonly sources: readonly string[];
  /** The text behind each source. */
  readonly contents: readonly string[];
  /** The reference could not be resolved: no further problem is reported for this value. */
  readonly unresolved: boolean;
}

/**
 * Shapes of keys and tokens that are pasted by mistake: keys of OpenAI, Anthropic, Google and this gateway, JWTs, PEM keys and
 * files that hold one, passwords in URLs and before a bare host. A message must not repeat them. `sk-` inside a word
 * (risk-assessment) is not one.
 */
export const SECRET_SHAPE =
  /(?<![A-Za-z0-9])sk-[\w-]{8,}|gatehouse_[a-z0-9]+_[\w-]{8,}|AIza[\w-]{20,}|ya29\.[\w.-]{8,}|eyJ[\w-]{10,}\.[\w.-]*|-----BEGIN[^]*|"private_key"\s*:[^]*|:\/\/[^/\s@]*:[^/\s@]*@|\b[\w.-]+:[^/\s@"'`]+@(?=[\w[])/;

const LONGEST_SHOWN = 40;

export const looksSecret = (text: string): boolean => SECRET_SHAPE.test(text);

/** A value for a message. A referenced value is shown as its reference; a value that may be secret is not shown. */
export function showValue(value: unknown, origin: ValueOrigin | undefined): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (origin && origin.sources.length > 0) return `the value of ${origin.sources.join(' and ')}`;
  if (origin?.secret) return typeof value === 'string' ? 'this text' : `a ${typeof value}`;
  if (typeof value === 'string' && (value.length > LONGEST_SHOWN || looksSecret(value))) return 'this text';
  return JSON.stringify(value) ?? 'nothing';
}

/** A key or other name for a message, in backticks. */
export const showName = (name: string): string => (looksSecret(name) ? 'this key' : nameOf([name]));

/** `a`, `a or b`, `a, b or c`. */
export const alternatives = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

export const eitherKey = (names: readonly string[]): string => alternatives(names.map((name) => `\`${name}\``));

const MOST_LISTED = 8;

/** Alternatives, cut off after the first few: a long list would hide the problem. */
export const shortList = (words: readonly string[]): string =>
  alternatives(words.length > MOST_LISTED ? [...words.slice(0, MOST_LISTED), '…'] : words);

/** The examples of a schema, which are clearer than its pattern. */
export function examplesOf(schema: unknown): string | undefined {
  const given = valueAt(schema, ['examples']);
  if (!Array.isArray(given) || given.length === 0) return undefined;
  return alternatives(
    given.map((example) => (typeof example === 'string' ? JSON.stringify(example) : String(example))),
  );
}

const LONGEST_EXAMPLE = 120;

/** The first fitting example of a schema, or of a branch of its union, as one line of YAML. Undefined: none short. */
export function exampleInYaml(schema: unknown, fits: (example: unknown) => boolean = () => true): string | undefined {
  const example = [schema, ...listAt(schema, 'oneOf'), ...listAt(schema, 'anyOf')]
    .flatMap((one) => listAt(one, 'examples'))
    .find(fits);
  if (example === undefined) return undefined;
  const text = flowYaml(example);
  return text.length > LONGEST_EXAMPLE ? undefined : text;
}

function listAt(schema: unknown, key: string): readonly unknown[] {
  const found = valueAt(schema, [key]);
  return Array.isArray(found) ? found : [];
}

function flowYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowYaml).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${flowYaml(key)}: ${flowYaml(inner)}`)
      .join(', ')} }`;
  // Other texts may be a number, a reference or a mapping to YAML.
  return typeof value === 'string' && /^[A-Za-z/][\w./ -]*$|^\d+(?:ms|s|m|h)$/.test(value)
    ? value
    : JSON.stringify(value);
}

/** The first sentence of a schema's description, without its full stop. */
export function firstSentenceOf(schema: unknown): string | undefined {
  const description = valueAt(schema, ['description']);
  if (typeof description !== 'string') return undefined;
  const [first = ''] = description.split(/(?<=\.)\s/);
  return first.replace(/\.$/, '');
}
