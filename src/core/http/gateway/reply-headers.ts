import type { FormatName, Loss } from '../../../formats/conversation.ts';
import type { Format } from '../../../formats/format.ts';
import { RATE_DIALECTS, RATE_KINDS } from '../../../formats/rate-headers.ts';
import { countLosses, lossesOf, retriesOf } from '../../kernel/index.ts';
import type { Clock, Reply } from '../../../plugin/index.ts';
import type { RateFigures } from '../../kernel/rate-limits.ts';
import type { HttpExchange } from './exchange.ts';
import type { ResponseHeaderNames } from './header-names.ts';
import type { PathSettings } from './path-settings.ts';

/** Adds the headers by which the gateway describes a reply. */
export function describeReply(
  reply: Reply,
  exchange: HttpExchange,
  { snapshot, format, clock }: { readonly snapshot: PathSettings; readonly format: Format; readonly clock: Clock },
): void {
  if (exchange.limits)
    setRateHeaders(reply.headers, exchange.limits.figures(), { format: format.name, wall: clock.wall() });
  setGatewayHeaders(reply, exchange, snapshot.headerNames.response(exchange.request.headers));
  setOriginHeaders(reply, exchange, snapshot, clock);
  // The header in which clients of this API expect the request id. An upstream's own id of the same name stays.
  reply.headers[format.requestIdHeader] ??= exchange.id;
}

/** Adds the reply headers that the config asks for: its hash, `Server-Timing` and the cost. */
function setOriginHeaders(
  reply: Reply,
  exchange: HttpExchange,
  { headerNames, pluginTimes, costHeader }: PathSettings,
  clock: Clock,
): void {
  const { headers } = reply;
  const { config, request } = exchange;
  if (!config || config.replyHeaders.size === 0) return;
  const names = headerNames.response(request.headers);
  if (config.replyHeaders.has('config_hash')) headers[names.configHash] = config.hash;
  if (config.replyHeaders.has('server_timing') && pluginTimes) {
    const own = headers['server-timing'];
    const times = pluginTimes.header(exchange);
    headers['server-timing'] = own === undefined ? times : `${own}, ${times}`;
  }
  if (config.replyHeaders.has('cost')) {
    const cost = costHeader?.of(exchange, reply, clock.wall() - clock.now() + exchange.startedAt);
    if (cost !== undefined) headers[names.cost] = cost;
  }
}

/** Other characters percent-encoded: headers are ASCII, and a caller may choose the name (RFC 9110, section 5.5). */
const headerText = (text: string): string => text.toWellFormed().replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent);

function setGatewayHeaders({ headers, status }: Reply, exchange: HttpExchange, names: ResponseHeaderNames): void {
  headers[names.requestId] = exchange.id;
  headers[names.traceId] = exchange.trace.traceId;
  if (exchange.explainId !== undefined) headers[names.explainId] = exchange.explainId;
  const { prompt } = exchange;
  if (prompt) headers[names.prompt] = `${prompt.id}@${prompt.version}`;
  const attempt = exchange.attempts.at(-1);
  if (!attempt) return;
  if (attempt.budget?.headers && status === 200) Object.assign(headers, attempt.budget.headers);
  headers[names.optionIndex] = attempt.target.path;
  if (attempt.target.name !== undefined) headers[names.targetName] = headerText(attempt.target.name);
  headers[names.retryCount] = String(retriesOf(attempt.tries));
  if (attempt.resolved) headers[names.provider] = attempt.resolved.slug;
  if (attempt.resolved && exchange.alias) headers[names.model] = headerText(attempt.resolved.model);
  if (attempt.resolved?.estimatesTokens) headers[names.tokenCount] = 'estimate';
  if (attempt.cache) headers[names.cacheStatus] = attempt.cache.toUpperCase();
  // For a stream, only the losses known from its first events. The record and the metrics have all of them.
  const losses = lossesOf(attempt);
  if (losses.length > 0) headers[names.droppedParams] = lossHeader(losses);
  const { defaulted = [] } = attempt;
  if (defaulted.length > 0)
    headers[names.defaultedParams] = defaulted.map(({ param, value }) => `${param}=${value}`).join(',');
}

/** Writes the caller's limits into the headers of a reply, as the client's API spells them. */
export function setRateHeaders(
  headers: Record<string, string>,
  figures: RateFigures,
  { format, wall }: { readonly format: FormatName; readonly wall: number },
): void {
  const dialect = RATE_DIALECTS[format];
  if (!dialect) return;
  for (const of of RATE_KINDS) {
    const figure = figures[of];
    if (!figure) continue;
    headers[dialect.name('limit', of)] = String(figure.limit);
    headers[dialect.name('remaining', of)] = String(figure.remaining);
    headers[dialect.name('reset', of)] = dialect.writeReset(figure.resetMs, wall);
  }
}

/** Size limit of the header: more than any request needs, and less than a proxy refuses. */
const MAX_BYTES = 1024;

const ORDINARY = /^[\x20-\x2b\x2d-\x7e]{1,512}$/;

/**
 * Encodes the lost parameters as a list in one header. Commas within a name and characters other than visible ASCII are
 * percent-encoded (RFC 9110, section 5.5). Names are never cut: those without room are counted.
 */
export function lossHeader(losses: readonly Pick<Loss, 'param' | 'count'>[]): string {
  const [only] = losses;
  // Nearly every such request has one loss, with an ordinary name.
  if (losses.length === 1 && only!.count === undefined && ORDINARY.test(only!.param)) return only!.param;
  const params = new Set(losses.flatMap(({ param, count }) => (count === undefined ? [param] : [])));
  const kept: string[] = [];
  let room = MAX_BYTES - '(+999999999 more)'.length;
  for (const param of params) {
    const name = param.toWellFormed().replaceAll(/[^\x20-\x2b\x2d-\x7e]/gu, encodeURIComponent);
    room -= name.length + 1;
    if (room < 0) break;
    kept.push(name);
  }
  const unnamed = countLosses(losses.filter(({ count }) => count !== undefined));
  const left = params.size - kept.length + unnamed;
  return left === 0 ? kept.join(',') : [...kept, `(+${left} more)`].join(',');
}
