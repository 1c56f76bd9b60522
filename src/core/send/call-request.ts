import { secretsInBody } from '../../formats/body-secrets.ts';
import type { Signals } from '../../formats/events.ts';
import type { CatalogEntry } from '../catalog/catalog.ts';
import { UpstreamError, type GatewayError } from '../../plugin/index.ts';
import { unwantedReply, type Attempt, type Exchange } from '../kernel/index.ts';
import type { FormBody } from '../kernel/forms/form-body.ts';
import type { Hold, Origin, OutboundRequest } from '../upstream/types.ts';
import type { UpstreamErrorContext } from '../upstream/upstream-error.ts';
import type { SendJob, SenderSetup, UpstreamCall } from './send-job.ts';

type CredentialHeaders = Readonly<Record<string, string>>;

/** A call as the upstream room takes it, made for each try. */
export class CallRequest implements OutboundRequest {
  readonly method = 'POST';
  readonly body: OutboundRequest['body'];
  readonly stream: boolean;
  openReader: OutboundRequest['openReader'];
  readonly cancellation: OutboundRequest['cancellation'];
  readonly origin: Origin;
  readonly caller: string;
  readonly path: string;
  readonly headers: CredentialHeaders;
  readonly timeouts: OutboundRequest['timeouts'];
  readonly deadline: number;
  readonly deadlineOf: 'total' | 'request';
  readonly requestMs: number;
  readonly hold: Hold;
  readonly commit: OutboundRequest['commit'];
  readonly maxReplyBytes: number;
  readonly #job: SendJob;
  readonly #credentials: CredentialHeaders;

  constructor(job: SendJob, call: UpstreamCall, credentials: CredentialHeaders) {
    const { exchange, attempt, outbound, setup } = job;
    this.body = call.body;
    this.stream = call.stream;
    this.openReader = call.openReader;
    this.cancellation = call.cancellation;
    this.origin = originOf(job);
    this.caller = exchange.caller?.keyId ?? exchange.request.remoteAddress;
    this.path = outbound.path;
    this.headers = { ...outbound.headers, ...(outbound.form && formHeaders(outbound.form)), ...credentials };
    const { timeouts, startedAt } = attempt;
    this.timeouts = timeouts;
    // All three at once: a plugin may move the request's deadline while the call runs.
    this.deadline = attempt.deadline;
    this.deadlineOf = deadlineOf(exchange, { startedAt, timeouts });
    this.requestMs = exchange.deadline - exchange.startedAt;
    this.hold = holdOf(attempt, call.stream, setup.limits);
    this.commit = attempt.target.commit;
    this.maxReplyBytes = setup.limits.reply;
    this.#job = job;
    this.#credentials = credentials;
  }

  /** Computed when it is read, which few calls do. */
  get errors(): UpstreamErrorContext {
    const { provider } = this.#job.entry;
    return {
      provider: provider.slug,
      credentials: provider.usesCallersToken ? 'caller' : 'entry',
      path: this.path,
      secrets: [...secretsOf(this.#credentials), ...secretsIn(this.body)],
    };
  }

  onHold(bytes: number): boolean {
    const { setup, exchange } = this.#job;
    return setup.hold(exchange, bytes);
  }

  watch(signals: Signals): GatewayError | undefined {
    return this.#job.attempt.watch?.(signals);
  }

  /** Undefined if the config does not fall through: the client then gets the reply as the provider sent it. */
  judge(signals: Signals): GatewayError | undefined {
    const { attempt, entry } = this.#job;
    const { unwanted } = attempt.target;
    if (!unwanted && !signals.blocked) return undefined;
    const provider = entry.provider.slug;
    // A response that runs in the background has no output yet.
    const error = attempt.body.value('background') === true ? undefined : unwantedReply(unwanted, signals, provider);
    return [error, signals.blocked ? blocked(provider) : undefined].find(
      (one) => one && attempt.choice.fallsThrough(one),
    );
  }
}

const blocked = (provider: string): UpstreamError =>
  new UpstreamError('content_filter', "The provider's content filter blocked the whole answer.", { provider });

const formHeaders = ({ contentType, length }: FormBody): CredentialHeaders => ({
  'content-type': contentType,
  ...(length !== undefined && { 'content-length': String(length) }),
});

/**
 * The limit that ends an attempt: the target's `total` or the request's deadline. The default of both is 15 minutes,
 * and an attempt begins some milliseconds after its request. Where they differ by less than a hundredth, it is `total`,
 * because that error names the target.
 */
export function deadlineOf(
  { startedAt, deadline }: Pick<Exchange, 'startedAt' | 'deadline'>,
  attempt: Pick<Attempt, 'startedAt' | 'timeouts'>,
): 'total' | 'request' {
  const { total } = attempt.timeouts;
  const cut = attempt.startedAt + total - deadline;
  return cut < 0 || (total <= deadline - startedAt && cut <= total / 100) ? 'total' : 'request';
}

export const connectionsOf = ({ setup, entry }: SendJob): number => entry.connections ?? setup.limits.connections;

/** The origin of the latest call of each entry. Most calls reuse it, because an entry has one or a few origins. */
const origins = new WeakMap<CatalogEntry, Origin>();

function originOf(job: SendJob): Origin {
  const { entry, outbound } = job;
  const connections = connectionsOf(job);
  const last = origins.get(entry);
  if (last?.url === outbound.origin && last.connections === connections) return last;
  const { allowInsecure, chosenByCaller } = entry.provider;
  const origin = { url: outbound.origin, allowInsecure, connections, ...(chosenByCaller && { chosenByCaller }) };
  origins.set(entry, origin);
  return origin;
}

/** The error that asks `fallsThrough` whether the config falls through without content. Shared, because every stream asks. */
const NO_CONTENT = new UpstreamError('timeout_first_content', 'No content came.');

/** The same for a reply without output. */
const NO_OUTPUT = new UpstreamError('empty_reply', 'No output came.');

/** Holds a stream without content until `timeouts.first_content` if the config would then fall through. */
function holdOf({ target, choice }: Attempt, stream: boolean, limits: SenderSetup['limits']): Hold {
  const outlastsSilence = stream && choice.fallsThrough(NO_CONTENT);
  if (target.commit === 'complete') return { bytes: limits.commitBytes, ms: limits.commitMs, outlastsSilence };
  const untilOutput = stream && target.unwanted?.empty === true && choice.fallsThrough(NO_OUTPUT);
  return { bytes: limits.holdBytes, ms: limits.holdMs, outlastsSilence, untilOutput };
}

/** Fields of the body for servers that the provider calls. */
const secretsIn = (body: OutboundRequest['body']): readonly string[] =>
  typeof body === 'string' || Buffer.isBuffer(body) ? secretsInBody(body) : [];

/** The credential values without their scheme (`Bearer`, `Basic`): an upstream might quote them so in an error. */
const secretsOf = (credentials: CredentialHeaders): readonly string[] =>
  Object.values(credentials).map((value) => value.replace(/^(?:Bearer|Basic) /, ''));
