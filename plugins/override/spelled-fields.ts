import { isObject, type Spellings, type KeyPath } from '../../src/core/kernel/index.ts';

/** The fields of a body, or of an object inside one. */
export interface Fields {
  has(key: string): boolean;
  value(key: string): unknown;
}

/**
 * Finds the fields of one body by paths in any spelling. It walks the fields that the body has, so its cost is bounded
 * by the body, not by the path.
 */
export class SpelledFields {
  readonly #body: Fields;
  readonly #spellings: Spellings;

  constructor(body: Fields, spellings: Spellings) {
    this.#body = body;
    this.#spellings = spellings;
  }

  /**
   * Every spelling of the path that has a value in the body. A path that ends early at a value of another type (text in
   * place of an object) is included; validation rejects it later. A null value is not included.
   */
  spellingsIn([key = '', ...inner]: KeyPath): KeyPath[] {
    return this.#inBody(key).flatMap((name) => this.#spellingsBelow(this.#body.value(name), [name], inner));
  }

  /**
   * The path in the spelling that the body uses, as far as the body has objects along it: with `generation_config`
   * present, no `generationConfig` is created.
   */
  nearest(path: KeyPath): KeyPath {
    const [key = '', ...inner] = path;
    const own = deepest(this.#inBody(key).map((name) => [name, ...this.#ownBelow(this.#body.value(name), inner)]));
    return [...own, ...path.slice(own.length)];
  }

  #spellingsBelow(value: unknown, at: KeyPath, [key, ...inner]: KeyPath): KeyPath[] {
    if (value === undefined || value === null) return [];
    if (key === undefined) return [at];
    if (!isObject(value)) return [[...at, key, ...inner]];
    return this.#inObject(value, key).flatMap((name) => this.#spellingsBelow(value[name], [...at, name], inner));
  }

  /** The keys along the path that the value has. */
  #ownBelow(value: unknown, [key, ...inner]: KeyPath): KeyPath {
    if (key === undefined || !isObject(value)) return [];
    return deepest(this.#inObject(value, key).map((name) => [name, ...this.#ownBelow(value[name], inner)]));
  }

  #inBody(key: string): readonly string[] {
    return this.#spellings.ofKey(key).filter((name) => this.#body.has(name));
  }

  #inObject(object: object, key: string): readonly string[] {
    return this.#spellings.ofKey(key).filter((name) => Object.hasOwn(object, name));
  }
}

/** The longest path; the first of several equally long ones. */
const deepest = (paths: readonly KeyPath[]): KeyPath =>
  paths.reduce<KeyPath>((best, path) => (path.length > best.length ? path : best), []);
