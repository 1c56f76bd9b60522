import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { packageFile } from '../../src/core/kernel/package-root.ts';

/**
 * Fills Node's compile cache with the store's thread before the first test. Without it each thread strips types with WebAssembly, and V8
 * 13.6 can crash the process when such a thread ends (`src/core/process/compiled-code.ts`): one run of four failed.
 */
export default function fillCompileCache(): void {
  process.env['NODE_COMPILE_CACHE'] ??= packageFile('.cache/compiled');
  // Outside of a thread the module only loads.
  const thread = packageFile('src/addons/budgets/store/sqlite/thread.ts');
  // A build without budgets has no such thread.
  if (!existsSync(thread)) return;
  const { status, stderr } = spawnSync(process.execPath, [thread], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the module of the store's thread does not load: ${stderr}`);
}
