/** Writes the code that is published: `npm run build`, or `node build/main.ts FOLDER`. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { buildConsole } from './console.ts';

const root = join(import.meta.dirname, '..');
const [folder = join(root, 'dist')] = process.argv.slice(2);

rmSync(folder, { recursive: true, force: true });
// The types of the plugin API.
const types = ['-p', 'tsconfig.build.json', '--outDir', folder];
execFileSync(join(root, 'node_modules/.bin/tsc'), types, { cwd: root, stdio: 'inherit' });
await bundle(root, folder);
await buildConsole(root, join(folder, 'console'));
