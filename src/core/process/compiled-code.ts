import { enableCompileCache, flushCompileCache } from 'node:module';
import { packageFile } from '../kernel/package-root.ts';

/**
 * Enables Node's compile cache, which halves the time of a short command. The cache is inside the package only, so that
 * only a user who can change the gateway's own code can change the cached code. If this process may not write there,
 * there is no cache and no warning. Node separates the cache by version and user, and compares each file's text before
 * it uses an entry. NODE_COMPILE_CACHE sets another folder, NODE_DISABLE_COMPILE_CACHE=1 disables it.
 *
 * The threads of this process find the cache by the variable only. From source it keeps WebAssembly out of them: Node
 * strips types with it, and V8 13.6 can crash the process when such a thread ends (https://github.com/nodejs/node/issues/64500;
 * 2 of 480 threads of the store, with the cache none of 480).
 */
export function keepCompiledCode(): void {
  const folder = packageFile('.cache/compiled');
  enableCompileCache(folder);
  process.env['NODE_COMPILE_CACHE'] ??= folder;
}

/** Writes the cache now, which Node does at the exit: a service manager may kill the process before the drain is over. Takes 4 ms. */
export const writeCompiledCode = (): void => flushCompileCache();
