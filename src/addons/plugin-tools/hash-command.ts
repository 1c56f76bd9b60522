import { resolve } from 'node:path';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { readPluginFiles } from '../../core/kernel/outside/plugin-files.ts';
import type { Output } from '../../core/commands/terminal/output.ts';

/** `gatehouse plugin hash`. Exit code 1: the file cannot be read. */
export function hashCommand(path: string, { out, err }: Output): 0 | 1 {
  try {
    const { digests, integrity } = readPluginFiles(resolve(path));
    const paths = [...digests.keys()];
    out(`${integrity}\n`);
    if (paths.length > 1) err(`of ${paths.length} files: ${paths.join(', ')}\n`);
    return 0;
  } catch (error) {
    err(`gatehouse: ${messageOf(error)}\n`);
    return 1;
  }
}
