import { nearest } from '../../kernel/index.ts';
import { removeEntry } from './edit-keys.ts';
import type { Output } from '../terminal/output.ts';
import { readKeys, type ReadKeys, refuse, whatNext, writeKeys, type KeysCommandOptions } from './keys-file.ts';

/** `gatehouse keys revoke`. Exit code 0: the entry was removed; 1: nothing was changed; 2: no such folder. */
export async function revokeKeyCommand(id: string, options: KeysCommandOptions): Promise<0 | 1 | 2> {
  const { dir, env, now = Date.now(), out } = options;
  const file = await readKeys(dir, { env, now });
  if ('diagnostics' in file) return refuse(file, options);
  const index = indexOfKey(file, id, options);
  if (index === -1) return 1;
  if (!(await writeKeys(file, removeEntry(file.text, index), options))) return 1;
  out(`Removed \`${id}\` from ${file.path}; a comment above it stays.\n${whatNext(file, dir)}`);
  return 0;
}

/** The index of a key's entry. -1: there is none, and an error with the nearest id is printed. */
export function indexOfKey({ keys, path }: ReadKeys, id: string, { err }: Output): number {
  const ids = keys.map((key) => key.id);
  const index = ids.indexOf(id);
  if (index !== -1) return index;
  const suggestion = nearest(id, ids);
  const hint = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
  err(`${path} has no key with the id ${JSON.stringify(id)}${hint}\n`);
  return -1;
}
