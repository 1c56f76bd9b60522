import { Cancellation, GatewayError, type Clock, type Reply } from '../../plugin/index.ts';
import { cancelReply } from '../../core/kernel/reply.ts';
import { readHead } from '../../core/kernel/request-head.ts';
import {
  RequestBody,
  toGatewayError,
  type Attempt,
  type Embedded,
  type EmbedRequest,
  type Exchange,
  type InboundRequest,
  type Operation,
  type Sender,
  type Target,
  type TargetResolver,
  type Translator,
} from '../../core/kernel/index.ts';
import { isWithin, UNKNOWN_MOST } from '../../formats/counts.ts';
import { isObject, listOf, parseJson } from '../../formats/json/object.ts';

export interface EmbedderSetup {
  readonly targets: TargetResolver;
  readonly translate: Translator;
  readonly send: Sender;
  /** `POST /v1/embeddings` */
  readonly operation: Operation;
  readonly clock: Clock;
}

/** More numbers than any model's vectors have. */
const MAX_DIMENSIONS = 8_192;
const MAX_DEPTH = 4;

/** Ends the call when its time is up. */
const LATE = new GatewayError('timeout_request', 'The vectors did not arrive in time.');

/**
 * Makes vectors of texts through a catalog entry: an embeddings request of the gateway's own, beside the caller's request. It is no
 * attempt of that request, has no retry and no fallback, and its failure is a miss of the cache.
 */
export async function embed(request: EmbedRequest, setup: EmbedderSetup): Promise<Embedded> {
  const { attempt, settings } = request;
  const { clock } = setup;
  const from = clock.now();
  const ms = Math.max(0, Math.min(settings.timeoutMs, attempt.deadline - from));
  const cancellation = new Cancellation();
  const stopListening = attempt.cancellation.onCancel((reason) => cancellation.cancel(reason));
  const inner = innerAttempt(innerExchange(request, setup, cancellation), { request, cancellation, from, ms });
  const stopTimer = clock.after(ms, () => cancellation.cancel(LATE));
  const done = (result: 'success' | 'late' | 'failed') => {
    const { resolved, signals } = inner.attempt;
    if (!resolved) return undefined;
    // Stored configs name few models; a caller's own config could name any.
    const modelLabel = request.exchange.config?.id === 'inline' ? resolved.modelLabel : resolved.model;
    const bytes = inner.attempt.body.original.length;
    const { usage } = signals ?? {};
    // Without a count that can be true, the cost is estimated by bytes.
    const tokens = usage && isWithin(usage, Math.max(UNKNOWN_MOST.input, bytes), 0) ? usage.input : undefined;
    const { slug, provider, model, region } = resolved;
    const sent = wasSent(inner.attempt) ? { provider, model, region, answered: signals?.model, bytes } : undefined;
    return { slug, modelLabel, from, to: clock.now(), tokens, sent, result };
  };
  try {
    const reply = await untilCancelled(call(inner, settings.embeddings, setup), cancellation);
    return { vectors: readVectors(reply, request.texts.length), call: done('success') };
  } catch (thrown) {
    // The call has timers of its own for the same moment: under load one of them may come first.
    const code = codeOf(thrown);
    const late = cancellation.reason === LATE || code.startsWith('timeout_');
    return { vectors: undefined, call: done(late ? 'late' : 'failed'), error: late ? undefined : code };
  } finally {
    stopTimer();
    stopListening();
    // The reply may still be arriving.
    cancellation.cancel(OVER);
  }
}

function wasSent({ tries }: Attempt): boolean {
  const last = tries.at(-1);
  return last?.sentAt !== undefined && (last.status === undefined || last.status < 400);
}

/** Code of the error with which a call would fail before anything is sent. */
export function problemOf(request: EmbedRequest, setup: EmbedderSetup): string | undefined {
  const exchange = innerExchange(request, setup, new Cancellation());
  try {
    setup.targets.resolve(exchange, plainTarget(request.attempt.target), request.settings.embeddings, false);
    return undefined;
  } catch (thrown) {
    return codeOf(thrown);
  }
}

const OVER = new GatewayError('client_closed', 'The call for vectors is over.');

const codeOf = (thrown: unknown): string =>
  thrown instanceof Unreadable ? 'unreadable_reply' : toGatewayError(thrown).code;

class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

interface Inner {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
}

/** Waits for the work until the cancellation; what comes later is dropped. */
function untilCancelled(work: Promise<Reply>, cancellation: Cancellation): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  work.then((reply) => {
    if (cancellation.reason) cancelReply(reply, cancellation.reason);
    resolve(reply);
  }, reject);
  cancellation.onCancel(reject);
  return promise;
}

