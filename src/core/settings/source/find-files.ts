import { join } from 'node:path';
import { nearest } from '../../kernel/index.ts';
import { aboutFile, type Diagnostic } from './diagnostic.ts';
import type { FolderRead, SettingsFiles } from './files.ts';
import type { SchemaName } from '../schema/schema-files.ts';

export interface FoundFile {
  readonly kind: SchemaName;
  /** Name inside the folder: `catalog.yaml`, `gateway/prod.yaml`. */
  readonly name: string;
  readonly path: string;
  /** The file name without `.yaml`, or without `.test.yaml` for a test file. */
  readonly id: string;
}

/** Templates that prompts share: text, no settings of their own. */
export interface FoundPartial {
  readonly name: string;
  readonly path: string;
}

/** Rows of a newer table of prices, which `gatehouse prices update` writes. */
export const PRICE_TABLE_FILE = 'price-table.json';
const TOP_LEVEL: ReadonlyMap<string, SchemaName> = new Map(
  (['server', 'catalog', 'keys', 'prices', 'teams'] as const).map((kind) => [`${kind}.yaml`, kind]),
);
/** Everything in server.yaml, prices.yaml and teams.yaml has defaults; the keys and the providers have none. */
const REQUIRED = ['catalog.yaml', 'keys.yaml'];
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `*.test.yaml` in the folder and beside the gateway configs; empty where the folder does not exist. */
export async function findTestFiles(folder: string, files: SettingsFiles): Promise<readonly FoundFile[]> {
  const inside = async (where: string, prefix: string): Promise<readonly FoundFile[]> => {
    const listed = await files.list(where);
    const tests = 'names' in listed ? listed.names.filter(isTests) : [];
    return yamlFiles(tests, (name) => found(folder, `${prefix}${name}`, 'test'));
  };
  return [...(await inside(folder, '')), ...(await inside(join(folder, 'gateway'), 'gateway/'))];
}

/** Test files, which only `gatehouse test` reads. */
export const isTests = (name: string): boolean => name.endsWith(TESTS) && isYaml(name);

