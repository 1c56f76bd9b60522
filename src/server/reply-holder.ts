import { cancelReply, GatewayError, type Reply } from '../plugin/index.ts';

const REPLACED = new GatewayError('client_closed', 'Another reply was put in its place.');

/** Where a reply is kept until it leaves. Putting another in its place lets go of the old one; who wraps sets `reply.body` instead. */
export class ReplyHolder {
  #reply: Reply | undefined;

  get reply(): Reply | undefined {
    return this.#reply;
  }

  set reply(reply: Reply | undefined) {
    const old = this.#reply;
    this.#reply = reply;
    if (old && old.body !== reply?.body) cancelReply(old, REPLACED);
  }
}