async function call({ exchange, attempt }: Inner, model: string, setup: EmbedderSetup): Promise<Reply> {
  const { targets, translate, send } = setup;
  attempt.resolved = targets.resolve(exchange, attempt.target, model, false);
  attempt.outbound = translate.prepare(exchange, attempt, attempt.resolved).outbound;
  return send.send(exchange, attempt);
}

function innerExchange(
  { exchange, texts, settings }: EmbedRequest,
  { operation, clock }: EmbedderSetup,
  cancellation: Cancellation,
): Exchange {
  const json = { model: settings.embeddings, input: texts, encoding_format: 'float' };
  const body = RequestBody.read(Buffer.from(JSON.stringify(json)), MAX_DEPTH);
  return {
    ...NO_STATE,
    id: exchange.id,
    replyId: exchange.replyId,
    startedAt: clock.now(),
    settingsHash: exchange.settingsHash,
    operation,
    clientFormat: operation.format,
    request: ownRequest(exchange, operation, body),
    trace: exchange.trace,
    deadline: exchange.deadline,
    cancellation,
    // The operator chose the entry in a config file, so the permissions of the key do not apply to it. They do for a
    // config that the caller sent.
    caller: exchange.config?.id === 'inline' ? exchange.caller : undefined,
    upstreamToken: exchange.upstreamToken,
    config: exchange.config,
    attempts: [],
    skipped: [],
    conditions: [],
  };
}

const NO_STATE = {
  strict: true,
  strictParams: false,
  metadata: {},
  labels: {},
  draws: undefined,
  explainId: undefined,
  reply: undefined,
  error: undefined,
  onEnd() {},
} as const;

const NO_HEAD = readHead({}, []);

/** A request without the caller's headers: they choose hosts, projects and options for the caller's own request. */
const ownRequest = ({ request }: Exchange, { method, path }: Operation, body: RequestBody): InboundRequest => ({
  method,
  path,
  params: {},
  headers: {},
  head: NO_HEAD,
  remoteAddress: request.remoteAddress,
  body,
  bodyBytes: body.original.length,
  bodyValidated: true,
  header: () => undefined,
  headerName: (name) => request.headerName(name),
});

interface AttemptSetup {
  readonly request: EmbedRequest;
  readonly cancellation: Cancellation;
  readonly from: number;
  readonly ms: number;
}

function innerAttempt(exchange: Exchange, { request, cancellation, from, ms }: AttemptSetup): Inner {
  const timeouts = { connect: ms, firstByte: ms, firstContent: ms, idle: ms, total: ms };
  const attempt: Attempt = {
    number: 0,
    target: plainTarget(request.attempt.target),
    choice: { reason: 'only', fallsThrough: () => false },
    startedAt: from,
    timeouts,
    deadline: from + ms,
    cancellation,
    body: exchange.request.body!,
    resolved: undefined,
    outbound: undefined,
    losses: [],
    tries: [],
    cache: undefined,
    semantic: undefined,
    wait: undefined,
    signals: undefined,
    reply: undefined,
    error: undefined,
  };
  return { exchange, attempt };
}

/** The target of the caller's request, without what it changes in requests. */
const plainTarget = (target: Target): Target => ({
  ...target,
  provider: undefined,
  defaultParams: undefined,
  overrideParams: undefined,
  overrideLevels: [],
  dropParams: [],
  forwardHeaders: [],
  cache: undefined,
  remoteMedia: undefined,
  retry: { ...target.retry, attempts: 0 },
  commit: 'first_content',
  strict: true,
});

/** @returns vectors of length 1 */
function readVectors({ body }: Reply, count: number): readonly Float32Array[] {
  const json = Buffer.isBuffer(body) ? parseJson(body.toString()) : undefined;
  const data = isObject(json) ? listOf(json['data']) : undefined;
  if (data?.length !== count) throw new Unreadable();
  const vectors: Float32Array[] = [];
  for (const [position, entry] of data.entries()) {
    const { index = position, embedding } = isObject(entry) ? entry : {};
    if (typeof index !== 'number' || !(index in data) || vectors[index]) throw new Unreadable();
    vectors[index] = normalized(embedding);
  }
  const [first] = vectors;
  if (vectors.some(({ length }) => length !== first?.length)) throw new Unreadable();
  return vectors;
}

function normalized(values: unknown): Float32Array {
  const numbers = listOf(values) ?? [];
  if (numbers.length === 0 || numbers.length > MAX_DIMENSIONS) throw new Unreadable();
  const vector = new Float32Array(numbers.length);
  let squares = 0;
  for (const [at, value] of numbers.entries()) {
    if (typeof value !== 'number') throw new Unreadable();
    vector[at] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Infinity)) throw new Unreadable();
  return vector.map((value) => value / length);
}
