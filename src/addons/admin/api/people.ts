import type { AdminIdentity } from './identity.ts';

/** Tokens come and go: those that called last are kept. */
const MOST = 500;

type Seen = Pick<AdminIdentity, 'actor' | 'role' | 'content'> & {
  readonly by: 'token' | 'session' | 'none';
  /** Milliseconds since 1970. */
  readonly at: number;
};

export class People {
  /** By actor, the latest last. */
  readonly #seen = new Map<string, Seen>();

  saw({ actor, role, content, session, secret }: AdminIdentity, at: number): void {
    const by = session !== undefined ? 'session' : secret === undefined ? 'none' : 'token';
    this.#seen.delete(actor.id);
    this.#seen.set(actor.id, { actor, role, content, by, at });
    const [first] = this.#seen.keys();
    if (this.#seen.size > MOST && first !== undefined) this.#seen.delete(first);
  }

  list(): readonly Seen[] {
    return [...this.#seen.values()].toReversed();
  }
}
