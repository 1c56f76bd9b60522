import { spawnSync } from 'node:child_process';
import { addOns } from '../../src/addons/index.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';

/**
 * Fills Node's compile cache with the threads of add-ons before the first test. Without it each thread strips types with WebAssembly, and V8
 * 13.6 can crash the process when such a thread ends (`src/core/process/compiled-code.ts`): one run of four failed.
 */
export default function fillCompileCache(): void {
  process.env['NODE_COMPILE_CACHE'] ??= packageFile('.cache/compiled');
  for (const thread of addOns.flatMap(({ threads = [] }) => threads)) {
    // Outside of a thread the module only loads.
    const { status, stderr } = spawnSync(process.execPath, [packageFile(`${thread}.ts`)], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the thread ${thread} does not load: ${stderr}`);
  }
}
