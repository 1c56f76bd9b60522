import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { writeNewFiles } from '../../core/commands/new-files.ts';
import { calledAs, type Output } from '../../core/commands/terminal/output.ts';
import { packageFile } from '../../core/kernel/package-root.ts';
import { version } from '../../core/kernel/version.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { EXAMPLES, type Kind } from './kind.ts';

interface NewPlugin {
  readonly name: string;
  readonly kind: Kind;
  readonly js: boolean;
}

/** `gatehouse plugin new`. Exit code 0: the folder was written; 1: it was there, or cannot be written. */
export async function newPlugin(
  plugin: NewPlugin,
  { out, err, env }: Output & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<0 | 1> {
  const { name, js } = plugin;
  const files = filesOf(plugin);
  const problem = await mkdir(name).then(() => writeNewFiles(name, files), messageOf);
  if (problem !== undefined) {
    err(`gatehouse: cannot write ${name}: ${problem}\n`);
    return 1;
  }
  const command = calledAs(env);
  out(`Written to ${name}/. Next:

  node --test ${name}/index.test.${js ? 'js' : 'ts'}
  ${command} plugin check ${name}${'options.json' in files ? ` --options ${name}/options.json` : ''}
  ${command} test ${name}/settings
  ${command} serve --configs ${name}/settings

`);
  return 0;
}

/** The text of every file by its path in the folder of the plugin. `/*:` begins a comment with what TypeScript needs more. */
export function filesOf({ name, kind, js }: NewPlugin): Readonly<Record<string, string>> {
  const example = EXAMPLES[kind];
  const folders = [...(example ? [`docs/plugins/examples/${example}`] : []), `${TEXTS}/all`, `${TEXTS}/${kind}`];
  const texts = Object.assign({}, ...folders.map(textsIn)) as Readonly<Record<string, string>>;
  const [, does = ''] = /\/\*\* (.*?) \*\//s.exec(texts['index.js'] ?? '') ?? [];
  const written = (text: string): string =>
    (js ? text : text.replaceAll(/\b(index(?:\.test)?)\.js\b/g, '$1.ts'))
      .replaceAll(/ ?\/\*:(.*?)\*\//g, js ? '' : '$1')
      .replace('DESCRIPTION', does)
      .replace('VERSION', version().version)
      .replace(' OPTIONS', 'options.json' in texts ? ' --options my-plugin/options.json' : '')
      .replace(`name: '${example ?? 'my-plugin'}'`, `name: '${name}'`)
      .replaceAll('my-plugin', name);
  return Object.fromEntries(Object.entries(texts).map((entry) => entry.map(written)));
}

const TEXTS = 'src/addons/plugin-tools/kinds';

function textsIn(path: string): Readonly<Record<string, string>> {
  const folder = packageFile(path);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const places = files.map((file) => join(file.parentPath, file.name));
  return Object.fromEntries(
    places.map((place) => [relative(folder, place).replaceAll('\\', '/'), readFileSync(place, 'utf8')]),
  );
}
