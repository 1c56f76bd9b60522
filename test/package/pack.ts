import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';

/** Packs a copy of the repository: two builds at once would write the same `dist/`. Returns the name of the tarball in `into`. */
export function packCopy(copy: string, into: string): string {
  mkdirSync(copy, { recursive: true });
  const { files } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  // `plugins/README.md` and `schemas/*.json` are parts of folders, `!docs/site` is left out of one.
  const packed = files.filter((file) => !file.startsWith('!'));
  const names = new Set(['package.json', ...packed.map((file) => file.split('/')[0]!)]);
  for (const name of names)
    if (name !== 'dist') cpSync(packageFile(name), join(copy, name), { recursive: true, filter: isPublished });
  execFileSync(process.execPath, [packageFile('build/main.ts'), join(copy, 'dist')], { cwd: packageFile('') });
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', into];
  return execFileSync('npm', args, { cwd: copy, encoding: 'utf8' }).trim().split('\n').at(-1)!;
}

const isPublished = (path: string): boolean => !path.endsWith('.ts') && !/docs.site(?:$|[/\\])/.test(path);
