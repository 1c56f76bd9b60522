import type { BoundedRecord } from '../bounded-record.ts';
import { totalCost } from '../costs.ts';
import { cut } from '../cut.ts';
import type { RecordedAttempt } from '../record.ts';
import { roundSimilarity } from '../record-semantic.ts';
import { SPAN } from '../semconv.ts';
import {
  ATTEMPT_FIELDS,
  branchOf,
  filesOf,
  semanticOf,
  SKIP_FIELDS,
  textsOf,
  TOKEN_FIELDS,
  usdOfNano,
} from './attempt-fields.ts';
import type { RecordField } from './record-field.ts';
import { group, rows } from './rows.ts';

/** A status, which a request has once it has ended. */
const whenOver =
  (status: 'status' | 'outcomeStatus') =>
  (record: BoundedRecord): number | undefined =>
    record.state === 'running' ? undefined : record[status];

/** A value of the attempt that answered, or of the last one that failed. */
const ofLast =
  <V>(valueOf: (attempt: RecordedAttempt) => V) =>
  ({ attempts }: BoundedRecord): V | undefined => {
    const last = attempts.at(-1);
    return last && valueOf(last);
  };

function paidUsageOf({ attempts }: BoundedRecord): RecordedAttempt['usage'] {
  const last = attempts.at(-1);
  return last?.answered ? last.usage : undefined;
}

const CONFIG_FIELDS: readonly RecordField<BoundedRecord>[] = [
  { record: 'id', as: 'text', value: 'configId' },
  { record: 'hash', as: 'text', value: 'configHash' },
  { record: 'by', as: 'text', value: 'namesConfig' },
];

const PROMPT_FIELDS: readonly RecordField<NonNullable<BoundedRecord['prompt']>>[] = [
  { record: 'id', as: 'text', value: 'id' },
  { record: 'version', as: 'plain', value: 'version' },
];

/**
 * The fields that the access line, the admin listener's records and the server span show of a request, in their order.
 * A new field is one row. `attempts.at(-1)` is the attempt that answered, or the last that failed.
 */
