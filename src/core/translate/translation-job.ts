import { modelLimits } from '../catalog/model-table/model-table.ts';
import { RequestFault } from '../../formats/faults.ts';
import type { ClientContext, Format } from '../../formats/format.ts';
import type { Cleaning } from '../../formats/body-view.ts';
import type { RequestTarget } from '../../formats/request-target.ts';
import { GatewayError, type Clock } from '../../plugin/index.ts';
import {
  RequestBody,
  type Attempt,
  type Exchange,
  type KeptTurn,
  type Operation,
  type Outbound,
  type ResolvedTarget,
  type Steps,
  type Target,
} from '../kernel/index.ts';
import type { ConfigParams } from '../../formats/config-params.ts';
import { callerHeaders, outboundHeaders, type HeaderSources } from './outbound-headers.ts';

/** A request to be translated for its target. */
export interface TranslationJob {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly resolved: ResolvedTarget;
  readonly operation: Operation;
  readonly upstream: Format;
  readonly client: ClientContext;
  /** References of the body to what no target of this API has. */
  readonly unkept: Cleaning | undefined;
  /** Parameters of the config that are written for other APIs; `attempt.body` does not have them. Undefined: none. */
  readonly configParams: ConfigParams | undefined;
}

/** A body that has been parsed within its limits before, by its format or as the caller's body: no limit applies. */
export const viewOf = (body: Outbound['body']): RequestBody =>
  RequestBody.read(typeof body === 'string' ? Buffer.from(body) : body, Number.POSITIVE_INFINITY);

/** The body without references that nothing can replace. */
export const keptBody = ({ attempt: { body }, unkept }: Pick<TranslationJob, 'attempt' | 'unkept'>): RequestBody =>
  unkept ? body.edit(unkept.edits) : body;

/** The project pays for an endpoint of its own by the hour, so requests to one have no labels. */
const OWN_ENDPOINT = /\/endpoints\/(?!openapi\/)/;

export const takesLabelHeader = ({ host, format, path }: Pick<ResolvedTarget, 'host' | 'format' | 'path'>): boolean =>
  host === 'vertex' && format !== 'gemini' && !OWN_ENDPOINT.test(path);

export const targetOf = ({ exchange, attempt, resolved, client }: TranslationJob): RequestTarget => ({
  model: resolved.model,
  host: resolved.host,
  strict: client.strict,
  labels: exchange.labels,
  boundLabels: exchange.boundLabels,
  labelHeader: takesLabelHeader(resolved),
  streamUsage: resolved.streamUsage,
  modelInBody: resolved.modelInBody,
  extensions: resolved.extensions,
  customTools: resolved.customTools,
  signatureScope: resolved.signatureScope,
  structuredOutputs: resolved.structuredOutputs,
  passUrls: attempt.target.remoteMedia?.pass,
});

/** The target of a request that is written anew, which may lack fields that the target demands. */
export function encodingTarget(job: TranslationJob): RequestTarget {
  const { attempt, resolved } = job;
  return {
    ...targetOf(job),
    defaultMaxTokens: attempt.target.defaultMaxTokens ?? resolved.defaultMaxTokens ?? 'model',
    limits: modelLimits(resolved.provider, resolved.model),
    onUnreadablePart: attempt.target.onUnreadablePart,
  };
}

export const isStream = (body: RequestBody): boolean => body.value('stream') === true;

export function placeOf(
  {
    exchange,
    attempt,
    resolved,
  }: Pick<TranslationJob, 'exchange' | 'resolved'> & { readonly attempt: Pick<Attempt, 'target'> },
  ofFormat: HeaderSources['ofFormat'],
): Pick<Outbound, 'origin' | 'path' | 'headers'> {
  const { forwardHeaders: forward } = attempt.target;
  const sources = { forward, ofCaller: callerHeaders(exchange, resolved), ofFormat, ofProvider: resolved.headers };
  return { origin: resolved.origin, path: resolved.path, headers: outboundHeaders(exchange, sources) };
}

/** The body as JSON, validated unless the `body` plugin has done so. */
export function* wholeBody({
  exchange,
  operation,
  attempt,
}: Pick<TranslationJob, 'exchange' | 'operation' | 'attempt'>): Steps<Record<string, unknown>> {
  const { body } = attempt;
  const json = body.json();
  yield;
  const fault = exchange.request.bodyValidated || body.checked ? undefined : operation.validate(json);
  body.checked = fault === undefined;
  if (fault)
    throw new GatewayError(fault.missing ? 'missing_required_parameter' : 'invalid_request', fault.message, {
      param: fault.param,
    });
  yield;
  return json;
}

/** A RequestFault as a GatewayError; any other error as it is. */
export const withCode = (error: unknown): unknown =>
  error instanceof RequestFault
    ? new GatewayError(error.code, error.message, { param: error.param, cause: error })
    : error;

export interface ClientSetup {
  readonly operation: Operation;
  readonly resolved: ResolvedTarget;
  readonly clock: Clock;
  readonly holdBytes?: number | undefined;
}

/** The client's options for its reply, read as its API defines them. */
export function clientContext(
  exchange: Exchange,
  { body, target }: Attempt,
  { operation, resolved, clock, holdBytes }: ClientSetup,
): ClientContext {
  const fromRequest = { id: exchange.replyId, strict: exchange.strict ?? target.strict ?? true };
  return {
    ...operation.format.readClient(body, fromRequest),
    ...(exchange.kept && keptContext(exchange.kept, body)),
    ...(target.unwanted?.empty && { awaitsOutput: true }),
    created: Math.floor(clock.wall() / 1000),
    model: resolved.model,
    holdBytes,
  };
}

const keptContext = ({ keeps, continues }: KeptTurn, body: RequestBody): Partial<ClientContext> => ({
  stored: keeps && body.value('store') !== false,
  continues,
});

/** Restricts `/v1/messages` to models with this API, whatever their names (`messages_route`). Throws GatewayError. */
export function checkMessagesRoute(
  operation: Operation,
  { messagesRoute }: Pick<Target, 'messagesRoute'>,
  { slug, model, format }: Pick<ResolvedTarget, 'slug' | 'model' | 'format'>,
): void {
  if (operation.id !== 'messages' || messagesRoute === 'any' || format === operation.format.name) return;
  throw new GatewayError(
    'unsupported_task',
    `${operation.path} serves only the Claude family here (messages_route: claude), and ${model} of @${slug} does not belong to it. Use /v1/chat/completions.`,
    { param: 'model' },
  );
}
