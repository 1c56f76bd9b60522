import { isObject } from '../../core/kernel/index.ts';
import { MAX_DEPTH } from './tags.ts';
import type { Template, Token, ValuePath } from './template.ts';

/** The rendered text would exceed its limit. */
export class TooLong extends Error {}

export interface RenderInput {
  readonly partials: ReadonlyMap<string, Template>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Renders templates within one budget. Tokens and characters cost units, so sections over long lists and
 * partials inside partials cannot take more time than text of the same length.
 */
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
  render({ tokens }: Pick<Template, 'tokens'>): string {
    const out: string[] = [];
    this.#tokens(tokens, [this.#variables], { out, depth: 0 });
    return out.join('');
  }

  #tokens(tokens: readonly Token[], scopes: readonly unknown[], to: Target): void {
    for (const token of tokens) {
      this.#spend(scopes.length);
      if (token.kind === 'text') this.#write(token.text, to);
      else if (token.kind === 'variable') this.#write(textOf(lookUp(scopes, token.path)), to);
      else if (token.kind === 'partial') this.#partial(token.name, scopes, to);
      else this.#section(token, scopes, to);
    }
  }

  #partial(name: string, scopes: readonly unknown[], { out, depth }: Target): void {
    const partial = this.#partials.get(name);
    // Settings with a missing or recursive partial are refused when they are loaded.
    if (partial && depth < MAX_DEPTH) this.#tokens(partial.tokens, scopes, { out, depth: depth + 1 });
  }

  #section(
    { path, inverted, inner }: Extract<Token, { kind: 'section' }>,
    scopes: readonly unknown[],
    to: Target,
  ): void {
    const value = lookUp(scopes, path);
    const isEmpty = Array.isArray(value) ? value.length === 0 : !value;
    if (inverted) {
      if (isEmpty) this.#tokens(inner, scopes, to);
      return;
    }
    if (isEmpty) return;
    for (const item of Array.isArray(value) ? value : [value]) {
      this.#spend(scopes.length);
      this.#tokens(inner, [...scopes, item], to);
    }
  }

  #write(text: string, { out }: Target): void {
    this.#spend(text.length);
    out.push(text);
  }

  #spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TooLong();
  }
}

interface Target {
  readonly out: string[];
  /** Depth of partials inside partials. */
  readonly depth: number;
}

/**
 * The innermost scope that has the first key decides. Own properties only: `constructor` and `__proto__` are keys like
 * any other.
 */
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
