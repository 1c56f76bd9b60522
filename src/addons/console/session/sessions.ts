import { createHash, randomBytes } from 'node:crypto';
import type { Sessions, SignedIn } from '../../../core/process/console-port.ts';
import type { Clock } from '../../../plugin/index.ts';

const LONGEST_MS = 8 * 3_600_000;
const IDLE_MS = 3_600_000;
/** The session that was used longest ago ends first. */
const MAX_SESSIONS = 1_000;

interface Session extends SignedIn {
  readonly csrf: string;
  readonly expiresAt: number;
  usedAt: number;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
const secret = (): string => randomBytes(32).toString('base64url');

/** Sessions in memory, by digests of their halves. A restart of the gateway ends them. */
export class BrowserSessions implements Sessions {
  readonly #clock: Pick<Clock, 'wall'>;
  /** By the digest of the cookie; the one that was used last is last. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Pick<Clock, 'wall'>) {
    this.#clock = clock;
  }

  create({ tokenDigest }: SignedIn): ReturnType<Sessions['create']> {
    const [cookie, csrf, now] = [secret(), secret(), this.#clock.wall()];
    const expiresAt = now + LONGEST_MS;
    this.#sessions.set(digest(cookie), { tokenDigest, csrf: digest(csrf), expiresAt, usedAt: now });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    return { cookie, csrf, expiresAt };
  }

  find(cookie: string, csrf: string): ReturnType<Sessions['find']> {
    const id = digest(cookie);
    const session = this.#sessions.get(id);
    // Digests are compared: how long that takes says nothing about the texts.
    if (session?.csrf !== digest(csrf)) return undefined;
    const now = this.#clock.wall();
    this.#sessions.delete(id);
    if (now >= session.expiresAt || now - session.usedAt >= IDLE_MS) return undefined;
    session.usedAt = now;
    this.#sessions.set(id, session);
    return { tokenDigest: session.tokenDigest, expiresAt: session.expiresAt };
  }

  end(cookie: string): void {
    this.#sessions.delete(digest(cookie));
  }
}
