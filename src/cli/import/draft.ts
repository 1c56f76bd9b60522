import { nameOf } from './names.ts';
import type { ForeignItem } from './source.ts';

/** A file of the settings, or a part of one. */
export type DraftPart = Readonly<Record<string, unknown>>;

/** A variable that must be set before the gateway starts. */
export interface Variable {
  readonly name: string;
  readonly purpose: string;
  /** Where the value stands in the file; it is never copied. */
  readonly place: string | undefined;
}

interface Hidden {
  /** Finds equal secrets; it is in no file and no report. */
  readonly value: string | undefined;
  readonly sample: string | undefined;
}

/** A settings folder in the making. */
export class Draft {
  readonly providers: DraftPart[] = [];
  readonly aliases: Record<string, DraftPart> = {};
  /** By id. */
  readonly gateway = new Map<string, DraftPart>();
  readonly keys: DraftPart[] = [];
  readonly organizations: Record<string, DraftPart> = {};
  readonly teams: Record<string, DraftPart> = {};
  readonly prices: DraftPart[] = [];
  readonly server: Record<string, unknown> = {};
  /** What a person should check, a sentence each. */
  readonly notes: string[] = [];
  readonly #variables = new Map<string, Variable & Hidden>();
  /** Slugs by what makes an account: equal ones share an entry. */
  readonly #accounts = new Map<string, string>();
  readonly #slugs = new Set<string>();

  /** Values that check in place of those of variables that are no secrets. */
  get samples(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...this.#variables.values()].flatMap(({ name, sample }) => (sample === undefined ? [] : [[name, sample]])),
    );
  }

  get variables(): readonly Variable[] {
    return [...this.#variables.values()];
  }

  /** A reference to a variable that takes the place of a secret. Equal secrets share one. */
  secret(item: ForeignItem, wanted: string, purpose: string): string | undefined {
    const text = item.text();
    if (text === undefined) return undefined;
    const environment = /^(?:os\.environ\/|\$\{?|env:)([A-Za-z_]\w*)\}?$/.exec(text)?.[1];
    if (environment !== undefined) return this.variable(environment, purpose);
    const known = [...this.#variables.values()].find(({ value }) => value === text);
    if (known) return `\${env:${known.name}}`;
    const place = `${item.source.name}:${item.source.lineOf(item.path)}`;
    return this.variable(this.#free(wanted), purpose, { place, value: text });
  }

  /** A reference to a variable of this name. */
  variable(name: string, purpose: string, at: Partial<Pick<Variable, 'place'> & Hidden> = {}): string {
    if (!this.#variables.has(name))
      this.#variables.set(name, { name, purpose, place: at.place, value: at.value, sample: at.sample });
    return `\${env:${name}}`;
  }

  /** The slug of the entry with these settings, which is added if no entry has them. */
  entry(wanted: string, settings: DraftPart): string {
    const account = JSON.stringify(Object.entries(settings).toSorted(([one], [other]) => (one < other ? -1 : 1)));
    const known = this.#accounts.get(account);
    if (known !== undefined) return known;
    const slug = this.#freeSlug(nameOf(wanted));
    this.#accounts.set(account, slug);
    this.providers.push({ slug, ...settings });
    return slug;
  }

  /** Ids of configs are names of files. */
  freeConfig(wanted: string): string {
    const base = nameOf(wanted).slice(0, 60);
    for (let number = 1; ; number += 1) {
      const id = number === 1 ? base : `${base}-${number}`;
      if (![...this.gateway.keys()].some((other) => other.toLowerCase() === id.toLowerCase())) return id;
    }
  }

  #freeSlug(wanted: string): string {
    for (let number = 1; ; number += 1) {
      const slug = number === 1 ? wanted : `${wanted}-${number}`;
      if (this.#slugs.has(slug)) continue;
      this.#slugs.add(slug);
      return slug;
    }
  }

  #free(wanted: string): string {
    const base = wanted
      .toUpperCase()
      .replaceAll(/\W/g, '_')
      .replace(/^(?=\d)/, '_');
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}_${number}`;
      if (!this.#variables.has(name)) return name;
    }
  }
}

/** A name of a variable. */
export const variableOf = (text: string): string =>
  text
    .toUpperCase()
    .replaceAll(/\W/g, '_')
    .replace(/^(?=\d)/, '_');
