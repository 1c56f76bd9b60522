import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The agents are 1.8 GB: `npm run test:agents` alone installs them, outside the folders that other tools read. */

const HERE = import.meta.dirname;
export const INSTALLED = join(HERE, '../../node_modules/.cache/gatehouse-agents');
const STAMP = join(INSTALLED, 'installed-lock.json');

export function install(): void {
  const lock = readFileSync(join(HERE, 'package-lock.json'), 'utf8');
  mkdirSync(INSTALLED, { recursive: true });
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== lock) {
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(join(HERE, name), join(INSTALLED, name));
    // No script of a package runs: the programs come with the packages of their platform.
    // Not `npm ci`, which refuses a lockfile without the optional packages of other systems. A registry may lack these.
    execFileSync('npm', ['install', '--ignore-scripts', '--prefer-offline'], { cwd: INSTALLED, stdio: 'inherit' });
    writeFileSync(STAMP, lock);
  }
  // Below the installed packages, where Node finds what they import.
  cpSync(join(HERE, 'sdk'), join(INSTALLED, 'sdk'), { recursive: true });
}

export function versionOf(name: string): string {
  const file = join(INSTALLED, 'node_modules', name, 'package.json');
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version: unknown }).version);
}
