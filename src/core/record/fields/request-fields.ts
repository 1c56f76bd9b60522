import type { BoundedRecord } from '../bounded-record.ts';
import { totalCost } from '../costs.ts';
import { cut } from '../cut.ts';
import type { RecordedAttempt } from '../record.ts';
import { roundSimilarity } from '../record-semantic.ts';
import { SPAN } from '../semconv.ts';
import { ATTEMPT_FIELDS, branchOf, semanticOf, SKIP_FIELDS, textsOf, TOKEN_FIELDS } from './attempt-fields.ts';
import { group, part, rows, type RecordField } from './record-field.ts';

/** The record itself, once the request has ended. */
const overOf = (record: BoundedRecord): BoundedRecord | undefined => (record.state === 'running' ? undefined : record);

/** The attempt that answered, or the last one that failed. */
const lastOf = ({ attempts }: BoundedRecord): RecordedAttempt | undefined => attempts.at(-1);

const costOf = ({ attempts }: BoundedRecord): ReturnType<typeof totalCost> => totalCost(attempts);

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
 * A new field is one row.
 */
export const REQUEST_FIELDS: readonly RecordField<BoundedRecord>[] = [
  { line: 'request_id', record: 'request_id', as: 'unique', value: 'id' },
  { record: 'time', as: 'time', value: 'receivedAt' },
  part(overOf, [{ record: 'ended', as: 'time', value: ({ receivedAt, durationMs }) => receivedAt + durationMs }]),
  { record: 'state', as: 'text', value: 'state' },
  { line: 'trace_id', record: 'trace_id', as: 'unique', value: 'traceId' },
  { line: 'span_id', as: 'unique', value: 'spanId' },
  { record: 'explain_id', as: 'unique', value: 'explainId' },
  { line: 'method', record: 'method', as: 'text', value: 'method' },
  { line: 'route', record: 'route', as: 'text', orNull: true, value: 'route' },
  { line: 'path', record: 'path', as: 'text', value: 'path' },
  { record: 'operation', as: 'text', value: 'operation' },
  part(overOf, [{ line: 'status', record: 'status', span: SPAN.httpStatus, as: 'plain', value: 'status' }]),
  { record: 'outcome', as: 'text', value: 'outcome' },
  part(overOf, [{ record: 'outcome_status', as: 'plain', value: 'outcomeStatus' }]),
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
  part(lastOf, [
    { span: SPAN.cacheSimilarity, as: 'plain', value: ({ semantic }) => roundSimilarity(semantic?.similarity) },
  ]),
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
  part(lastOf, [
    { line: 'provider', as: 'text', value: ({ place }) => place?.provider },
    { line: 'request_model', as: 'text', value: ({ place }) => place?.model },
    { line: 'response_model', as: 'text', value: 'responseModel' },
    { line: 'answered_by_other', as: 'text', value: 'substitution' },
    { record: 'commit', as: 'text', value: 'commit' },
    { line: 'finish_reason', record: 'finish_reason', as: 'text', value: 'finish' },
  ]),
  rows({ line: 'attempts', record: 'attempts' }, ATTEMPT_FIELDS, ({ attempts }) => attempts),
  { line: 'retries', as: 'plain', value: ({ attempts, retries }) => (attempts.length > 0 ? retries : undefined) },
  { record: 'retries', as: 'plain', value: 'retries' },
  part(lastOf, [
    { line: 'semantic', as: 'json', value: ({ semantic }) => semantic && semanticOf(semantic) },
    { line: 'token_count', as: 'text', value: ({ estimated }) => (estimated ? 'estimate' : undefined) },
    {
      line: 'losses',
      as: 'texts',
      value: ({ losses }) => (losses.length > 0 ? losses.map(({ param, action }) => `${param}:${action}`) : undefined),
    },
    { line: 'files', as: 'json', value: ({ files }) => (files.length > 0 ? files : undefined) },
    {
      line: 'defaulted',
      as: 'texts',
      value: ({ defaulted }) =>
        defaulted.length > 0 ? defaulted.map(({ param, value }) => `${param}:${value}`) : undefined,
    },
    group({ line: 'tokens' }, TOKEN_FIELDS, ({ answered, usage }) => (answered ? usage : undefined)),
    { span: SPAN.inputTokens, as: 'plain', value: ({ answered, usage }) => (answered ? usage?.input : undefined) },
    { span: SPAN.outputTokens, as: 'plain', value: ({ answered, usage }) => (answered ? usage?.output : undefined) },
  ]),
  part(costOf, [
    {
      line: 'cost_usd',
      record: 'cost_usd',
      span: SPAN.cost,
      as: 'plain',
      value: ({ nano }) => (nano === undefined ? undefined : nano / 1e9),
    },
  ]),
  part(lastOf, [{ line: 'cost_source', as: 'text', value: ({ cost }) => cost?.source }]),
  part(costOf, [
    { line: 'cost_unknown', record: 'cost_unknown', as: 'text', value: 'unknown' },
    {
      line: 'saved_usd',
      record: 'saved_usd',
      as: 'plain',
      value: ({ saved }) => (saved === undefined ? undefined : saved / 1e9),
    },
  ]),
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
