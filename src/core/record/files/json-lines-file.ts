import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of whole lines. */
export class JsonLinesFile {
  readonly #handle: FileHandle;
  #bytes = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Creates the folder, and a file that did not exist. Records name keys and callers: only the gateway's user reads them. */
  static async open(dir: string, name: string): Promise<JsonLinesFile> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return new JsonLinesFile(await open(join(dir, name), 'wx', 0o600));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends whole lines. If that fails, the file ends with the lines before. */
  async append(lines: Buffer): Promise<void> {
    try {
      await this.#handle.appendFile(lines);
    } catch (error) {
      // A full disk may have taken a part of a line.
      await this.#handle.truncate(this.#bytes).catch(() => {});
      throw error;
    }
    this.#bytes += lines.length;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
