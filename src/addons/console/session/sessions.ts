import { createHash, randomBytes } from 'node:crypto';
import type { Sessions, SignedIn } from '../../../core/process/console-port.ts';
import type { Claim, Claims } from '../../../core/ports/claims.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import type { Clock } from '../../../plugin/index.ts';

const LONGEST_MS = 8 * 3_600_000;
const IDLE_MS = 3_600_000;
/** The use of a session is written once in so long. */
const RENEW_MS = 60_000;
/** The session that was used longest ago ends first. */
const MAX_SESSIONS = 1_000;

interface Session extends SignedIn {
  readonly csrf: string;
  readonly expiresAt: number;
  usedAt: number;
}

type SessionStore = { readonly store: Pick<StateStore, 'claims'> | undefined };

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
const secret = (): string => randomBytes(32).toString('base64url');
const nameOf = (id: string): string => `session ${id}`;

/**
 * Sessions by digests of their halves: rows of the state store, so that each gateway on it knows them. Without a store, and while it does
 * not answer, those of this process are in its memory.
 */
export class BrowserSessions implements Sessions {
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #state: SessionStore | undefined;
  /** By the digest of the cookie; the one that was used last is last. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Pick<Clock, 'wall'>, state?: SessionStore) {
    this.#clock = clock;
    this.#state = state;
  }

  async create({ tokenDigest }: SignedIn): ReturnType<Sessions['create']> {
    const [cookie, csrf, now] = [secret(), secret(), this.#clock.wall()];
    const [id, session] = [
      digest(cookie),
      { tokenDigest, csrf: digest(csrf), expiresAt: now + LONGEST_MS, usedAt: now },
    ];
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    await this.#ask((claims) => claims.take(claimOf(id, session, now)));
    return { cookie, csrf, expiresAt: session.expiresAt };
  }

  async find(cookie: string, csrf: string): ReturnType<Sessions['find']> {
    const id = digest(cookie);
    const asked = await this.#ask(async (claims) => ({ claim: await claims.find(nameOf(id)), claims }));
    const session = asked ? sessionOf(asked.claim) : this.#sessions.get(id);
    // Digests are compared: how long that takes says nothing about the texts.
    if (session?.csrf !== digest(csrf)) return undefined;
    const now = this.#clock.wall();
    this.#sessions.delete(id);
    if (now >= session.expiresAt || now - session.usedAt >= IDLE_MS) return undefined;
    if (asked && now - session.usedAt >= RENEW_MS) await this.#ask((claims) => claims.take(claimOf(id, session, now)));
    this.#sessions.set(id, { ...session, usedAt: now });
    return { tokenDigest: session.tokenDigest, expiresAt: session.expiresAt };
  }

  async end(cookie: string): Promise<void> {
    this.#sessions.delete(digest(cookie));
    await this.#ask((claims) => claims.end(nameOf(digest(cookie))));
  }

  /** Undefined: there is no store, or it does not answer. */
  async #ask<Answer>(question: (claims: Claims) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      const store = this.#state?.store;
      return store && (await question(store.claims));
    } catch {
      return undefined;
    }
  }
}

const claimOf = (id: string, { csrf, tokenDigest, expiresAt }: Session, now: number) => ({
  name: nameOf(id),
  holder: csrf,
  text: JSON.stringify([tokenDigest, expiresAt, now]),
  ms: Math.min(IDLE_MS, expiresAt - now),
});

function sessionOf(claim: Claim | undefined): Session | undefined {
  if (!claim) return undefined;
  const [tokenDigest, expiresAt, usedAt] = JSON.parse(claim.text) as [string, number, number];
  return { csrf: claim.holder, tokenDigest, expiresAt, usedAt };
}
