/**
 * Writes a page for each file of the settings, docs/reference/settings/*.md, with every key from the schemas, and the table of
 * Portkey's and LiteLLM's keys in docs/move. `npm run generate` runs it; a test compares.
 */
import { isDeepStrictEqual } from 'node:util';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { readSchema, SCHEMA_NAMES, type SchemaName } from '../src/core/settings/schema/schema-files.ts';
import { litellmTables, portkeyRows } from './foreign-keys.ts';
import { exampleOf, placesOf, type Place } from './places.ts';
import { typeOf } from './type-words.ts';

const DOCS = join(import.meta.dirname, '../docs');
const PORTKEY = join(DOCS, 'move/portkey.md');
const LITELLM = join(DOCS, 'move/litellm.md');
const GENERATED = '<!-- Generated from the schemas by `npm run generate`. -->';
const IMPORTED = '<!-- Generated from src/addons/import by `npm run generate`. -->';
const END = '<!-- End of the generated part. -->';

/** The pages by their file, with what the schemas say today. */
export function generateDocuments(): ReadonlyMap<string, string> {
  const pages = SCHEMA_NAMES.map((file) => [pageOf(file), `${sectionsOf(file).join('\n\n')}\n`] as const);
  const [portkey, litellm] = [PORTKEY, LITELLM].map((file) => readFileSync(file, 'utf8'));
  return new Map([...pages, [PORTKEY, withPortkeysKeys(portkey!)], [LITELLM, withLiteLlmsKeys(litellm!)]]);
}

const pageOf = (file: SchemaName): string => join(DOCS, 'reference/settings', `${file}.md`);

function withPortkeysKeys(document: string): string {
  const keys = tableOf(['Portkey', 'Here'], portkeyRows(places.get('gateway')!));
  return within(document, GENERATED, `${keys}\n\n## Other spellings\n\n${otherSpellings()}`);
}

function withLiteLlmsKeys(document: string): string {
  const parts = litellmTables().map(([title, rows]) => `### ${title}\n\n${tableOf(['LiteLLM', 'Here'], rows)}`);
  return within(document, IMPORTED, parts.join('\n\n'));
}

function within(document: string, begin: string, text: string): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`a page has no generated part:\n${begin}\n${END}`);
  return `${before}${begin}\n\n${text}\n\n${END}${after}`;
}

const FILES: Readonly<Record<SchemaName, string>> = {
  server: 'server.yaml',
  catalog: 'catalog.yaml',
  keys: 'keys.yaml',
  gateway: 'gateway/NAME.yaml',
  prompt: 'prompts/NAME.yaml',
  prices: 'prices.yaml',
  teams: 'teams.yaml',
  test: 'gateway/NAME.test.yaml',
};

const places = new Map(SCHEMA_NAMES.map((file) => [file, placesOf(file)]));

/** The keys of one object, for all paths where it may appear. */
interface Table {
  /** The file whose section describes the object. */
  readonly file: SchemaName | undefined;
  /** Paths of the object; the table writes its keys with the first. */
  readonly paths: readonly string[];
  readonly keys: readonly Place[];
  readonly address: string;
  /** Description of the object, where it differs from the description of its key. */
  readonly about?: string | undefined;
  /** `provider: vertex-ai`, where objects with other keys are allowed at the same path. */
  readonly variant?: string;
}

function tablesOf(file: SchemaName): readonly Table[] {
  const current = places.get(file)!.filter((place) => !isDeprecated(place));
  const all = [...Map.groupBy(current, ({ owner }) => owner.address)].map(([address, same]): Table => {
    const paths = [...new Set(same.map(({ owner }) => owner.path))].toSorted((a, b) => depthOf(a) - depthOf(b));
    const home = homeOf(address);
    const keys = onceEach(same.filter(({ owner }) => owner.path === paths[0]));
    const about = keys[0]?.owner.schema['description'];
    const isNew = keys[0]?.parent !== undefined && about !== keys[0].parent.schema['description'];
    return { file: home, paths, address, keys, ...(isNew && typeof about === 'string' && { about }) };
  });
  const here = all.filter((table) => table.file === file);
  return [...Map.groupBy(here, ({ paths }) => paths[0]).values()].flatMap(withShared);
}

/** Entries of several providers have the same object at one path, each with the same keys. */
const onceEach = (keys: readonly Place[]): readonly Place[] =>
  keys.filter(({ name }, index) => keys.findIndex((other) => other.name === name) === index);

/** The file that describes an object: the one that defines it, or, if it has the object only in a map, the first one that has it elsewhere. */
function homeOf(address: string): SchemaName | undefined {
  const defines = SCHEMA_NAMES.find((name) => address.includes(`/${name}.json`));
  const has = (name: SchemaName): boolean => places.get(name)!.some(({ owner }) => owner.address === address);
  return [...(defines ? [defines] : []), ...SCHEMA_NAMES].find(has);
}

const depthOf = (path: string): number => path.split('.').length;

function isDeprecated({ deprecated, parent }: Place): boolean {
  return deprecated || (parent !== undefined && isDeprecated(parent));
}

