import { isObject, type RequestBody, type Spellings, type KeyPath } from '../../src/plugin/index.ts';

/** The fields of one body, found by paths in any spelling. It walks what the body has: its cost is bounded by the body, not by the path. */
export class SpelledFields {
  readonly #body: RequestBody;
  readonly #spellings: Spellings;

  constructor(body: RequestBody, spellings: Spellings) {
    this.#body = body;
    this.#spellings = spellings;
  }

  /**
   * Every spelling of the path in which the body has a value. A value of another kind on the way (text where an object belongs) counts,
   * for the check to judge; null does not.
   */
  said([key = '', ...inner]: KeyPath): KeyPath[] {
    return this.#inBody(key).flatMap((name) => this.#saidBelow(this.#body.value(name), [name], inner));
  }

  /** The path in the spelling that the body uses, as far as it has objects on the way: beside `generation_config` no `generationConfig` is made. */
  nearest(path: KeyPath): KeyPath {
    const [key = '', ...inner] = path;
    const own = deepest(this.#inBody(key).map((name) => [name, ...this.#ownBelow(this.#body.value(name), inner)]));
    return [...own, ...path.slice(own.length)];
  }

  #saidBelow(value: unknown, at: KeyPath, [key, ...inner]: KeyPath): KeyPath[] {
    if (value === undefined || value === null) return [];
    if (key === undefined) return [at];
    if (!isObject(value)) return [[...at, key, ...inner]];
    return this.#inObject(value, key).flatMap((name) => this.#saidBelow(value[name], [...at, name], inner));
  }

  /** Keys of the path that the value has. */
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

/** The longest path, of several the first. */
const deepest = (paths: readonly KeyPath[]): KeyPath =>
  paths.reduce<KeyPath>((best, path) => (path.length > best.length ? path : best), []);
