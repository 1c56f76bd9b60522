import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';

/** Spools that have been replayed and come back, as from a backup: a second replay changes nothing. */
export class SpoolCopies {
  readonly #spool: string;
  readonly #copies: string;
  restored = 0;

  constructor(spool: string, copies: string) {
    this.#spool = spool;
    this.#copies = copies;
  }

  copy(): void {
    if (existsSync(this.#spool)) cpSync(this.#spool, this.#copies, { recursive: true });
  }

  restore(): void {
    if (!existsSync(this.#copies)) return;
    this.restored += readdirSync(this.#copies).length;
    cpSync(this.#copies, this.#spool, { recursive: true });
    rmSync(this.#copies, { recursive: true });
  }
}