export interface FoundFiles {
  readonly folderExists: boolean;
  readonly files: readonly FoundFile[];
  readonly partials: readonly FoundPartial[];
  readonly priceTable?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export async function findSettingsFiles(folder: string, files: SettingsFiles): Promise<FoundFiles> {
  const listed = await files.list(folder);
  if (!('names' in listed))
    return { folderExists: false, files: [], partials: [], diagnostics: [notListed(folder, listed)] };
  const names = listed.names.filter((name) => !isTests(name));
  const gatewayFolder = join(folder, 'gateway');
  const gateway = await files.list(gatewayFolder);
  const gatewayNames = 'names' in gateway ? gateway.names.filter((name) => !isTests(name)) : [];
  const prompts = await findPrompts(folder, files);
  const below = await yamlBelow(gatewayFolder, gateway, files);
  const top = [...TOP_LEVEL].flatMap(([name, kind]) => (names.includes(name) ? [found(folder, name, kind)] : []));
  const configs = yamlFiles(gatewayNames, (name) => found(folder, `gateway/${name}`, 'gateway'));
  return {
    folderExists: true,
    files: [...top, ...configs.filter(({ id }) => isId(id)), ...prompts.files],
    partials: prompts.partials,
    priceTable: names.includes(PRICE_TABLE_FILE) ? join(folder, PRICE_TABLE_FILE) : undefined,
    diagnostics: [
      ...REQUIRED.filter((name) => !names.includes(name)).map((name) =>
        aboutFile(join(folder, name), 'this file is missing'),
      ),
      ...names.filter((name) => looksYaml(name) && !TOP_LEVEL.has(name)).map((name) => ignored(folder, name)),
      ...('problem' in gateway ? [notListed(gatewayFolder, gateway)] : []),
      ...configs.filter(({ id }) => !isId(id)).map(({ id, path }) => aboutFile(path, ID.test(id) ? TEST_ID : BAD_ID)),
      ...gatewayNames
        .filter((name) => looksYaml(name) && !isYaml(name))
        .map((name) =>
          aboutFile(join(gatewayFolder, name), /\.test\./i.test(name) ? NOT_TESTS : renamed(name), 'warning'),
        ),
      ...below,
      ...listed.folders.flatMap((name) => misnamedFolder(folder, name)),
      ...prompts.diagnostics,
    ],
  };
}

/** `prompts/NAME.yaml` and `prompts/partials/NAME.txt`. Neither folder has to exist. */
async function findPrompts(folder: string, files: SettingsFiles): Promise<Omit<FoundFiles, 'folderExists'>> {
  const own = join(folder, 'prompts');
  const listed = await files.list(own);
  if (!('names' in listed)) {
    const diagnostics = 'problem' in listed ? [notListed(own, listed)] : [];
    return { files: [], partials: [], diagnostics };
  }
  const partialFolder = join(own, 'partials');
  const partials = listed.names.includes('partials') ? await files.list(partialFolder) : { names: [], folders: [] };
  const below = await yamlBelow(own, listed, files);
  const texts = 'names' in partials ? partials.names.filter((name) => !name.startsWith('.')) : [];
  const names = listed.names.filter((name) => !isTests(name));
  const prompts = yamlFiles(names, (name) => found(folder, `prompts/${name}`, 'prompt'));
  const named = texts.filter(isPartial).sort();
  return {
    files: prompts.filter(({ id }) => ID.test(id)),
    partials: named.map((name) => ({ name: name.replace(/\.txt$/, ''), path: join(partialFolder, name) })),
    diagnostics: [
      ...prompts.filter(({ id }) => !ID.test(id)).map(({ path }) => aboutFile(path, BAD_ID)),
      ...listed.names
        .filter((name) => looksYaml(name) && !isYaml(name))
        .map((name) => aboutFile(join(own, name), renamed(name), 'warning')),
      ...texts
        .filter((name) => !isPartial(name))
        .map((name) => aboutFile(join(partialFolder, name), NOT_PARTIAL, 'warning')),
      ...below,
      ...('problem' in partials ? [notListed(partialFolder, partials)] : []),
    ],
  };
}

const isPartial = (name: string): boolean => name.endsWith('.txt') && ID.test(name.slice(0, -'.txt'.length));
const NOT_PARTIAL = 'this file is ignored; partials are named NAME.txt, with letters, digits, `.`, `_` and `-`';

const BAD_ID = 'the file name is the id requests use: letters, digits, `.`, `_` and `-`, at most 64';
const renamed = (name: string): string => `this file is ignored: rename it to ${name.replace(/\.ya?ml$/i, '.yaml')}`;
const NOT_TESTS = 'this file is ignored; test files end in .test.yaml';
/** For `X.Test.yaml`, which could be meant as a test file or as a config. */
const TEST_ID = 'the id of a gateway config must not end in `.test`; test files end in .test.yaml, in lower case';

/** `gateway/x.test.yaml` is never the config `x.test`. */
const isId = (id: string): boolean => ID.test(id) && !/\.test$/i.test(id);

const TESTS = '.test.yaml';

const isYaml = (name: string): boolean => name.endsWith('.yaml') && !name.startsWith('.');
const looksYaml = (name: string): boolean => /\.ya?ml$/i.test(name) && !name.startsWith('.');

const yamlFiles = (names: readonly string[], find: (name: string) => FoundFile): readonly FoundFile[] =>
  names.filter(isYaml).sort().map(find);

const found = (folder: string, name: string, kind: SchemaName): FoundFile => ({
  kind,
  name,
  path: join(folder, name),
  id: name.slice(name.lastIndexOf('/') + 1).replace(kind === 'test' ? /\.test\.yaml$/ : /\.yaml$/, ''),
});

function ignored(folder: string, name: string): Diagnostic {
  const suggestion = nearest(name, TOP_LEVEL.keys());
  const moved = `this file is ignored: a gateway config belongs in gateway/${name.replace(/\.ya?ml$/i, '.yaml')}`;
  const diagnostic = aboutFile(join(folder, name), moved, 'warning');
  return suggestion === undefined ? diagnostic : { ...diagnostic, message: 'this file is ignored', suggestion };
}

const MAX_DEPTH = 3;

/** YAML files in folders of a folder, which are not read. Names that begin with a dot belong to editors and Kubernetes. */
async function yamlBelow(
  folder: string,
  listed: FolderRead,
  files: SettingsFiles,
  depth = MAX_DEPTH,
): Promise<readonly Diagnostic[]> {
  const own = 'folders' in listed && depth > 0 ? listed.folders.filter((name) => !/^\.|^partials$/.test(name)) : [];
  const below = own.map(async (name) => {
    const inside = await files.list(join(folder, name));
    const names = 'names' in inside ? inside.names.filter(looksYaml).sort() : [];
    return [
      ...names.map((file) => aboutFile(join(folder, name, file), NOT_IN_FOLDERS, 'warning')),
      ...(await yamlBelow(join(folder, name), inside, files, depth - 1)),
    ];
  });
  return (await Promise.all(below)).flat();
}

const NOT_IN_FOLDERS = 'this file is ignored: files in folders of gateway/ and prompts/ are not read; move it up';

function misnamedFolder(folder: string, name: string): readonly Diagnostic[] {
  const suggestion = READ_FOLDERS.includes(name) ? undefined : nearest(name, READ_FOLDERS);
  if (suggestion === undefined) return [];
  return [{ ...aboutFile(join(folder, name), 'this folder is ignored', 'warning'), suggestion }];
}

const READ_FOLDERS = ['gateway', 'prompts'];

const notListed = (folder: string, read: Exclude<FolderRead, { names: unknown }>): Diagnostic =>
  aboutFile(
    folder,
    'problem' in read
      ? `this ${read.problem}`
      : 'there is no such folder; `gatehouse init DIR` writes one, --configs DIR selects another',
  );
