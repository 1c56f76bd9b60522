import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Credentials and tokens have a few KiB; the bound stops a wrong path (a log, a disk image) from filling the memory. */
const MAX_BYTES = 64 * 1024;

type TextFile = { readonly text: string } | { readonly missing: true } | { readonly problem: string };

/** Reads regular files only (and links to them, as Kubernetes mounts them): opening a pipe could block for ever. */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return { problem: 'is not a regular file' };
      if (stat.size > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` };
      return { text: await file.readFile('utf8') };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    return code === 'ENOENT' || code === 'ENOTDIR' ? { missing: true } : { problem: `cannot be read (${code})` };
  }
}
