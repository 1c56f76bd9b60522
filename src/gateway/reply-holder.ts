import { cancelReply, GatewayError, type Reply } from '../plugin/index.ts';

const REPLACED = new GatewayError('client_closed', 'Another reply was put in its place.');
const TOO_LATE = new GatewayError('client_closed', 'The reply came too late.');

/** Where a reply is kept until it leaves. Putting another in its place lets go of the old one; who wraps sets `reply.body` instead. */
export abstract class ReplyHolder {
  #reply: Reply | undefined;
  #sealed = false;

  /** The code that runs now is that of a plugin that was given up: it changes nothing here. */
  protected abstract get isFenced(): boolean;

  /** A plugin that was given up has a copy: it may change that. */
  get reply(): Reply | undefined {
    const reply = this.#reply;
    return reply && this.isFenced ? { ...reply, headers: { ...reply.headers } } : reply;
  }

  set reply(reply: Reply | undefined) {
    if (this.#sealed || this.isFenced) {
      cancelReply(reply, TOO_LATE);
      return;
    }
    const old = this.#reply;
    this.#reply = reply;
    if (old && old.body !== reply?.body) cancelReply(old, REPLACED);
  }

  /** From now on the reply is the one that is there: a plugin that forgot to await something must not cut it. */
  seal(): void {
    this.#sealed = true;
  }
}
