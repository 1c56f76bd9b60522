import { rolldown } from 'rolldown';
import { addOns } from '../src/addons/index.ts';
import { asciiOnly, replacements } from './replacements.ts';

/** The modules that are found by their path; every other module is in a chunk. */
const ENTRIES = [
  // The command line. An old Node runs it to name the version it needs, so it imports nothing before it has looked.
  'src/cli/main',
  // `exports` of package.json, and `moduleFile` of src/core/kernel/package-root.ts.
  'src/plugin/index',
  'src/plugin/testing/index',
  'src/cli/worker',
  'src/cli/job',
  ...addOns.flatMap(({ threads = [] }) => threads),
  // Stack traces show by this file where the gateway calls a plugin: src/core/compose/plugin-owners.ts.
  'src/core/http/chain/watched-link',
];

/**
 * Writes the gateway's own code as a few files; packages stay packages. Chunks carry a hash: a process that runs during an upgrade in
 * place never loads a chunk of the new version.
 */
export async function bundle(root: string, folder: string): Promise<void> {
  const build = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(ENTRIES.map((entry) => [entry, `${root}/${entry}.ts`])),
    plugins: [replacements(root), asciiOnly],
  });
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: false,
    codeSplitting: { groups: [{ name: 'compiled-ahead', test: /compiled-ahead-\d/ }] },
  });
  await build.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const main = chunks.find(({ name }) => name === ENTRIES[0]);
  if (!main || main.imports.length > 0)
    throw new Error(`src/cli/main.js must import nothing statically: ${main?.imports.join(', ')}`);
  // A module of a package would be here without its licence, and unseen by `npm audit`.
  const foreign = chunks.flatMap(({ moduleIds }) => moduleIds.filter((id) => id.includes('node_modules')));
  if (foreign.length > 0) throw new Error(`dist/ must have no code of packages: ${foreign.join(', ')}`);
}
