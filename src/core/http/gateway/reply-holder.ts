import { cancelReply, heldReply } from '../../kernel/reply.ts';
import { isGivenUp } from '../../kernel/outside/plugin-work.ts';
import { GatewayError, type Reply } from '../../../plugin/index.ts';
import type { ReplyWithForm } from '../../../plugin/reply.ts';

const REPLACED = new GatewayError('client_closed', 'Another reply replaced it.');
const TOO_LATE = new GatewayError('client_closed', 'The reply came too late.');

/** Setting another reply cancels the old one. A plugin that wraps the body sets `reply.body` instead. */
export abstract class ReplyHolder {
  #reply: ReplyWithForm | undefined;
  #sealed = false;
  /** The exchange whose plugins change nothing here once they have been given up. */
  protected owner: object = this;

  /** A plugin that has been given up gets a copy, which it may change without effect. */
  get reply(): ReplyWithForm | undefined {
    const reply = this.#reply;
    return reply && isGivenUp(this.owner) ? { ...reply, headers: { ...reply.headers } } : reply;
  }

  set reply(reply: Reply | undefined) {
    if (this.#sealed || isGivenUp(this.owner)) {
      cancelReply(reply, TOO_LATE);
      return;
    }
    const old = this.#reply;
    this.#reply = reply && heldReply(reply);
    if (old && old.body !== reply?.body) cancelReply(old, REPLACED);
  }

  /** Fixes the reply: a plugin that forgot to await something must not replace it later. */
  seal(): void {
    this.#sealed = true;
  }
}
