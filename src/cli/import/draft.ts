import { freeName, nameOf } from './names.ts';
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
  /** The secret itself, to find equal ones. No file and no report has it. */
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

  /** Sample values of the variables that hold no secrets: the written folder is checked with them. */
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
    return this.variable(
      freeName(variableOf(wanted), (name) => this.#variables.has(name), '_'),
      purpose,
      { place, value: text },
    );
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
    const slug = freeName(nameOf(wanted), (name) => this.#slugs.has(name));
    this.#slugs.add(slug);
    this.#accounts.set(account, slug);
    this.providers.push({ slug, ...settings });
    return slug;
  }

  /** Ids of configs are names of files. */
  freeConfig(wanted: string): string {
    const taken = new Set([...this.gateway.keys()].map((id) => id.toLowerCase()));
    return freeName(nameOf(wanted).slice(0, 60), (id) => taken.has(id.toLowerCase()));
  }
}

/** Text as the name of a variable. */
export const variableOf = (text: string): string =>
  text
    .toUpperCase()
    .replaceAll(/\W/g, '_')
    .replace(/^(?=\d)/, '_');
