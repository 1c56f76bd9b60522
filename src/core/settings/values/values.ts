import { isAlias, isMap, isScalar, isSeq, visit, type Node, type Scalar, type YAMLMap } from 'yaml';
import type { Diagnostic } from '../source/diagnostic.ts';
import { toPointer, type JsonPath } from '../schema/pointer.ts';
import { offsetOf, resolveText, type ReferenceLookup } from './references.ts';
import type { Schema, SchemaTree } from '../schema/schema-files.ts';
import type { Fakes } from './fakes.ts';
import { looksSecret, type ValueOrigin } from './show.ts';
import { keyText, type YamlFile } from '../source/yaml-file.ts';

/** The content of a file as JSON with references resolved. Secrets are still plain text, because validation reads them. */
export interface Values {
  readonly json: unknown;
  /** By JSON Pointer: the origin of referenced and secret values. */
  readonly origins: ReadonlyMap<string, ValueOrigin>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Turns a syntax tree into values. The schemas tell which fields are secret and to which type a reference is converted. */
export const readValues = (file: YamlFile, root: readonly Schema[], tools: ReadTools): Values =>
  new ValueReader(file, tools).read(root);

interface ReadTools {
  readonly tree: SchemaTree;
  readonly lookup: ReferenceLookup;
  /** Fakes for secrets that cannot be resolved. Default: they are errors, as every unresolved reference. */
  readonly fakeMissing?: Fakes | undefined;
}

const NO_ORIGIN: ValueOrigin = { secret: false, sources: [], contents: [], unresolved: false };

const MAX_ALIAS_COPIES = 50;

class ValueReader {
  readonly #file: YamlFile;
  readonly #tools: ReadTools;
  readonly #origins = new Map<string, ValueOrigin>();
  readonly #diagnostics: Diagnostic[] = [];
  /** Nodes being read, to detect an anchor that contains an alias of itself. */
  readonly #open = new Set<Node>();

  constructor(file: YamlFile, tools: ReadTools) {
    this.#file = file;
    this.#tools = tools;
  }

  read(root: readonly Schema[]): Values {
    const json = this.#aliasesAreBounded() ? this.#node(this.#file.document.contents, root, []) : this.#hole([]);
    return { json, origins: this.#origins, diagnostics: this.#diagnostics };
  }

  /** Refuses nested aliases of aliases, by which a small file could fill the memory. The parser counts before anything is copied. */
  #aliasesAreBounded(): boolean {
    try {
      this.#file.document.toJS({ maxAliasCount: MAX_ALIAS_COPIES, mapAsMap: true });
      return true;
    } catch (error) {
      // #node reports an alias without an anchor, at its position.
      if (error instanceof ReferenceError && error.message.startsWith('Unresolved')) return true;
      const message = 'too many aliases: the values of their anchors would be copied more than 50 times';
      this.#report(firstAlias(this.#file), message);
      return false;
    }
  }

