import type {
  CallerExplanation,
  ConfigExplanation,
  RequestExplanation,
  FieldSource,
  TimeExplanation,
  AnswerExplanation,
} from '../../explanation/explanation.ts';
import { digestOf, digestsOf } from '../../../../core/settings/compile/api-keys.ts';
import type { Observation } from '../observation.ts';
import { isInline } from '../../../../core/dry-run/written-config.ts';
import { googleKeys } from '../../../../core/kernel/client-keys.ts';
import { DEFAULT, keySource, ownSource, placeOf, serverSource, sourceInCatalog } from './places.ts';
import type { GatewayError } from '../../../../plugin/index.ts';
import type { UsedAlias } from '../../../../core/kernel/index.ts';

export function describeRequest(seen: Observation): RequestExplanation {
  const { record, exchange, question } = seen;
  const { alias, request, strict, strictParams } = exchange;
  return {
    id: record.id,
    method: record.method,
    // The record truncates the path, and a truncated secret in it would not be masked.
    path: request.path,
    operation: record.operation,
    bytes: question.body.length,
    model: alias?.name ?? request.body?.string('model'),
    ...(alias && { alias: { of: alias.target ?? `config ${alias.config}`, at: placeOf(aliasSource(seen, alias)) } }),
    stream: record.stream,
    strict,
    strictParams,
  };
}

const aliasSource = (seen: Observation, { listed, target }: UsedAlias): FieldSource | undefined =>
  sourceInCatalog(seen, ['aliases', listed, target === undefined ? 'config' : 'target']);

export function describeCaller(seen: Observation): CallerExplanation | undefined {
  const { caller, upstreamToken } = seen.exchange;
  if (!caller) return undefined;
  const { keyId, providers, models, configs, defaultConfig, inlineConfigs, inlinePlugins = false, fields } = caller;
  return {
    key: keyId,
    found: howFound(seen, keyId),
    at: seen.supposedCaller === 'unknown' ? undefined : placeOf(keySource(seen, keyId, [])),
    providers,
    models,
    configs,
    defaultConfig,
    inlineConfigs,
    inlinePlugins,
    fields,
    ownUpstreamToken: upstreamToken !== undefined,
  };
}

function howFound(seen: Observation, keyId: string): string {
  if (seen.supposedCaller === 'named') return 'named';
  if (seen.supposedCaller === 'unknown') return 'no key given: explained for a key without limits';
  return headerOfKey(seen, keyId) ?? 'found by a plugin';
}

/** In the order of `auth`; a header may also contain another credential. */
function headerOfKey({ exchange: { request }, settings }: Observation, keyId: string): string | undefined {
  const entry = settings.keys.keys.find(({ id }) => id === keyId);
  const digests = entry ? digestsOf(entry) : [];
  const token = request.headers.authorization?.replace(/^bearer(?: +|$)/i, '').trim();
  const places: readonly (readonly [string, string | string[] | undefined])[] = [
    [request.headerName('api-key'), request.header('api-key')],
    ['authorization', token],
    ['x-api-key', request.headers['x-api-key']],
    ...googleKeys(request.headers).map((key) => ['x-goog-api-key', key] as const),
  ];
  return places.find(([, value]) => typeof value === 'string' && digests.includes(digestOf(value)))?.[0];
}

export function describeConfig(seen: Observation): ConfigExplanation | undefined {
  const { config } = seen.exchange;
  if (!config) return undefined;
  const { id, hash, name } = config;
  return { id, hash, name, ...whyConfig(seen, id) };
}

/** The request's own choice overrides the key's default, which overrides the server's. */
function whyConfig(seen: Observation, id: string): Pick<ConfigExplanation, 'found' | 'source'> {
  const { alias, request, caller } = seen.exchange;
  if (alias?.config !== undefined) return { found: 'alias', source: aliasSource(seen, alias) ?? DEFAULT };
  if (request.header('config') !== undefined)
    return {
      found: isInline(seen) ? 'inline' : 'header',
      source: { kind: 'header', name: request.headerName('config') },
    };
  if (id === '') return { found: 'none', source: { kind: 'gateway', what: 'the request names its target' } };
  if (caller?.defaultConfig !== undefined)
    return { found: 'key', source: keySource(seen, caller.keyId, ['default_config']) ?? OF_THE_KEY };
  return { found: 'server', source: serverSource(seen, ['default_config']) ?? DEFAULT };
}

const OF_THE_KEY: FieldSource = { kind: 'gateway', what: 'the default of the key' };

/** The deadline of the whole request. Callers can only shorten it: the setting that equals it is its source. */
export function describeDeadline(seen: Observation): TimeExplanation {
  // Rounded: the record has fractions of milliseconds.
  const ms = Math.round(seen.record.deadlineMs);
  return { ms, source: sourceOfDeadline(seen, ms) };
}

function sourceOfDeadline(seen: Observation, ms: number): FieldSource {
  const { config, request } = seen.exchange;
  if (config?.deadlineMs === ms) return ownSource(seen, 'config', ['deadline']) ?? DEFAULT;
  if (seen.server.deadlineMs === ms) return serverSource(seen, ['deadline']) ?? DEFAULT;
  if (request.header('request-timeout') !== undefined)
    return { kind: 'header', name: request.headerName('request-timeout') };
  return { kind: 'gateway', what: 'set by a plugin' };
}

/** The gateway's own reply; undefined when a target would be tried. */
export function describeAnswer({ record, exchange, attempts }: Observation): AnswerExplanation | undefined {
  if (attempts.some(({ supposed }) => supposed)) return undefined;
  const { message, param = null } = exchange.error ?? {};
  return { status: record.status, code: record.errorCode, message, param };
}

export const describeError = ({ clientStatus, code, message, param }: GatewayError): AnswerExplanation => ({
  status: clientStatus,
  code,
  message,
  param,
});
