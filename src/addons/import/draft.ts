import { isObject } from '../../formats/json/object.ts';
import { freeName, nameOf } from './names.ts';
import { variableIn, type ForeignFile, type ForeignItem } from './source.ts';

export type DraftPart = Readonly<Record<string, unknown>>;

/** A variable that must be set before the gateway starts. */
interface Variable {
  readonly name: string;
  readonly purpose: string;
  /** Where the value stands in the file; it is never copied. */
  readonly place: string | undefined;
}

interface Hidden {
  /** The secret itself, to find equal ones of one account. No file and no report has it. */
  readonly value: string | undefined;
  readonly wanted: string | undefined;
  readonly sample: string | undefined;
}

const READ_TOO = 'a value that the file reads from this variable, too';

/** A settings folder in the making. */
export class Draft {
  readonly providers: DraftPart[] = [];
  readonly aliases: Record<string, DraftPart> = {};
  readonly gateway = new Map<string, DraftPart>();
  readonly keys: DraftPart[] = [];
  readonly organizations: Record<string, DraftPart> = {};
  readonly teams: Record<string, DraftPart> = {};
  readonly prices: DraftPart[] = [];
  readonly server: Record<string, unknown> = {};
  /** Things that a person should check, a sentence each. */
  readonly notes: string[] = [];
  readonly #variables = new Map<string, Variable & Hidden>();
  /** Slugs by what makes an account: equal ones share an entry. */
  readonly #accounts = new Map<string, string>();
  readonly #slugs = new Set<string>();
  /** Variables that the files name: a value in clear text gets another one. */
  readonly #named: ReadonlySet<string>;

  constructor(sources: readonly ForeignFile[]) {
    const texts = sources.map(({ root }) => JSON.stringify(root.value) ?? '').join('\n');
    this.#named = new Set([...texts.matchAll(/os\.environ\/(\w+)/g)].map(([, name]) => name!));
  }

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
    const environment = /^(?:os\.environ\/|\$\{?|env[:/])([A-Za-z_]\w*)\}?$/.exec(text)?.[1];
    if (environment !== undefined) {
      if (variableIn(text) === undefined)
        this.notes.push(
          `${item.place}: this text is read as the variable ${environment}; LiteLLM writes os.environ/${environment}.`,
        );
      return this.variable(environment, purpose);
    }
    const known = [...this.#variables.values()].find((one) => one.value === text && one.wanted === wanted);
    if (known) return `\${env:${known.name}}`;
    const isTaken = (name: string): boolean => this.#variables.has(name) || this.#named.has(name);
    const { place } = item;
    return this.variable(freeName(variableOf(wanted), isTaken, '_'), purpose, { place, value: text, wanted });
  }

  /** A text as settings have it. A reference to a variable is one here too; `sample` stands for its value in the check of the folder. */
  text(item: ForeignItem | undefined, sample: string): string | undefined {
    const text = item?.text();
    const variable = text === undefined ? undefined : variableIn(text);
    return variable === undefined ? text : this.variable(variable, READ_TOO, { sample });
  }

  /** A value of a request's parameter with the references in it. */
  value(value: unknown, sample: string): unknown {
    if (typeof value === 'string') {
      const variable = variableIn(value);
      return variable === undefined ? value : this.variable(variable, READ_TOO, { sample });
    }
    if (Array.isArray(value)) return value.map((one) => this.value(one, sample));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.value(inner, sample)]));
  }

  variable(name: string, purpose: string, at: Partial<Pick<Variable, 'place'> & Hidden> = {}): string {
    if (!this.#variables.has(name))
      this.#variables.set(name, {
        name,
        purpose,
        place: at.place,
        value: at.value,
        wanted: at.wanted,
        sample: at.sample,
      });
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

export const variableOf = (text: string): string =>
  text
    .toUpperCase()
    .replaceAll(/\W/g, '_')
    .replace(/^(?=\d)/, 'HOST_');
