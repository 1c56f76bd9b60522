import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createToken, isSame } from './secrets.ts';

const NAME = 'bootstrap-token';

/**
 * The token with which the first admin token is created: a file that only the owner of the store's folder can read. It is used from
 * loopback, for that one call, while the store has no valid admin token.
 */
export class Bootstrap {
  readonly #path: string | undefined;

  /** @param folder of the store; undefined: there is none, and so no bootstrap token */
  constructor(folder: string | undefined) {
    this.#path = folder === undefined ? undefined : join(folder, NAME);
  }

  /** Writes a new token. Returns its path; undefined: there is no folder. */
  offer(): string | undefined {
    if (this.#path === undefined) return undefined;
    rmSync(this.#path, { force: true });
    writeFileSync(this.#path, `${createToken('ghb_').text}\n`, { mode: 0o600, flag: 'wx' });
    return this.#path;
  }

  accepts(sent: string): boolean {
    if (this.#path === undefined) return false;
    try {
      const token = readFileSync(this.#path, 'utf8').trim();
      return token.startsWith('ghb_') && isSame(sent, token);
    } catch {
      return false;
    }
  }

  /** The store has an admin token. */
  end(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }
}
