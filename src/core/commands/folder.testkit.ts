import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Output } from './terminal/output.ts';

/** A folder on disk that is deleted after the test. */
export class TestFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'gatehouse-cli-'));

  write(name: string, text: string): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  read = (name: string): string => readFileSync(join(this.path, name), 'utf8');

  /** All its entries, folders with a trailing slash. */
  list(): readonly string[] {
    return readdirSync(this.path, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name).slice(this.path.length + 1) + (entry.isDirectory() ? '/' : ''))
      .sort();
  }

  remove = (): void => rmSync(this.path, { recursive: true, force: true });
}

/** Collects the output of a command. */
export function keepOutput(): Output & { readonly printed: { out: string; err: string } } {
  const printed = { out: '', err: '' };
  return { printed, out: (text) => void (printed.out += text), err: (text) => void (printed.err += text) };
}
