import { lstat, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { generateKey } from '../settings/compile/api-keys.ts';
import { SCHEMA_NAMES } from '../settings/schema/schema-files.ts';
import { appendEntry } from './keys/edit-keys.ts';
import { calledAs, shellWord, type Output } from './terminal/output.ts';
import type { Environment } from '../settings/values/references.ts';
import { samples } from './samples.generated.ts';
import { schemaText } from './schema.ts';

/**
 * Editors find the schema through the first line of a file. Settings may be anywhere, also without network: the schemas
 * are copied beside them. The loader ignores names that begin with a dot.
 */
const SCHEMAS = '.schemas';

/** `gatehouse init`. Exit code 0: the folder was created; 1: nothing was created. */
export async function initCommand(
  dir: string,
  { out, err, env = {} }: Output & { readonly env?: Environment },
): Promise<0 | 1> {
  const { key, digest } = generateKey();
  const files = newFiles(digest);
  const paths = Object.keys(files).map((name) => join(dir, name));
  const present = await presentOf(paths);
  if (present.length > 0) {
    err(`gatehouse: nothing was created, these files already exist:\n${present.map((path) => `  ${path}\n`).join('')}`);
    return 1;
  }
  const problem = await writeAll(dir, files);
  if (problem !== undefined) {
    err(`gatehouse: nothing was created: ${problem}\n`);
    return 1;
  }
  out(explain(dir, { key, names: Object.keys(files), command: calledAs(env) }));
  return 0;
}

/** The text of every new file by its name in the folder. */
function newFiles(digest: string): Readonly<Record<string, string>> {
  const settings = Object.entries(samples).map(([name, text]) => {
    const here = name === 'keys.yaml' ? withFirstKey(text, digest) : text;
    return [name, here.replace(/^(# yaml-language-server: \$schema=).*\/([a-z]+\.json)$/m, `$1${schemaPath(name)}/$2`)];
  });
  const schemas = SCHEMA_NAMES.map((name) => [`${SCHEMAS}/${name}.json`, schemaText(name)]);
  return Object.fromEntries([...settings, ...schemas]);
}

const schemaPath = (name: string): string => relative(dirname(name), SCHEMAS);

const ABOUT_KEY = `Created by \`gatehouse init\`, which printed the key; this is only its digest. The key has no limits: restrict it with
\`providers\`, \`models\`, \`networks\` and \`expires_at\`.`;

function withFirstKey(text: string, digest: string): string {
  const edit = appendEntry(text, { id: 'first', digest }, ABOUT_KEY);
  if ('problem' in edit) throw new Error(`The sample keys.yaml: ${edit.problem}.`);
  return edit.text;
}

async function presentOf(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    // Finds dangling links too: writing would follow them.
    paths.map((path) =>
      lstat(path).then(
        () => path,
        () => undefined,
      ),
    ),
  );
  return found.filter((path) => path !== undefined);
}

/** Writes all files or none: a partial folder would block the next attempt. */
async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<string | undefined> {
  const made: { readonly path: string; readonly folder: boolean }[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(dir, name);
      for (const folder of await makeFolder(dirname(path))) made.push({ path: folder, folder: true });
      // wx: does not overwrite a file that another process creates at this moment.
      await writeFile(path, text, { flag: 'wx' });
      made.push({ path, folder: false });
    }
    return undefined;
  } catch (error) {
    for (const { path, folder } of made.toReversed())
      // A folder that is no longer empty stays.
      await (folder ? rmdir(path).catch(() => {}) : rm(path, { force: true }));
    if (!(error instanceof Error) || !('code' in error)) throw error;
    return error.message;
  }
}

/** Creates a folder. Returns the folders that did not exist, the outermost first. */
async function makeFolder(folder: string): Promise<readonly string[]> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return [];
  const made = [resolve(folder)];
  while (made[0] !== resolve(first)) made.unshift(dirname(made[0]!));
  return made;
}

interface Created {
  readonly key: string;
  readonly names: readonly string[];
  readonly command: string;
}

function explain(dir: string, { key, names, command }: Created): string {
  const shown = names.filter((name) => !name.startsWith(SCHEMAS)).map((name) => `  ${join(dir, name)}\n`);
  const flag = dir === 'configs' ? '' : ` --configs ${shellWord(dir)}`;
  return `Created a settings folder:

${shown.join('')}  ${join(dir, SCHEMAS)}/ (schemas for completion and checks in your editor)

A gateway key, shown only once; keys.yaml has its digest under the id \`first\`:

  ${key}

Start the gateway, which prints a curl line to paste:

  ${command} serve${flag}

`;
}
