import { literal } from './names.ts';
import { isObject } from '../../formats/json/object.ts';
import type { JsonPath } from '../../core/settings/schema/pointer.ts';
import { YamlFile } from '../../core/settings/source/yaml-file.ts';

/**
 * How a loss stands in the report: a cap, a guard or a key that is no longer there; what needs a decision before requests are as they
 * were; what may differ; what has no use here.
 */
export type Weight = 'guard' | 'decide' | 'check' | 'unneeded';

interface NotImported {
  readonly file: string;
  readonly line: number;
  /** `router_settings.routing_strategy`. */
  readonly key: string;
  readonly reason: string;
  readonly weight: Weight;
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
    // No text of the file becomes a reference to a variable or a file of this machine.
    this.root = new ForeignItem(this, [], literal(yaml.document.toJS({ maxAliasCount: 1000 }) as unknown));
  }

  lineOf(path: JsonPath): number {
    return this.#yaml.locate(path, typeof path.at(-1) === 'number' ? 'value' : 'key').line;
  }

  lose(path: JsonPath, reason: string, weight: Weight): void {
    const key = path.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('');
    this.losses.push({ file: this.name, line: this.lineOf(path), key: key.replace(/^\./, ''), reason, weight });
  }
}

interface Reason {
  readonly reason: string;
  readonly weight: Weight;
}

/** Reasons for keys without an equivalent. */
export type Reasons = Readonly<Record<string, Reason>>;

export const weighed = (weight: Weight, reasons: Readonly<Record<string, string>>): Reasons =>
  Object.fromEntries(Object.entries(reasons).map(([key, reason]) => [key, { reason, weight }]));

const NO_EQUIVALENT: Reason = { reason: 'has no equivalent', weight: 'check' };

/** A reference to a variable in a file of LiteLLM. */
export const variableIn = (text: string): string | undefined => /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1];

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

  /** Numbers that files hold as text are read too. @param weight of a value that is no number */
  number(weight?: Weight): number | undefined {
    const number = typeof this.value === 'string' && this.value.trim() !== '' ? Number(this.value) : this.value;
    if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
    const variable = variableIn(String(this.value));
    this.lose(
      variable === undefined
        ? 'is not a number'
        : `is read from a variable: write the number, or \`\${env:${variable}}\``,
      weight,
    );
    return undefined;
  }

  text(): string | undefined {
    if (typeof this.value === 'string' && this.value !== '') return this.value;
    if (typeof this.value === 'number') return String(this.value);
    return this.lose('is not a text');
  }

  texts(): readonly string[] {
    return this.items().flatMap((item) => item.text() ?? []);
  }

  /** Reports a loss. Its value is that of what is lost. */
  lose(reason: string, weight: Weight = 'decide'): undefined {
    this.source.lose(this.path, reason, weight);
  }

  /** `config.yaml:12` */
  get place(): string {
    return `${this.source.name}:${this.source.lineOf(this.path)}`;
  }

  rest(reasons: Reasons = {}, otherwise = NO_EQUIVALENT): void {
    if (!isObject(this.value)) return;
    for (const [key, value] of Object.entries(this.value)) {
      if (this.#read.has(key) || value === null || value === undefined || isEmpty(value)) continue;
      const { reason, weight } = Object.hasOwn(reasons, key) ? reasons[key]! : otherwise;
      this.source.lose([...this.path, key], reason, weight);
    }
  }
}

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);
