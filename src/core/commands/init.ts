import { dirname, join, relative } from 'node:path';
import { generateKey } from '../settings/compile/api-keys.ts';
import { SCHEMA_NAMES } from '../settings/schema/schema-files.ts';
import { appendEntry } from './keys/edit-keys.ts';
import { writeNewFiles } from './new-files.ts';
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
  const problem = await writeNewFiles(dir, files);
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

function explain(
  dir: string,
  { key, names, command }: { readonly key: string; readonly names: readonly string[]; readonly command: string },
): string {
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
