import { isObject } from '../../core/kernel/index.ts';
import { MAX_DEPTH } from './tags.ts';
import type { SectionToken, Template, Token, ValuePath } from './template.ts';

/** The rendered text would exceed its limit. */
export class TooLong extends Error {}

interface RenderInput {
  readonly partials: ReadonlyMap<string, Template>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Tokens and characters cost units of one budget, so that lists and nested partials take no more time than text. */
export class Renderer {
  readonly #partials: ReadonlyMap<string, Template>;
  readonly #variables: Readonly<Record<string, unknown>>;
  #left: number;

  constructor({ partials, variables }: RenderInput, budget: number) {
    this.#partials = partials;
    this.#variables = variables;
    this.#left = budget;
  }

  /** Throws TooLong. */
  readonly render = ({ tokens }: Pick<Template, 'tokens'>): string => this.#tokens(tokens, [this.#variables], 0);

  /** @param depth of partials inside partials */
  readonly #tokens = (tokens: readonly Token[], scopes: readonly unknown[], depth: number): string =>
    tokens.map((token) => this.#token(token, scopes, depth)).join('');

  #token(token: Token, scopes: readonly unknown[], depth: number): string {
    this.#spend(scopes.length);
    if (token.kind === 'text') return this.#write(token.text);
    if (token.kind === 'variable') return this.#write(textOf(lookUp(scopes, token.path)));
    if (token.kind === 'section') return this.#section(token, scopes, depth);
    const partial = this.#partials.get(token.name);
    // Settings with a missing or recursive partial are refused when they are loaded.
    return partial && depth < MAX_DEPTH ? this.#tokens(partial.tokens, scopes, depth + 1) : '';
  }

  #section({ path, inverted, inner }: SectionToken, scopes: readonly unknown[], depth: number): string {
    const value = lookUp(scopes, path);
    const items: readonly unknown[] = Array.isArray(value) ? value : value ? [value] : [];
    if (inverted) return items.length === 0 ? this.#tokens(inner, scopes, depth) : '';
    const texts = items.map((item) => {
      this.#spend(scopes.length);
      return this.#tokens(inner, [...scopes, item], depth);
    });
    return texts.join('');
  }

  #write(text: string): string {
    this.#spend(text.length);
    return text;
  }

  #spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TooLong();
  }
}

/** The innermost scope that has the first key decides. Own properties only: `constructor` is a key like any. */
function lookUp(scopes: readonly unknown[], [first, ...rest]: ValuePath): unknown {
  if (first === undefined) return scopes.at(-1);
  const scope = scopes.findLast((one) => isObject(one) && Object.hasOwn(one, first));
  return [first, ...rest].reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    scope,
  );
}

/** Objects and lists are inserted as JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  // Values are JSON: numbers and booleans have the same text there.
  return JSON.stringify(value);
}
