import { isObject } from '../../formats/json/object.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';
import { YamlFile } from '../../settings/source/yaml-file.ts';

/** Something of the file that the settings folder does not have, and why. */
export interface NotImported {
  readonly file: string;
  readonly line: number;
  /** `router_settings.routing_strategy`. */
  readonly key: string;
  readonly reason: string;
}

/** A file of another gateway: YAML, or JSON, which is YAML. */
export class ForeignFile {
  readonly name: string;
  readonly root: ForeignItem;
  readonly losses: NotImported[] = [];
  readonly #yaml: YamlFile;

  /** @param yaml without syntax errors */
  constructor(yaml: YamlFile) {
    this.#yaml = yaml;
    this.name = yaml.name;
    this.root = new ForeignItem(this, [], yaml.document.toJS({ maxAliasCount: 1000 }) as unknown);
  }

  lineOf(path: JsonPath): number {
    return this.#yaml.locate(path, typeof path.at(-1) === 'number' ? 'value' : 'key').line;
  }

  lose(path: JsonPath, reason: string): void {
    const key = path.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('');
    this.losses.push({ file: this.name, line: this.lineOf(path), key: key.replace(/^\./, ''), reason });
  }
}

/** Reasons for keys without an equivalent. */
export type Reasons = Readonly<Record<string, string>>;

const NO_EQUIVALENT = 'has no equivalent';

/** A value of the file at its place. Each key that nothing has read is reported by `rest`, so that nothing is left out in silence. */
export class ForeignItem {
  readonly source: ForeignFile;
  readonly path: JsonPath;
  readonly value: unknown;
  readonly #read = new Set<string>();

  constructor(source: ForeignFile, path: JsonPath, value: unknown) {
    this.source = source;
    this.path = path;
    this.value = value;
  }

  /** The value of a key that is present and not null. */
  get(key: string): ForeignItem | undefined {
    if (!isObject(this.value) || !Object.hasOwn(this.value, key)) return undefined;
    this.#read.add(key);
    const value = this.value[key];
    return value === null || value === undefined ? undefined : new ForeignItem(this.source, [...this.path, key], value);
  }

  has(key: string): boolean {
    return isObject(this.value) && this.value[key] !== undefined && this.value[key] !== null;
  }

  /** All keys of an object. */
  entries(): readonly (readonly [string, ForeignItem])[] {
    if (!isObject(this.value)) return [];
    return Object.keys(this.value).flatMap((key): [string, ForeignItem][] => {
      const item = this.get(key);
      return item ? [[key, item]] : [];
    });
  }

  items(): readonly ForeignItem[] {
    if (!Array.isArray(this.value)) return [];
    return this.value.map((value: unknown, index) => new ForeignItem(this.source, [...this.path, index], value));
  }

  /** Numbers that files hold as text are read too. */
  number(): number | undefined {
    const number = typeof this.value === 'string' && this.value.trim() !== '' ? Number(this.value) : this.value;
    if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
    this.lose('is not a number');
    return undefined;
  }

  text(): string | undefined {
    if (typeof this.value === 'string' && this.value !== '') return this.value;
    if (typeof this.value === 'number') return String(this.value);
    this.lose('is not a text');
    return undefined;
  }

  texts(): readonly string[] {
    return this.items().flatMap((item) => item.text() ?? []);
  }

  lose(reason: string): void {
    this.source.lose(this.path, reason);
  }

  /** Reports what was not read. */
  rest(reasons: Reasons = {}, otherwise = NO_EQUIVALENT): void {
    if (!isObject(this.value)) return;
    for (const [key, value] of Object.entries(this.value))
      if (!this.#read.has(key) && value !== null && value !== undefined && !isEmpty(value))
        this.source.lose([...this.path, key], Object.hasOwn(reasons, key) ? reasons[key]! : otherwise);
  }
}

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);
