import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { Format } from '../../../formats/format.ts';
import type { Exchange, GatewayContext, Operation, PathParams } from '../../kernel/index.ts';
import type { GatewayError, Reply } from '../../../plugin/index.ts';
import { Scope } from '../chain/instance.ts';
import { answerByStatus } from './koa-reply.ts';

/** A request of a client and the response to it, before the gateway has an exchange for them. */
export interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Returns Koa's context of both. The scope calls it at most once, and only when something needs the context. */
  koa(): Koa.Context;
}

/** The router's reading of a request's head. */
export interface Routed {
  /** Undefined: no operation has this path and method. */
  readonly operation: Operation | undefined;
  readonly params: PathParams;
  /** The client's format: the operation's, or a guess from the path if there is no operation. */
  readonly format: Format;
  readonly refusal?: GatewayError;
}

/** The scope of a served request's entry chain and request chain. It makes Koa's context on demand. */
export class RequestScope extends Scope {
  readonly exchange: Exchange;
  readonly attempt = undefined;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly #incoming: Incoming;
  #koa: GatewayContext | undefined;

  constructor(incoming: Incoming, exchange: Exchange) {
    super();
    this.#incoming = incoming;
    this.exchange = exchange;
    this.req = incoming.req;
    this.res = incoming.res;
  }

  /** The query of the request's URL, without `?`. */
  get querystring(): string {
    return this.koa().querystring;
  }

  override koa(): GatewayContext {
    return (this.#koa ??= this.#makeKoa());
  }

  #makeKoa(): GatewayContext {
    const koa = this.#incoming.koa();
    // `Object.assign` takes as long as Koa's own creation (measured).
    koa['exchange'] = this.exchange;
    koa['attempt'] = undefined;
    return koa as Koa.Context & Pick<GatewayContext, 'exchange' | 'attempt'>;
  }

  /** Replies with the status that an external plugin has set, if one has. */
  answerByStatus(): Reply | undefined {
    if (this.#koa) answerByStatus(this.#koa.response);
    return this.exchange.reply;
  }
}
