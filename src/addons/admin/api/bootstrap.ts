import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BootRow } from '../../../core/ports/boots.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { digestOf } from '../../../core/settings/compile/api-keys.ts';
import { createToken, isSame } from './secrets.ts';

const NAME = 'bootstrap-token';
const CLAIM = 'bootstrap token';
/** Until the first admin token is there. */
const LONG_MS = 365 * 86_400_000;
/** The variable of the environment with which an operator chooses the token of all gateways. */
const VARIABLE = 'GATEHOUSE_BOOTSTRAP_TOKEN';

interface BootstrapSetup {
  /** `state.dir`. Undefined: there is none, and so no token but that of the environment. */
  readonly dir: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: () => Pick<StateStore, 'boots' | 'claims'> | undefined;
  readonly self: () => BootRow | undefined;
}

type Offer = { readonly file: string } | { readonly variable: string } | { readonly replica: string };

/**
 * The token with which the first admin token is created: a file that only the owner of its folder can read. The store has its digest, so
 * that each gateway on the store takes the one token. It is used from loopback, for that one call, while the store has no valid admin token.
 */
export class Bootstrap {
  readonly #setup: BootstrapSetup;
  readonly #path: string | undefined;

  constructor(setup: BootstrapSetup) {
    this.#setup = setup;
    this.#path = setup.dir === undefined ? undefined : join(setup.dir, NAME);
  }

  /** Writes a token, unless another gateway that lives has one. Undefined: there is no folder for it. Throws for a variable of another form. */
  async offer(): Promise<Offer | undefined> {
    if (this.#given() !== undefined) return { variable: VARIABLE };
    const store = this.#setup.store();
    const self = this.#setup.self();
    if (this.#path === undefined || !store || !self) return undefined;
    const found = await store.claims.find(CLAIM);
    const living = found ? await store.boots.live() : [];
    if (found && living.some(({ id }) => id === found.holder))
      return { replica: found.text.slice(found.text.indexOf(' ') + 1) };
    if (found) await store.claims.end(CLAIM, found.holder);
    this.#remove();
    const { text } = createToken('ghb_');
    writeFileSync(this.#path, `${text}\n`, { mode: 0o600, flag: 'wx' });
    const wish = { name: CLAIM, holder: self.id, text: `${digestOf(text)} ${self.host}`, ms: LONG_MS };
    const claim = await store.claims.take(wish);
    if (claim.holder === self.id) return { file: this.#path };
    // Another gateway has been faster.
    this.#remove();
    return { replica: claim.text.slice(claim.text.indexOf(' ') + 1) };
  }

  async accepts(sent: string): Promise<boolean> {
    const given = this.#given();
    if (given !== undefined) return isSame(sent, given);
    const claim = await this.#setup.store()?.claims.find(CLAIM);
    return claim !== undefined && isSame(digestOf(sent), claim.text.split(' ', 1)[0]!);
  }

  /** The store has an admin token. */
  async end(): Promise<void> {
    this.#remove();
    await this.#setup.store()?.claims.end(CLAIM);
  }

  #given(): string | undefined {
    const given = this.#setup.env[VARIABLE];
    if (given === undefined || given === '') return undefined;
    if (!/^ghb_[\w-]{32,200}$/.test(given))
      throw new Error(
        `${VARIABLE} must be ghb_ and at least 32 letters and digits: \`echo ghb_$(openssl rand -hex 32)\` makes one`,
      );
    return given;
  }

  #remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }
}