/** For alternative objects at one path: first their shared keys, then the keys of each. */
function withShared(branches: readonly Table[]): readonly Table[] {
  const [first, ...rest] = branches;
  if (!first || rest.length === 0) return branches;
  const shared = first.keys.filter(
    ({ name, address }) =>
      address && rest.every(({ keys }) => keys.some((key) => key.name === name && key.address === address)),
  );
  const isDescribed = (key: Place): boolean =>
    shared.some(({ name, schema }) => name === key.name && schema['description'] === key.schema['description']);
  const own = branches.map(({ keys, ...table }): Table => {
    const constant = keys.find(({ schema }) => schema['const'] !== undefined);
    const variant = constant && { variant: `${constant.name}: ${String(constant.schema['const'])}` };
    return { ...table, ...variant, keys: keys.filter((key) => !isDescribed(key)) };
  });
  return [{ ...first, keys: shared, about: undefined }, ...own];
}

const tables = SCHEMA_NAMES.flatMap(tablesOf);

function sectionsOf(file: SchemaName): readonly string[] {
  const description = String(readSchema(file)['description']).replace(/^\S+: (.)/, (_, letter: string) =>
    letter.toUpperCase(),
  );
  const reported = new Set<string>();
  return [
    `# ${FILES[file]}`,
    GENERATED,
    description,
    ...tables.filter((table) => table.file === file).flatMap((table) => show(table, reported)),
  ];
}

/** @param reported addresses of the keys that this section already describes */
function show(table: Table, reported: Set<string>): readonly string[] {
  // A key with a description of its own is listed again.
  const [again, rows] = partition(
    table.keys,
    ({ address, layers }) =>
      address !== undefined && reported.has(address) && Object.keys(layers[0] ?? {}).length === 0,
  );
  for (const { address } of rows) if (address !== undefined) reported.add(address);
  const title = titleOf(table);
  const names = again.map(({ name }) => `\`${name}\``).join(', ');
  return [
    ...(title === undefined ? [] : [`## ${title}`]),
    ...(table.about === undefined ? [] : [table.about]),
    ...(rows.length === 0 ? [] : [tableOf(['Key', 'Meaning'], rows.map(cellsOf))]),
    ...(again.length === 0
      ? []
      : [`${rows.length === 0 ? 'Keys' : 'And keys'} that mean what they mean above: ${names}.`]),
  ];
}

function partition<T>(all: readonly T[], holds: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter((one) => holds(one)), all.filter((one) => !holds(one))];
}

/** Undefined for the keys at the top of a file. */
function titleOf({ file, paths, variant }: Table): string | undefined {
  if (file === undefined || paths[0] === '') return undefined;
  const of = variant === undefined ? '' : ` with \`${variant}\``;
  return `${paths.map((path) => `\`${path}\``).join(', ')}${of}`;
}

/** Two cells of two lines: a wider table is cut at the edge of a page. */
function cellsOf(place: Place): readonly string[] {
  const { name, path, schema, required, layers } = place;
  const usual = layers.map((layer) => layer['default']).find((value) => value !== undefined);
  const link = linkOf(place);
  const type = link === undefined ? typeOf(schema) : `[${typeOf(schema)}](${link})`;
  const given = required ? ', required' : usual === undefined ? '' : `, default ${code(usual)}`;
  // An example that repeats the default says nothing.
  const shown = exampleOf(place);
  const example =
    shown === undefined || isDeepStrictEqual(shown, usual) ? '' : `<br>Example: ${code({ [name]: shown })}`;
  return [`\`${path}\`<br>${type}${given}`, `${String(schema['description'])}${example}`];
}

/** The page and the anchor of the table that describes the keys of the object, or of the objects in the list. */
function linkOf(place: Place): string | undefined {
  const inner = places.get(place.file)!.find(({ parent }) => parent === place);
  const table = tables.find(({ address }) => address === inner?.owner.address);
  const title = table && titleOf(table);
  if (title === undefined) return undefined;
  // GitHub's rule for anchors of headings.
  const anchor = title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
  return `${table!.file === place.file ? '' : `${table!.file}.md`}#${anchor}`;
}

/** YAML in one line that can be pasted. */
function code(value: unknown): string {
  if (value === undefined) return '';
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  return `\`${/^\{ (\w+: .*) \}$/.exec(text)?.[1] ?? text}\``;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

function otherSpellings(): string {
  const others = [...places.values()].flat().filter(({ deprecated }) => deprecated);
  const rows = [...Map.groupBy(others, ({ schema }) => String(schema['description']))].map(([description, same]) => {
    const names = new Set(same.map(({ name }) => `\`${name}\``));
    const paths = same.map(({ owner }) => owner.path).toSorted((a, b) => a.length - b.length);
    const around = new Set(paths.map((path) => (path === '' ? 'the config' : `\`${path}\``)));
    const [first] = same;
    return [
      [...names].join(', '),
      [...around].join(', '),
      description,
      first ? code({ [first.name]: exampleOf(first) }) : '',
    ];
  });
  return tableOf(['Key', 'In', 'Meaning', 'Example'], rows);
}
