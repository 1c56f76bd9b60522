import { createHash } from 'node:crypto';
import type { Conversation, FormatName, Loss } from '../../formats/conversation.ts';
import type { Format } from '../../formats/format.ts';

/** OpenAI allows 64 characters (docs/protocols/openai-chat.md#user), and Claude Code sends 150. */
const LONGEST = 64;

/** Shortens the identifier of the user for APIs that allow no long one. The same user has the same hash. */
export class LongUsers {
  readonly #shortens: boolean;
  readonly #client: Format;
  #losses: readonly Loss[] = [];

  constructor(upstream: FormatName, client: Format) {
    this.#shortens = upstream.startsWith('openai');
    this.#client = client;
  }

  get losses(): readonly Loss[] {
    return this.#losses;
  }

  shorten(conversation: Conversation): Conversation {
    const { user } = conversation;
    if (!this.#shortens || user === undefined || user.length <= LONGEST) return conversation;
    const reason = `OpenAI takes at most ${LONGEST} characters: the SHA-256 of it was sent`;
    const param = this.#client.clientPaths?.('user')[0] ?? 'user';
    this.#losses = [{ param, action: 'clamped', reason }];
    return { ...conversation, user: createHash('sha256').update(user).digest('hex') };
  }
}
