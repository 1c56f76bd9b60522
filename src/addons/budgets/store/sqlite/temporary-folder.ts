import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { messageOf } from '../../../../core/kernel/outside/thrown.ts';

/** Makes a folder that only this user can read. It is gone when the process exits, unless the process is killed. Throws `StateFailure`. */
export function makeTemporaryFolder(): { readonly path: string; remove(): void } {
  let path: string;
  try {
    path = mkdtempSync(join(tmpdir(), 'gatehouse-state-'));
  } catch (error) {
    // It cannot come later, as a server could: the start is refused.
    throw new StateFailure('invalid', `no temporary folder for the store: ${messageOf(error)}`, { cause: error });
  }
  // At an exit the thread of the store may still write.
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  return { path, remove: () => (process.off('exit', remove), remove()) };
}
