import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json: the repository when Node runs the sources, the installed package when it runs `dist/`. */
function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('Gatehouse cannot find its package.json.');
    folder = parent;
  }
  return folder;
}

const root = findRoot();

/** Absolute path of a file that ships with the package, such as `schemas/server.json`. */
export const packageFile = (path: string): string => join(root, path);

const RUNS_SOURCES = import.meta.url.endsWith('.ts');

/** Absolute path of a module such as `src/plugin/index`: its source, or in the installed package the file built from it. */
export const moduleFile = (path: string): string => packageFile(RUNS_SOURCES ? `${path}.ts` : `dist/${path}.js`);
