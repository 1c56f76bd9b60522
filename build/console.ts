import { globSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const PAGE = 'src/addons/console/ui';

/** The first eight characters of a digest: a changed file has another name, so browsers may keep each for ever. */
const hashOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/**
 * Writes the console's page: `index.html`, and files whose names have a hash of their content. Two builds of the same sources are
 * equal, byte for byte.
 */
export async function buildConsole(root: string, folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`;
  try {
    await writePage(root, fresh);
    // At once: a gateway that serves the page before has all of its files, or all of this one.
    rmSync(folder, { recursive: true, force: true });
    await rename(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function writePage(root: string, folder: string): Promise<void> {
  const source = join(root, PAGE);
  await mkdir(folder, { recursive: true });
  const build = await rolldown({
    cwd: root,
    platform: 'browser',
    input: { main: join(source, 'main.tsx') },
    tsconfig: join(source, 'tsconfig.json'),
    transform: { target: 'es2022' },
  });
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    minify: true,
    comments: false,
  });
  await build.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const main = chunks.find(({ isEntry }) => isEntry);
  if (!main) throw new Error('the console has no entry');
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const style = styleOf(root);
  const icon = readFileSync(join(source, 'icon.svg'), 'utf8').trim();
  const [styleName, iconName] = [`style-${hashOf(style)}.css`, `icon-${hashOf(icon)}.svg`];
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('main.tsx', main.fileName)
    .replace('style.css', styleName)
    .replace('icon.svg', iconName);
  await writeFile(join(folder, styleName), style);
  await writeFile(join(folder, iconName), icon);
  await writeFile(join(folder, 'licenses.txt'), licencesOf(modules));
  await writeFile(join(folder, 'index.html'), page);
}

/** All styles as one file. Those of tokens.css come first: the others refer to them. */
function styleOf(root: string): string {
  const own = globSync(`${PAGE}/**/*.css`, { cwd: root }).toSorted(
    (one, other) =>
      Number(!one.endsWith('/tokens.css')) - Number(!other.endsWith('/tokens.css')) || (one < other ? -1 : 1),
  );
  return [...own, 'node_modules/uplot/dist/uPlot.min.css']
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(';}', '}')
    .trim();
}

/** Code of packages is in the page, and so are their licences. */
function licencesOf(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []));
  return [...folders]
    .toSorted()
    .map((folder) => {
      // The manifest of a package: its name, version and licence are texts.
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        string
      >;
      const file = globSync('{LICENSE,LICENCE,license,UNLICENSE}*', { cwd: folder })[0];
      return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`;
    })
    .join('\n----\n\n');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  await buildConsole(root, process.argv[2] ?? join(root, 'dist/console'));
}
