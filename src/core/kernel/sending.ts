import type { DefaultedParam, Loss } from '../../formats/conversation.ts';
import type { Steps } from '../../formats/steps.ts';
import type { Reply } from '../../plugin/reply.ts';
import type { Attempt } from './attempt.ts';
import type { RequestBody } from './body/request-body.ts';
import type { Exchange } from './exchange.ts';
import type { Outbound, ResolvedTarget } from './outbound.ts';
import type { Target } from './settings.ts';

/** Resolves targets against the catalog on behalf of a request. */
export interface TargetResolver {
  /** Throws GatewayError for an unknown, ambiguous or forbidden provider or model, and an unusable name. */
  resolve(exchange: Exchange, target: Target, model: string, stream: boolean): ResolvedTarget;
}

/** Sends an attempt's encoded request once: authorizes, connects, waits for the commit gate. */
export interface Sender {
  send(exchange: Exchange, attempt: Attempt): Promise<Reply>;
}

/** Client format → conversation → upstream format, and back for the reply. */
export interface Translator {
  /** Parses and checks a body that `prepare` will read whole, in place of `prepare`. Throws GatewayError. */
  check(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Steps<void>;
  /** Encodes the request for its target. Throws GatewayError for fields that the target's format must reject. */
  prepare(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Prepared;
  /** `prepare` for a large body: each step blocks the process for only part of the work. */
  prepareInSteps(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Steps<Prepared>;
}
export interface Prepared {
  readonly outbound: Outbound;
  readonly losses: readonly Loss[];
  /** Fields that the caller omitted and the target demands. */
  readonly defaulted?: readonly DefaultedParam[];
}

/** Fetches the media that a request references by URL, for a target that accepts media only as data. */
export interface MediaInliner {
  /** The body with its media; undefined: none is fetched. Throws GatewayError whose `param` is the part. */
  inline(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Promise<RequestBody> | undefined;
}
