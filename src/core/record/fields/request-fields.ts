import type { BoundedRecord } from '../bounded-record.ts';
import type { RecordedAttempt } from '../record.ts';
import { SPAN } from '../semconv.ts';
import { roundSimilarity } from '../record-semantic.ts';
import {
  ATTEMPT_FIELDS,
  branchOf,
  filesOf,
  semanticOf,
  SKIP_FIELDS,
  textsOf,
  TOKEN_FIELDS,
  tokenCountOf,
  usdOfNano,
} from './attempt-fields.ts';
import { sumOfCosts, unknownOf } from '../../../addons/budgets/record/recorded-cost.ts';
import type { RecordField } from './record-field.ts';
import { group, rows } from './rows.ts';

const isOver = ({ state }: BoundedRecord): boolean => state !== 'running';
/** The attempt that answered, or the last that failed. */
const lastOf = ({ attempts }: BoundedRecord): RecordedAttempt | undefined => attempts.at(-1);
/** Usage of the attempt that answered. */
function paidUsageOf(record: BoundedRecord): RecordedAttempt['usage'] {
  const last = lastOf(record);
  return last?.answered ? last.usage : undefined;
}
const placeOf = (record: BoundedRecord): RecordedAttempt['place'] => lastOf(record)?.place;

const CONFIG_FIELDS: readonly RecordField<BoundedRecord>[] = [
  { record: 'id', as: 'text', value: ({ configId }) => configId },
  { record: 'hash', as: 'text', value: ({ configHash }) => configHash },
];

const PROMPT_FIELDS: readonly RecordField<NonNullable<BoundedRecord['prompt']>>[] = [
  { record: 'id', as: 'text', value: ({ id }) => id },
  { record: 'version', as: 'plain', value: ({ version }) => version },
];

/**
 * What the access line, the admin listener's records and the server span show of a request, in the order in which they
 * show it. A new field is one row.
 */