export const REQUEST_FIELDS: readonly RecordField<BoundedRecord>[] = [
  { line: 'request_id', record: 'request_id', as: 'unique', value: 'id' },
  { record: 'time', as: 'time', value: 'receivedAt' },
  {
    record: 'ended',
    as: 'time',
    value: ({ state, receivedAt, durationMs }) => (state === 'running' ? undefined : receivedAt + durationMs),
  },
  { record: 'state', as: 'text', value: 'state' },
  { line: 'trace_id', record: 'trace_id', as: 'unique', value: 'traceId' },
  { line: 'span_id', as: 'unique', value: 'spanId' },
  { record: 'explain_id', as: 'unique', value: 'explainId' },
  { line: 'method', record: 'method', as: 'text', value: 'method' },
  { line: 'route', record: 'route', as: 'text', orNull: true, value: 'route' },
  { line: 'path', record: 'path', as: 'text', value: 'path' },
  { record: 'operation', as: 'text', value: 'operation' },
  { line: 'status', record: 'status', span: SPAN.httpStatus, as: 'plain', value: whenOver('status') },
  { record: 'outcome', as: 'text', value: 'outcome' },
  { record: 'outcome_status', as: 'plain', value: whenOver('outcomeStatus') },
  { line: 'duration_ms', record: 'duration_ms', as: 'ms', value: 'durationMs' },
  { line: 'overhead_ms', record: 'overhead_ms', as: 'ms', value: 'overheadMs' },
  { line: 'ttfc_ms', record: 'first_content_ms', as: 'ms', value: 'firstContentMs' },
  { record: 'deadline_ms', as: 'ms', value: 'deadlineMs' },
  { line: 'bytes_in', record: 'bytes_in', as: 'plain', value: 'bytesIn' },
  { line: 'bytes_out', record: 'bytes_out', as: 'plain', value: 'bytesOut' },
  { line: 'stream', record: 'stream', as: 'plain', value: 'stream' },
  { line: 'cache', record: 'cache', span: SPAN.cacheStatus, as: 'text', value: 'cache' },
  { line: 'config_hash', record: 'settings_hash', as: 'text', value: 'settingsHash' },
  { line: 'config_id', span: SPAN.configId, as: 'text', value: 'configId' },
  { line: 'gateway_config_hash', as: 'text', value: 'configHash' },
  group({ record: 'config' }, CONFIG_FIELDS, (record) => (record.configId === undefined ? undefined : record)),
  {
    record: 'model',
    as: 'text',
    // Empty: the request named none, and got a config.
    value: ({ askedModel = '', configId }) =>
      askedModel === '' && configId === undefined ? undefined : cut(askedModel),
  },
  { line: 'alias', record: 'alias', span: SPAN.alias, as: 'text', value: 'alias' },
  { line: 'prompt', as: 'text', value: ({ prompt }) => prompt && `${prompt.id}@${prompt.version}` },
  group({ record: 'prompt' }, PROMPT_FIELDS, ({ prompt }) => prompt),
  { line: 'upload', record: 'upload', as: 'json', value: 'upload' },
  {
    span: SPAN.cacheSimilarity,
    as: 'plain',
    value: ({ attempts }) => roundSimilarity(attempts.at(-1)?.semantic?.similarity),
  },
  { span: SPAN.promptName, as: 'text', value: ({ prompt }) => prompt?.id },
  { span: SPAN.promptVersion, as: 'text', value: ({ prompt }) => prompt && String(prompt.version) },
  { line: 'key_id', record: 'key_id', span: SPAN.keyId, as: 'text', value: 'keyId' },
  { line: 'team', record: 'team', span: SPAN.team, as: 'text', value: 'team' },
  { record: 'origin', as: 'text', value: 'origin' },
  { line: 'metadata', record: 'metadata', as: 'json', value: 'metadata' },
  {
    line: 'metadata_dropped',
    record: 'metadata_dropped',
    as: 'plain',
    value: ({ metadataDropped }) => metadataDropped || undefined,
  },
  { line: 'provider', as: 'text', value: ({ attempts }) => attempts.at(-1)?.place?.provider },
  { line: 'request_model', as: 'text', value: ({ attempts }) => attempts.at(-1)?.place?.model },
  { line: 'response_model', as: 'text', value: ({ attempts }) => attempts.at(-1)?.responseModel },
  { line: 'answered_by_other', as: 'text', value: ({ attempts }) => attempts.at(-1)?.substitution },
  { record: 'commit', as: 'text', value: ({ attempts }) => attempts.at(-1)?.commit },
  { line: 'finish_reason', record: 'finish_reason', as: 'text', value: ({ attempts }) => attempts.at(-1)?.finish },
  rows({ line: 'attempts', record: 'attempts' }, ATTEMPT_FIELDS, ({ attempts }) => attempts),
  { line: 'retries', as: 'plain', value: ({ attempts, retries }) => (attempts.length > 0 ? retries : undefined) },
  { record: 'retries', as: 'plain', value: 'retries' },
  { line: 'semantic', as: 'json', value: ofLast(({ semantic }) => semantic && semanticOf(semantic)) },
  { line: 'token_count', as: 'text', value: ({ attempts }) => (attempts.at(-1)?.estimated ? 'estimate' : undefined) },
  {
    line: 'losses',
    as: 'texts',
    value: ({ attempts }) => textsOf(attempts.at(-1)?.losses ?? [], ({ param, action }) => `${param}:${action}`),
  },
  { line: 'files', as: 'json', value: ofLast(filesOf) },
  {
    line: 'defaulted',
    as: 'texts',
    value: ({ attempts }) => textsOf(attempts.at(-1)?.defaulted ?? [], ({ param, value }) => `${param}:${value}`),
  },
  group({ line: 'tokens' }, TOKEN_FIELDS, paidUsageOf),
  { span: SPAN.inputTokens, as: 'plain', value: (record) => paidUsageOf(record)?.input },
  { span: SPAN.outputTokens, as: 'plain', value: (record) => paidUsageOf(record)?.output },
  {
    line: 'cost_usd',
    record: 'cost_usd',
    span: SPAN.cost,
    as: 'plain',
    value: ({ attempts }) => usdOfNano(totalCost(attempts)?.nano),
  },
  { line: 'cost_source', as: 'text', value: ({ attempts }) => attempts.at(-1)?.cost?.source },
  { line: 'cost_unknown', record: 'cost_unknown', as: 'text', value: ({ attempts }) => totalCost(attempts)?.unknown },
  {
    line: 'saved_usd',
    record: 'saved_usd',
    as: 'plain',
    value: ({ attempts }) => usdOfNano(totalCost(attempts)?.saved),
  },
  rows({ line: 'skipped', record: 'skipped' }, SKIP_FIELDS, ({ skipped }) => skipped),
  {
    line: 'guards',
    as: 'texts',
    value: ({ guards }) => guards && textsOf(guards, ({ guard, on, verdict }) => `${guard}:${on}:${verdict}`),
  },
  { record: 'guards', as: 'json', value: 'guards' },
  { line: 'error_code', span: SPAN.errorCode, as: 'text', value: 'errorCode' },
  {
    line: 'error_type',
    span: SPAN.errorType,
    as: 'text',
    value: ({ errorCode, errorType }) => (errorCode ? errorType : undefined),
  },
  { line: 'plugin', as: 'text', value: 'plugin' },
  {
    record: 'error',
    as: 'json',
    value: ({ errorCode: code, errorType: type, plugin }) => code && { code, type, plugin },
  },
  { line: 'client_ip', record: 'client_ip', as: 'text', value: 'clientAddress' },
  { record: 'client_left', as: 'text', value: 'disconnectStage' },
  { line: 'user_agent', as: 'text', value: 'userAgent' },
  { record: 'rejected', as: 'text', value: 'rejection' },
  { line: 'limited_by', record: 'limited_by', as: 'text', value: 'limitedBy' },
  { record: 'ignored', as: 'json', value: 'ignoredPlace' },
  {
    record: 'conditions',
    as: 'json',
    value: ({ conditions }) => (conditions.length > 0 ? conditions.map(branchOf) : undefined),
  },
  { record: 'draws', as: 'json', value: 'draws' },
  {
    record: 'left_out',
    as: 'json',
    value: ({ leftOut, metadataLeftOut }) =>
      metadataLeftOut > 0 ? { ...leftOut, metadata: metadataLeftOut } : leftOut,
  },
];
