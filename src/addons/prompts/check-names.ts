import type { PromptValueSchema, PromptVariable } from '../../../schemas/types.generated.ts';
import { withSuggestion } from '../../core/settings/checks/names.ts';
import type { CompiledVersion } from './compile.ts';
import { MAX_DEPTH } from './tags.ts';
import type { SectionToken, Template, TemplateMistake, Token, ValuePath } from './template.ts';

interface NameMistake extends TemplateMistake {
  /** Name of the partial; undefined: the message's own template. */
  readonly partial: string | undefined;
}

/** Knowledge about a value that a section opens: `any` may have every key, `none` has no keys. */
type Scope = PromptValueSchema | 'any' | 'none';

/** Most tags that a check follows through partials inside partials. */
const MAX_TAGS = 50_000;

/** Checks the names of a version's templates against its variables, through partials and sections. */
export class NameCheck {
  readonly #version: CompiledVersion;
  readonly #report: (mistake: NameMistake) => void;
  readonly used = new Set<string>();
  #left = MAX_TAGS;

  constructor(version: CompiledVersion, report: (mistake: NameMistake) => void) {
    this.#version = version;
    this.#report = report;
  }

  check(template: Template): void {
    this.#tokens(template.tokens, { partials: [], scopes: [] });
  }

  #tokens(tokens: readonly Token[], place: TemplatePlace): void {
    for (const token of tokens) {
      if (token.kind === 'text') continue;
      this.#left -= 1;
      if (this.#left < 0) {
        if (this.#left === -1) this.#mistake(place, token.at, `the partials contain more than ${MAX_TAGS} tags in all`);
        return;
      }
      if (token.kind === 'partial') this.#partial(token.name, token.at, place);
      else if (token.kind === 'section') this.#section(token, place);
      else this.#variable(token.path, token.at, place);
    }
  }

  #partial(name: string, at: number, place: TemplatePlace): void {
    const partial = this.#version.partials.get(name);
    // A missing partial is reported where it is named, once, by checkPartialNames.
    if (!partial) return;
    if (place.partials.includes(name))
      this.#mistake(place, at, `the partial \`${name}\` contains itself: ${[...place.partials, name].join(' → ')}`);
    else if (place.partials.length >= MAX_DEPTH)
      this.#mistake(place, at, `partials nest more than ${MAX_DEPTH} levels deep`);
    else this.#tokens(partial.tokens, { partials: [...place.partials, name], scopes: place.scopes });
  }

  #section({ path, inner, inverted, at }: SectionToken, place: TemplatePlace): void {
    const scope = this.#scopeOf(path, at, place);
    this.#tokens(inner, inverted ? place : { ...place, scopes: [...place.scopes, scope] });
  }

  #variable(path: ValuePath, at: number, place: TemplatePlace): void {
    const [name] = path;
    if (name !== undefined && path.length === 1 && place.scopes.length === 0 && this.#declared(name)?.media) {
      this.used.add(name);
      this.#mistake(place, at, `\`${name}\` is media: it must be the only text of its part`);
      return;
    }
    this.#scopeOf(path, at, place);
  }

  #scopeOf(path: ValuePath, at: number, place: TemplatePlace): Scope {
    const [first, ...rest] = path;
    if (first === undefined) {
      const inner = place.scopes.at(-1);
      if (inner === undefined) this.#mistake(place, at, '`{{.}}` stands for the value of a section, and there is none');
      return inner ?? 'any';
    }
    // A section's value may lack the key, and then the variable is read.
    if (this.#declared(first)) this.used.add(first);
    const own = place.scopes.findLast((scope) => keyOf(scope, first) !== undefined);
    const walk: Walk = { walked: [first], at, place };
    if (own !== undefined) return this.#inside(keyOf(own, first) ?? 'any', walk, rest);
    const variable = this.#declared(first);
    if (!variable) {
      const names = [...this.#version.variables.keys()];
      this.#mistake(place, at, `\`${first}\` is not declared in \`variables\``, withSuggestion(first, names));
      return 'any';
    }
    if (rest.length > 0 && variable.schema?.type === 'array') {
      this.#mistake(place, at, `\`${first}\` is a list, whose items have keys: read them inside \`{{#${first}}}\``);
      return 'any';
    }
    return this.#inside(scopeOfSchema(variable.media ? undefined : variable.schema), walk, rest);
  }

  #inside(scope: Scope, walk: Walk, [key, ...rest]: ValuePath): Scope {
    if (key === undefined) return scope;
    const next = keyOf(scope, key);
    const { walked, at, place } = walk;
    if (next !== undefined) return this.#inside(next, { ...walk, walked: [...walked, key] }, rest);
    this.#mistake(place, at, `the schema of \`${walked.join('.')}\` has no key \`${key}\``);
    return 'any';
  }

  #declared(name: string): PromptVariable | undefined {
    return this.#version.variables.get(name);
  }

  #mistake(
    { partials }: TemplatePlace,
    at: number,
    message: string,
    more: { readonly suggestion?: string } = {},
  ): void {
    this.#report({ partial: partials.at(-1), at, message, ...more });
  }
}

/** A name on its way through the keys of a value. */
interface Walk {
  readonly walked: readonly string[];
  readonly at: number;
  readonly place: TemplatePlace;
}

interface TemplatePlace {
  readonly partials: readonly string[];
  readonly scopes: readonly Scope[];
}

/** The value that a section opens: of a list, each item. */
function scopeOfSchema(schema: PromptValueSchema | undefined): Scope {
  if (!schema) return 'none';
  if (schema.type === 'array') return schema.items ? scopeOfSchema(schema.items) : 'any';
  if (schema.type === undefined || schema.type === 'object') return schema;
  return 'none';
}

/** Undefined: a value of this scope does not have the key. */
function keyOf(scope: Scope, key: string): Scope | undefined {
  if (scope === 'any') return 'any';
  if (scope === 'none') return undefined;
  if (!scope.properties) return 'any';
  return Object.hasOwn(scope.properties, key) ? scopeOfSchema(scope.properties[key]) : undefined;
}
