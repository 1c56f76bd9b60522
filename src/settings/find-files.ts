import { join } from 'node:path';
import { nearest } from '../plugin/index.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { FolderRead, SettingsFiles } from './files.ts';
import type { SchemaName } from './schema-files.ts';

/** A file of the settings folder that is to be read. */
export interface FoundFile {
  readonly kind: SchemaName;
  /** Name inside the folder: `catalog.yaml`, `gateway/prod.yaml`. */
  readonly name: string;
  readonly path: string;
  /** Of a gateway config: its file name without `.yaml`. */
  readonly id: string;
}

const TOP_LEVEL = ['server.yaml', 'catalog.yaml', 'keys.yaml'];
/** All of server.yaml has defaults. Who may call, and what may be called, has none. */
const REQUIRED = ['catalog.yaml', 'keys.yaml'];
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export async function findSettingsFiles(
  folder: string,
  files: SettingsFiles,
): Promise<{ folderExists: boolean; files: readonly FoundFile[]; diagnostics: readonly Diagnostic[] }> {
  const listed = await files.list(folder);
  if (!('names' in listed)) return { folderExists: false, files: [], diagnostics: [notListed(folder, listed)] };
  const { names } = listed;
  const gatewayFolder = join(folder, 'gateway');
  const gateway = await files.list(gatewayFolder);
  const gatewayNames = 'names' in gateway ? gateway.names : [];
  const top = TOP_LEVEL.filter((name) => names.includes(name)).map((name) => found(folder, name, kindOf(name)));
  const configs = gatewayNames
    .filter(isYaml)
    .sort()
    .map((name) => found(folder, `gateway/${name}`, 'gateway'));
  return {
    folderExists: true,
    files: [...top, ...configs.filter(({ id }) => ID.test(id))],
    diagnostics: [
      ...REQUIRED.filter((name) => !names.includes(name)).map((name) =>
        about(join(folder, name), 'this file is missing'),
      ),
      ...names.filter((name) => looksYaml(name) && !TOP_LEVEL.includes(name)).map((name) => ignored(folder, name)),
      ...('problem' in gateway ? [notListed(gatewayFolder, gateway)] : []),
      ...configs.filter(({ id }) => !ID.test(id)).map(({ path }) => about(path, BAD_ID)),
      ...gatewayNames
        .filter((name) => looksYaml(name) && !isYaml(name))
        .map((name) => about(join(gatewayFolder, name), NOT_YAML, 'warning')),
    ],
  };
}

const BAD_ID = 'the file name is the id requests use: letters, digits, `.`, `_` and `-`, at most 64';
const NOT_YAML = 'this file is ignored; gateway configs end in .yaml';

const isYaml = (name: string): boolean => name.endsWith('.yaml') && !name.startsWith('.');
const looksYaml = (name: string): boolean => /\.ya?ml$/i.test(name) && !name.startsWith('.');

function found(folder: string, name: string, kind: SchemaName): FoundFile {
  return { kind, name, path: join(folder, name), id: name.slice(name.lastIndexOf('/') + 1).replace(/\.yaml$/, '') };
}

function kindOf(name: string): SchemaName {
  if (name === 'server.yaml') return 'server';
  return name === 'catalog.yaml' ? 'catalog' : 'keys';
}

function ignored(folder: string, name: string): Diagnostic {
  const suggestion = nearest(name, TOP_LEVEL);
  const diagnostic = about(join(folder, name), 'this file is ignored; gateway configs stand in gateway/', 'warning');
  return suggestion === undefined ? diagnostic : { ...diagnostic, message: 'this file is ignored', suggestion };
}

function notListed(folder: string, read: Exclude<FolderRead, { names: unknown }>): Diagnostic {
  return about(
    folder,
    'problem' in read ? `this ${read.problem}` : 'there is no such folder; --configs DIR names another',
  );
}

function about(file: string, message: string, severity: Diagnostic['severity'] = 'error'): Diagnostic {
  return { file, line: 1, column: 1, severity, message };
}
