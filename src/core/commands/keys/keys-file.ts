import { dirname, isAbsolute, join } from 'node:path';
import { visit } from 'yaml';
import type { GatewayKey, KeysFile, Reload } from '../../../../schemas/types.generated.ts';
import type { Diagnostic } from '../../settings/source/diagnostic.ts';
import { diskFiles, type SettingsFiles } from '../../settings/source/files.ts';
import { loadSettings } from '../../settings/read/load.ts';
import { readSettingsFile } from '../../settings/read/read-file.ts';
import { isReference, parseReferences, type Reference, type Environment } from '../../settings/values/references.ts';
import { packageSchemas } from '../../settings/schema/schemas.ts';
import { YamlFile } from '../../settings/source/yaml-file.ts';

interface ReadKeysOptions {
  readonly env: Environment;
  readonly now: number;
  /** Text to read instead of the file on disk: the content after an edit. */
  readonly text?: string;
}

/** A valid keys.yaml. */
export interface ReadKeys {
  readonly path: string;
  readonly text: string;
  readonly keys: readonly GatewayKey[];
  /** The reload settings; undefined if the settings as a whole are invalid. */
  readonly reload: Reload | undefined;
  /** Errors in the other files: with them a running gateway keeps its old settings. */
  readonly elsewhere: readonly Diagnostic[];
}

export interface RefusedKeys {
  readonly diagnostics: readonly Diagnostic[];
  readonly folderExists: boolean;
}

/**
 * Reads keys.yaml in its folder, with the checks of `gatehouse validate`. The variables and files it refers to need not
 * exist: keys are listed and revoked from shells without the gateway's environment and secrets.
 */
export async function readKeys(dir: string, options: ReadKeysOptions): Promise<ReadKeys | RefusedKeys> {
  const path = join(dir, 'keys.yaml');
  const content = options.text === undefined ? await diskFiles.read(path) : { text: options.text };
  const text = 'text' in content ? content.text : undefined;
  const { env, files } = withFakes({ path, text }, options.env);
  const { now } = options;
  const loaded = await loadSettings(dir, { env, files, now });
  const found = { kind: 'keys', name: 'keys.yaml', path, id: 'keys' } as const;
  const { value } = await readSettingsFile(found, { env, files, schemas: packageSchemas() });
  const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error');
  const own = errors.filter(({ file }) => file === path || !loaded.folderExists);
  if (own.length > 0 || value === undefined || text === undefined)
    return { diagnostics: own, folderExists: loaded.folderExists };
  return {
    path,
    text,
    // ajv has just validated the value against the schema this type is generated from.
    keys: (value as KeysFile).keys,
    reload: loaded.settings && { ...loaded.settings.server.reload },
    elsewhere: errors,
  };
}

interface Source {
  readonly path: string;
  readonly text: string | undefined;
}

/** Gives each variable and file that keys.yaml names and this shell lacks a distinct fake value. */
function withFakes({ path, text }: Source, env: Environment): { env: Environment; files: SettingsFiles } {
  const references = text === undefined ? [] : referencesIn(YamlFile.parse(path, text));
  const variables = references.filter(
    ({ kind, name, fallback }) => kind === 'env' && fallback === undefined && env[name] === undefined,
  );
  const named = references.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  const paths = new Set(named.map((name) => (isAbsolute(name) ? name : join(dirname(path), name))));
  return {
    env: { ...Object.fromEntries(variables.map(({ name }) => [name, `not-known-here:${name}`])), ...known(env) },
    files: {
      list: (folder) => diskFiles.list(folder),
      async read(one) {
        if (one === path && text !== undefined) return { text };
        const content = await diskFiles.read(one);
        return !('text' in content) && paths.has(one) ? { text: `not-known-here:${one}` } : content;
      },
    },
  };
}

const known = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));

function referencesIn({ document }: YamlFile): readonly Reference[] {
  const found: Reference[] = [];
  visit(document, {
    Scalar: (_key, { value }) => {
      if (typeof value === 'string') found.push(...parseReferences(value).filter(isReference));
    },
  });
  return found;
}
