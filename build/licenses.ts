import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** For packages under the MIT licence that ship without its text. */
const MIT = readFileSync(join(import.meta.dirname, '../NOTICE'), 'utf8')
  .split('The MIT licence:')[1]!
  .trim();

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
}

/** The licences of the packages from which these modules are, as one text. */
export function licenses(modules: readonly string[]): string {
  const folders = [...new Set(modules.filter((id) => id.includes('/node_modules/')).map(packageOf))];
  const parts = folders.map((folder) => {
    const { name = '', version = '', license = '' } = manifestOf(folder);
    const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file));
    const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim());
    if (texts.length === 0 && license !== 'MIT') throw new Error(`${name} ${version} has no licence file`);
    return [`${name} ${version} (${license})`, ...(texts.length > 0 ? texts : [MIT])].join('\n\n');
  });
  return `Gatehouse's dist/ holds code of these packages.\n\n${parts.toSorted().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The nearest folder with a package.json that names a package: some packages have others that only set the module type. */
function packageOf(module: string): string {
  let folder = dirname(module.replace(/^\0/, ''));
  while (!existsSync(join(folder, 'package.json')) || manifestOf(folder).version === undefined)
    folder = dirname(folder);
  return folder;
}
