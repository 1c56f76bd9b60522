/**
 * Builds the documentation site into docs/site/dist and checks it: `npm run docs:build`. VitePress is installed from a lockfile of
 * its own, in a folder that other tools do not read.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkSite } from './check.ts';
import { sidebarOf, stagedPages } from './pages.ts';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');
const OUTPUT = join(HERE, 'dist');
const INSTALLED = join(ROOT, 'node_modules/.cache/gatehouse-docs-site');
const STAMP = join(INSTALLED, 'installed-lock.json');

function install(): void {
  const lock = readFileSync(join(HERE, 'package-lock.json'), 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return;
  mkdirSync(INSTALLED, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(HERE, name), join(INSTALLED, name));
  // No script of a package runs: esbuild's binary is a package of its own.
  // Not `npm ci`, which refuses a lockfile without the optional packages of other systems. A registry may lack these.
  execFileSync('npm', ['install', '--ignore-scripts', '--prefer-offline'], { cwd: INSTALLED, stdio: 'inherit' });
  writeFileSync(STAMP, lock);
}

/** The pages at their places in the site, and the files that they link to. */
function stage(): void {
  for (const part of ['pages', '.vitepress']) rmSync(join(INSTALLED, part), { recursive: true, force: true });
  cpSync(join(HERE, 'vitepress'), join(INSTALLED, '.vitepress'), { recursive: true });
  const { pages, files } = stagedPages(ROOT);
  // Otherwise esbuild reads that of the repository, which it does not know.
  write(join(INSTALLED, 'tsconfig.json'), '{}');
  write(join(INSTALLED, '.vitepress/sidebar.json'), JSON.stringify(sidebarOf(pages.get('index.md')!)));
  for (const [page, text] of pages) write(join(INSTALLED, 'pages', page), text);
  for (const file of files) write(join(INSTALLED, 'pages/public/files', file), readFileSync(join(ROOT, file), 'utf8'));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

install();
stage();
rmSync(OUTPUT, { recursive: true, force: true });
const vitepress = join(INSTALLED, 'node_modules/vitepress/bin/vitepress.js');
execFileSync(process.execPath, [vitepress, 'build', INSTALLED, '--outDir', OUTPUT], {
  cwd: INSTALLED,
  stdio: 'inherit',
});
await checkSite(OUTPUT, INSTALLED);
