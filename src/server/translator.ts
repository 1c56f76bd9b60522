import { quirksOf } from '../catalog/catalog-target.ts';
import {
  RequestFault,
  type ClientContext,
  type Format,
  type ReplyContext,
  type RequestTarget,
} from '../formats/format.ts';
import { formats } from '../formats/index.ts';
import { translatingReader } from '../formats/readers.ts';
import { lossesOfReading } from '../formats/unread.ts';
import {
  GatewayError,
  type Attempt,
  type Clock,
  type Exchange,
  type Operation,
  type Prepared,
  type RequestBody,
  type ResolvedTarget,
  type Translator,
} from '../plugin/index.ts';
import { callId } from './ids.ts';
import { outboundHeaders, type HeaderSources } from './outbound-headers.ts';
import { applyQuirks } from './quirks.ts';

/** Writes an attempt's request in its target's format: as the caller's bytes where both speak the same, else through the conversation. */
export function createTranslator(clock: Clock): Translator {
  return {
    prepare(exchange, attempt, resolved) {
      const { operation } = exchange;
      if (!operation) throw new GatewayError('internal_error', 'A request without an operation reached translation.');
      const upstream = formats[resolved.format];
      const job: Job = {
        exchange,
        attempt,
        resolved,
        operation,
        upstream,
        client: clientContext(exchange, attempt, resolved, clock),
      };
      const prepared = upstream === operation.format ? passThrough(job) : translate(job);
      return applyQuirks(prepared, quirksOf(resolved), operation.format);
    },
  };
}

interface Job {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly resolved: ResolvedTarget;
  readonly operation: Operation;
  readonly upstream: Format;
  readonly client: ClientContext;
}

export function clientContext(
  exchange: Exchange,
  { body, target }: Attempt,
  resolved: ResolvedTarget,
  clock: Clock,
): ClientContext {
  const streamOptions = body.has('stream_options') ? body.value('stream_options') : undefined;
  return {
    id: `chatcmpl-${exchange.id.replaceAll('-', '')}`,
    created: Math.floor(clock.wall() / 1000),
    strict: exchange.strict ?? target.strict ?? true,
    includeUsage: isObject(streamOptions) && streamOptions['include_usage'] === true,
    model: resolved.model,
    functionCalls: body.has('functions') && !body.has('tools'),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const targetOf = ({ exchange, resolved, client }: Job): RequestTarget => ({
  model: resolved.model,
  host: resolved.host,
  strict: client.strict,
  labels: exchange.labels,
  streamUsage: resolved.streamUsage,
});

const isStream = (body: RequestBody): boolean => body.has('stream') && body.value('stream') === true;

/** Same format on both sides: the caller's bytes, with what the target needs spliced in. */
function passThrough(job: Job): Prepared {
  const { attempt, resolved, upstream } = job;
  const stream = isStream(attempt.body);
  // Usage the gateway did not ask for is not the gateway's to take out again.
  const client = resolved.streamUsage === false ? { ...job.client, includeUsage: true } : job.client;
  const body = attempt.body.edit(upstream.passThroughEdits(attempt.body, targetOf(job)));
  return {
    losses: [],
    outbound: {
      ...place(job, undefined),
      body: body.encode(),
      stream,
      contentType: undefined,
      openReader: () => upstream.passThrough(client, stream),
      decodeError: upstream.decodeError,
    },
  };
}

function translate(job: Job): Prepared {
  const { exchange, attempt, resolved, operation, upstream, client } = job;
  if (!exchange.request.bodyValidated) validateWhole(operation, attempt.body);
  const reply: ReplyContext = { model: resolved.model, newCallId: callId };
  const { encoded, lost } = withFaults(() => {
    const conversation = operation.format.decodeRequest(attempt.body.json());
    return { encoded: upstream.encodeRequest(conversation, targetOf(job), reply), lost: lossesOfReading(conversation) };
  });
  const stream = isStream(attempt.body);
  const translation = { upstream, client: operation.format, reply: encoded.reply, context: client };
  return {
    losses: [...encoded.losses, ...lost],
    outbound: {
      ...place(job, encoded.headers),
      body: JSON.stringify(encoded.body),
      stream,
      contentType: stream ? operation.format.contentType.stream : operation.format.contentType.body,
      openReader: ({ headers }) => translatingReader(translation, stream, headers['content-type'] ?? ''),
      decodeError: upstream.decodeError,
    },
  };
}

function place({ exchange, attempt, resolved }: Job, ofFormat: HeaderSources['ofFormat']) {
  const sources = { forward: attempt.target.forwardHeaders, ofFormat, ofProvider: resolved.headers };
  return { origin: resolved.origin, path: resolved.path, headers: outboundHeaders(exchange, sources) };
}

/** A large body was only scanned when it came in; whoever reads it whole checks it whole. */
function validateWhole(operation: Operation, body: RequestBody): void {
  const fault = operation.validate(body.json());
  if (fault)
    throw new GatewayError(fault.missing ? 'missing_required_parameter' : 'invalid_request', fault.message, {
      param: fault.param,
    });
}

function withFaults<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RequestFault)
      throw new GatewayError(error.code, error.message, { param: error.param, cause: error });
    throw error;
  }
}