  #node(node: unknown, schemas: readonly Schema[], path: JsonPath): unknown {
    if (isAlias(node)) {
      const target = node.resolve(this.#file.document);
      if (target && !this.#open.has(target)) return this.#node(target, schemas, path);
      const unknown = `no anchor \`&${node.source}\` comes before this alias`;
      this.#report(node.range?.[0], target ? 'this alias is inside the value of its own anchor' : unknown);
      return this.#hole(path);
    }
    if (isScalar(node)) return this.#scalar(node, schemas, path);
    if (!isMap(node) && !isSeq(node)) return null;
    this.#open.add(node);
    const value = isMap(node)
      ? this.#map(node, schemas, path)
      : node.items.map((item, index) => this.#node(item, this.#tools.tree.child(schemas, index), [...path, index]));
    this.#open.delete(node);
    return value;
  }

  #map(map: YAMLMap, schemas: readonly Schema[], path: JsonPath): unknown {
    const tagOf = (property: string) => {
      const tag: unknown = map.get(property);
      return typeof tag === 'string' ? tag : undefined;
    };
    const entries = map.items.flatMap((pair): [string, unknown][] => {
      const key = keyText(pair);
      if (key === undefined) {
        this.#report(map.range?.[0], 'keys are text, not lists or objects');
        return [];
      }
      const offset = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
      if (key.includes('${') && !this.#tools.lookup.plain)
        this.#report(offset, 'references are allowed in values only, not in keys');
      if (looksSecret(key)) this.#report(offset, 'this key looks like a secret in clear text', 'warning');
      if (key === '<<') {
        this.#report(offset, 'merge keys (`<<`) are not supported');
        return [];
      }
      return [[key, this.#node(pair.value, this.#tools.tree.child(schemas, key, tagOf), [...path, key])]];
    });
    return Object.fromEntries(entries);
  }

  #scalar(node: Scalar, schemas: readonly Schema[], path: JsonPath): unknown {
    const { value } = node;
    const secret = schemas.some((schema) => schema['x-secret'] === true);
    if (typeof value !== 'string') {
      if (secret) this.#remember(path, { ...NO_ORIGIN, secret });
      const problem = jsonProblem(node);
      if (problem === undefined) return value;
      this.#report(node.range?.[0], problem);
      return this.#hole(path);
    }
    const { lookup, fakeMissing } = this.#tools;
    const resolved = resolveText(value, (secret && fakeMissing?.around(lookup, path)) || lookup);
    for (const problem of resolved.problems) this.#report(offsetOf(this.#file, node, problem), problem.message);
    const unresolved = resolved.problems.length > 0;
    const { sources, contents } = resolved;
    if (secret || sources.length > 0 || unresolved) this.#remember(path, { secret, sources, contents, unresolved });
    // The schema refuses a user and password in such a URL, and its message names the key for them.
    const isRefused = schemas.some((schema) => schema['x-login'] !== undefined);
    if (sources.length === 0 && !unresolved && !isRefused) this.#warnOfClearText(node, { value, secret, path });
    else if (resolved.fallbacks.some(looksSecret))
      this.#warnOfClearText(node, { value: resolved.fallbacks.join(' '), secret: false, path });
    return resolved.whole && !unresolved ? coerce(resolved.text, schemas, node.type === 'PLAIN') : resolved.text;
  }

  #warnOfClearText(node: Scalar, { value, secret, path }: { value: string; secret: boolean; path: JsonPath }): void {
    if (value === '' || this.#tools.lookup.sealed || !(secret || looksSecret(value))) return;
    const what = secret ? 'a secret in clear text' : 'this looks like a secret in clear text';
    // A variable in shell notation. Capitals only: any other text may be the secret itself, which must not be repeated.
    const given = /^\$([A-Z][A-Z0-9_]*)$/.exec(value)?.[1];
    const name = path.at(-1);
    const instead = this.#tools.lookup.plain
      ? 'a test does not need a real one'
      : secret && typeof name === 'string'
        ? lineFor(name, given ?? this.#variableFor(path))
        : `write \`\${env:${given ?? 'NAME'}}\` or \`\${file:PATH}\` in its place`;
    this.#report(node.range?.[0], `${what}; ${instead}`, 'warning');
  }

  /** A name for the variable of a secret: that of its key behind the name of what has it. */
  #variableFor(path: JsonPath): string {
    const owner = path.slice(0, -1).reduce<Node | undefined>((node, segment) => {
      const inner = isMap(node) || isSeq(node) ? node.get(segment, true) : undefined;
      return this.#file.resolve(inner);
    }, this.#file.resolve(this.#file.document.contents));
    const named = isMap(owner) ? (owner.get('slug') ?? owner.get('id')) : undefined;
    const words = [named, path.at(-1)].filter((word) => typeof word === 'string' && /^[\w-]{1,40}$/.test(word));
    const isSecret = words.some((word) => looksSecret(String(word)));
    return words.length === 0 || isSecret ? 'NAME' : words.join('_').toUpperCase().replaceAll('-', '_');
  }

  #hole(path: JsonPath): null {
    this.#remember(path, { ...NO_ORIGIN, unresolved: true });
    return null;
  }

  #remember(path: JsonPath, origin: ValueOrigin): void {
    this.#origins.set(toPointer(path), origin);
  }

  #report(offset: number | undefined, message: string, severity: Diagnostic['severity'] = 'error'): void {
    this.#diagnostics.push({ file: this.#file.name, ...this.#file.positionAt(offset ?? 0), severity, message });
  }
}

const lineFor = (name: string, variable: string): string =>
  `write \`${name}: "\${env:${variable}}"\` and set ${variable}, or \`\${file:PATH}\``;

function firstAlias(file: YamlFile): number | undefined {
  let offset: number | undefined;
  visit(file.document, {
    Alias: (_key, node) => {
      offset = node.range?.[0];
      return visit.BREAK;
    },
  });
  return offset;
}

/** The reason why a value that is not text cannot be kept as it is. */
function jsonProblem({ value, source = '' }: Scalar): string | undefined {
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'this value cannot be represented in JSON';
  // The parser silently rounds long numbers, such as ids.
  const isRounded = /^[-+]?[0-9]+$|^0[xo]/.test(source) && !Number.isSafeInteger(value);
  return isRounded ? 'this number is too long to be kept exactly; put it in quotes' : undefined;
}

const INTEGER = /^-?(0|[1-9][0-9]*)$/;
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** The number or boolean that the schema expects of a reference. Without a schema, what YAML makes of plain text. */
function coerce(text: string, schemas: readonly Schema[], plain: boolean): unknown {
  const types = new Set(schemas.flatMap((schema) => schema['type'] ?? []));
  const accepts = (type: string) => (types.size === 0 ? plain : types.has(type));
  if (INTEGER.test(text))
    return (accepts('integer') || accepts('number')) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
  if (accepts('number') && NUMBER.test(text)) return Number(text);
  if (accepts('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