export const REQUEST_FIELDS: readonly RecordField<BoundedRecord>[] = [
  { line: 'request_id', record: 'request_id', as: 'unique', value: ({ id }) => id },
  { record: 'time', as: 'time', value: ({ receivedAt }) => receivedAt },
  {
    record: 'ended',
    as: 'time',
    value: (record) => (isOver(record) ? record.receivedAt + record.durationMs : undefined),
  },
  { record: 'state', as: 'text', value: ({ state }) => state },
  { line: 'trace_id', record: 'trace_id', as: 'unique', value: ({ traceId }) => traceId },
  { line: 'span_id', as: 'unique', value: ({ spanId }) => spanId },
  { record: 'explain_id', as: 'unique', value: ({ explainId }) => explainId },
  { line: 'method', record: 'method', as: 'text', value: ({ method }) => method },
  { line: 'route', record: 'route', as: 'text', orNull: true, value: ({ route }) => route },
  { line: 'path', record: 'path', as: 'text', value: ({ path }) => path },
  { record: 'operation', as: 'text', value: ({ operation }) => operation },
  {
    line: 'status',
    record: 'status',
    span: SPAN.httpStatus,
    as: 'plain',
    value: (record) => (isOver(record) ? record.status : undefined),
  },
  { record: 'outcome', as: 'text', value: ({ outcome }) => outcome },
  {
    record: 'outcome_status',
    as: 'plain',
    value: (record) => (isOver(record) ? record.outcomeStatus : undefined),
  },
  { line: 'duration_ms', record: 'duration_ms', as: 'ms', value: ({ durationMs }) => durationMs },
  { line: 'overhead_ms', record: 'overhead_ms', as: 'ms', value: ({ overheadMs }) => overheadMs },
  { line: 'ttfc_ms', record: 'first_content_ms', as: 'ms', value: ({ firstContentMs }) => firstContentMs },
  { record: 'deadline_ms', as: 'ms', value: ({ deadlineMs }) => deadlineMs },
  { line: 'bytes_in', record: 'bytes_in', as: 'plain', value: ({ bytesIn }) => bytesIn },
  { line: 'bytes_out', record: 'bytes_out', as: 'plain', value: ({ bytesOut }) => bytesOut },
  { line: 'stream', record: 'stream', as: 'plain', value: ({ stream }) => stream },
  { line: 'cache', record: 'cache', span: SPAN.cacheStatus, as: 'text', value: ({ cache }) => cache },
  { line: 'config_hash', record: 'settings_hash', as: 'text', value: ({ settingsHash }) => settingsHash },
  { line: 'config_id', span: SPAN.configId, as: 'text', value: ({ configId }) => configId || undefined },
  {
    line: 'gateway_config_hash',
    as: 'text',
    value: ({ configId, configHash }) => (configId ? configHash : undefined),
  },
  group({ record: 'config' }, CONFIG_FIELDS, (record) => (record.configId ? record : undefined)),
  { line: 'alias', record: 'alias', span: SPAN.alias, as: 'text', value: ({ alias }) => alias },
  { line: 'prompt', as: 'text', value: ({ prompt }) => prompt && `${prompt.id}@${prompt.version}` },
  group({ record: 'prompt' }, PROMPT_FIELDS, ({ prompt }) => prompt),
  { line: 'upload', record: 'upload', as: 'json', value: ({ upload }) => upload },
  {
    span: SPAN.cacheSimilarity,
    as: 'plain',
    value: (record) => roundSimilarity(lastOf(record)?.semantic?.similarity),
  },
  { span: SPAN.promptName, as: 'text', value: ({ prompt }) => prompt?.id },
  { span: SPAN.promptVersion, as: 'text', value: ({ prompt }) => prompt && String(prompt.version) },
  { line: 'key_id', record: 'key_id', span: SPAN.keyId, as: 'text', value: ({ keyId }) => keyId },
  { line: 'team', record: 'team', span: SPAN.team, as: 'text', value: ({ team }) => team },
  { line: 'metadata', record: 'metadata', as: 'json', value: ({ metadata }) => metadata },
  {
    line: 'metadata_dropped',
    record: 'metadata_dropped',
    as: 'plain',
    value: ({ metadataDropped }) => metadataDropped || undefined,
  },
  { line: 'provider', as: 'text', value: (record) => placeOf(record)?.provider },
  { line: 'request_model', as: 'text', value: (record) => placeOf(record)?.model },
  { line: 'response_model', as: 'text', value: (record) => lastOf(record)?.responseModel },
  { line: 'answered_by_other', as: 'text', value: (record) => lastOf(record)?.substitution },
  { record: 'commit', as: 'text', value: (record) => lastOf(record)?.commit },
  { line: 'finish_reason', record: 'finish_reason', as: 'text', value: (record) => lastOf(record)?.finish },
  rows({ line: 'attempts', record: 'attempts' }, ATTEMPT_FIELDS, ({ attempts }) => attempts),
  { line: 'retries', as: 'plain', value: ({ attempts, retries }) => (attempts.length > 0 ? retries : undefined) },
  { record: 'retries', as: 'plain', value: ({ retries }) => retries },
  {
    line: 'semantic',
    as: 'json',
    value: (record) => {
      const semantic = lastOf(record)?.semantic;
      return semantic && semanticOf(semantic);
    },
  },
  {
    line: 'token_count',
    as: 'text',
    value: (record) => {
      const last = lastOf(record);
      return last && tokenCountOf(last);
    },
  },
  {
    line: 'losses',
    as: 'texts',
    value: (record) => textsOf(lastOf(record)?.losses ?? [], ({ param, action }) => `${param}:${action}`),
  },
  {
    line: 'files',
    as: 'json',
    value: (record) => {
      const last = lastOf(record);
      return last && filesOf(last);
    },
  },
  {
    line: 'defaulted',
    as: 'texts',
    value: (record) => textsOf(lastOf(record)?.defaulted ?? [], ({ param, value }) => `${param}:${value}`),
  },
  group({ line: 'tokens' }, TOKEN_FIELDS, paidUsageOf),
  { span: SPAN.inputTokens, as: 'plain', value: (record) => paidUsageOf(record)?.input },
  { span: SPAN.outputTokens, as: 'plain', value: (record) => paidUsageOf(record)?.output },
  {
    line: 'cost_usd',
    record: 'cost_usd',
    span: SPAN.cost,
    as: 'plain',
    value: ({ attempts }) => usdOfNano(sumOfCosts(attempts, 'nano')),
  },
  { line: 'cost_source', as: 'text', value: (record) => lastOf(record)?.cost?.source },
  {
    line: 'cost_unknown',
    record: 'cost_unknown',
    as: 'text',
    value: ({ attempts }) => unknownOf(attempts),
  },
  {
    line: 'saved_usd',
    record: 'saved_usd',
    as: 'plain',
    value: ({ attempts }) => usdOfNano(sumOfCosts(attempts, 'saved')),
  },
  rows({ line: 'skipped', record: 'skipped' }, SKIP_FIELDS, ({ skipped }) => skipped),
  { line: 'error_code', span: SPAN.errorCode, as: 'text', value: ({ errorCode }) => errorCode },
  {
    line: 'error_type',
    span: SPAN.errorType,
    as: 'text',
    value: ({ errorCode, errorType }) => (errorCode ? errorType : undefined),
  },
  { line: 'plugin', as: 'text', value: ({ plugin }) => plugin },
  {
    record: 'error',
    as: 'json',
    value: ({ errorCode: code, errorType: type, plugin }) => code && { code, type, plugin },
  },
  { line: 'client_ip', record: 'client_ip', as: 'text', value: ({ clientAddress }) => clientAddress },
  { record: 'client_left', as: 'text', value: ({ disconnectStage }) => disconnectStage },
  { line: 'user_agent', as: 'text', value: ({ userAgent }) => userAgent },
  { record: 'rejected', as: 'text', value: ({ rejection }) => rejection },
  {
    line: 'limited_by',
    record: 'limited_by',
    as: 'text',
    value: ({ limitedBy }) => limitedBy,
  },
  { record: 'ignored', as: 'json', value: ({ ignoredPlace }) => ignoredPlace },
  {
    record: 'conditions',
    as: 'json',
    value: ({ conditions }) => (conditions.length > 0 ? conditions.map(branchOf) : undefined),
  },
  {
    record: 'left_out',
    as: 'json',
    value: ({ leftOut, metadataLeftOut }) =>
      metadataLeftOut > 0 ? { ...leftOut, metadata: metadataLeftOut } : leftOut,
  },
];
