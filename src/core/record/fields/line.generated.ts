// Generated from the tables of fields by `node build/record-code/main.ts`. Do not edit.
import type { BoundedRecord } from '../bounded-record.ts';
import { RecurringTexts } from './recurring-texts.ts';
import { jsonText, msText, quoted, textsText, uniqueText } from './json-text.ts';
import { semanticOf, textsOf } from './attempt-fields.ts';
import { totalCost } from '../costs.ts';

type Text = string | undefined;

const texts1 = { method: undefined as Text, route: undefined as Text, path: undefined as Text, joined: ',"route":null' };
const quoted1 = new RecurringTexts(quoted);
const texts2 = { cache: undefined as Text, configHash: undefined as Text, configId: undefined as Text, gatewayConfigHash: undefined as Text, alias: undefined as Text, prompt: undefined as Text, joined: '' };
const quoted2 = new RecurringTexts(quoted);
const texts3 = { keyId: undefined as Text, team: undefined as Text, joined: '' };
const quoted3 = new RecurringTexts(quoted);
const texts4 = { provider: undefined as Text, requestModel: undefined as Text, responseModel: undefined as Text, answeredByOther: undefined as Text, finishReason: undefined as Text, joined: '' };
const quoted4 = new RecurringTexts(quoted);
const texts5 = { target: undefined as Text, targetName: undefined as Text, why: undefined as Text, provider: undefined as Text, joined: '' };
const quoted5 = new RecurringTexts(quoted);
const texts6 = { errorCode: undefined as Text, upstreamKind: undefined as Text, joined: '' };
const quoted6 = new RecurringTexts(quoted);
const texts7 = { upstreamParam: undefined as Text, upstreamCode: undefined as Text, joined: '' };
const quoted7 = new RecurringTexts(quoted);
const texts8 = { tokenCount: undefined as Text, joined: '' };
const quoted8 = new RecurringTexts(quoted);
const texts9 = { costSource: undefined as Text, joined: '' };
const quoted9 = new RecurringTexts(quoted);
const texts10 = { costUnknown: undefined as Text, joined: '' };
const quoted10 = new RecurringTexts(quoted);
const texts11 = { target: undefined as Text, targetName: undefined as Text, provider: undefined as Text, reason: undefined as Text, joined: '' };
const quoted11 = new RecurringTexts(quoted);
const texts12 = { errorCode: undefined as Text, errorType: undefined as Text, plugin: undefined as Text, clientIp: undefined as Text, userAgent: undefined as Text, limitedBy: undefined as Text, joined: '' };
const quoted12 = new RecurringTexts(quoted);

/** Adds the members of the access line, each with a comma before it. */
export function lineOf(start: string, record: BoundedRecord): string {
  let line = start;
  if (record.id !== undefined) line += ',"request_id":' + uniqueText(record.id);
  if (record.traceId !== undefined) line += ',"trace_id":' + uniqueText(record.traceId);
  if (record.spanId !== undefined) line += ',"span_id":' + uniqueText(record.spanId);
  if (record.method !== texts1.method || record.route !== texts1.route || record.path !== texts1.path) {
    texts1.joined =
      (record.method === undefined ? '' : ',"method":' + quoted1.of(record.method)) +
      (record.route === undefined ? ',"route":null' : ',"route":' + quoted1.of(record.route)) +
      (record.path === undefined ? '' : ',"path":' + quoted1.of(record.path));
    texts1.method = record.method;
    texts1.route = record.route;
    texts1.path = record.path;
  }
  line += texts1.joined;
  const over = record.state === 'running' ? undefined : record;
  if (over !== undefined) {
    if (over.status !== undefined) line += ',"status":' + (typeof over.status === 'number' && !Number.isFinite(over.status) ? 'null' : over.status);
  }
  if (record.durationMs !== undefined) line += ',"duration_ms":' + msText(record.durationMs);
  if (record.overheadMs !== undefined) line += ',"overhead_ms":' + msText(record.overheadMs);
  if (record.firstContentMs !== undefined) line += ',"ttfc_ms":' + msText(record.firstContentMs);
  if (record.bytesIn !== undefined) line += ',"bytes_in":' + (typeof record.bytesIn === 'number' && !Number.isFinite(record.bytesIn) ? 'null' : record.bytesIn);
  if (record.bytesOut !== undefined) line += ',"bytes_out":' + (typeof record.bytesOut === 'number' && !Number.isFinite(record.bytesOut) ? 'null' : record.bytesOut);
  if (record.stream !== undefined) line += ',"stream":' + (typeof record.stream === 'number' && !Number.isFinite(record.stream) ? 'null' : record.stream);
  const prompt = record.prompt && `${record.prompt.id}@${record.prompt.version}`;
  if (record.cache !== texts2.cache || record.settingsHash !== texts2.configHash || record.configId !== texts2.configId || record.configHash !== texts2.gatewayConfigHash || record.alias !== texts2.alias || prompt !== texts2.prompt) {
    texts2.joined =
      (record.cache === undefined ? '' : ',"cache":' + quoted2.of(record.cache)) +
      (record.settingsHash === undefined ? '' : ',"config_hash":' + quoted2.of(record.settingsHash)) +
      (record.configId === undefined ? '' : ',"config_id":' + quoted2.of(record.configId)) +
      (record.configHash === undefined ? '' : ',"gateway_config_hash":' + quoted2.of(record.configHash)) +
      (record.alias === undefined ? '' : ',"alias":' + quoted2.of(record.alias)) +
      (prompt === undefined ? '' : ',"prompt":' + quoted2.of(prompt));
    texts2.cache = record.cache;
    texts2.configHash = record.settingsHash;
    texts2.configId = record.configId;
    texts2.gatewayConfigHash = record.configHash;
    texts2.alias = record.alias;
    texts2.prompt = prompt;
  }
  line += texts2.joined;
  if (record.upload !== undefined) line += ',"upload":' + jsonText(record.upload);
  if (record.keyId !== texts3.keyId || record.team !== texts3.team) {
    texts3.joined =
      (record.keyId === undefined ? '' : ',"key_id":' + quoted3.of(record.keyId)) +
      (record.team === undefined ? '' : ',"team":' + quoted3.of(record.team));
    texts3.keyId = record.keyId;
    texts3.team = record.team;
  }
  line += texts3.joined;
  if (record.metadata !== undefined) line += ',"metadata":' + jsonText(record.metadata);
  const metadataDropped = record.metadataDropped || undefined;
  if (metadataDropped !== undefined) line += ',"metadata_dropped":' + (typeof metadataDropped === 'number' && !Number.isFinite(metadataDropped) ? 'null' : metadataDropped);
  const last = record.attempts.at(-1);
  if (last !== undefined) {
    const provider = last.place?.provider;
    const requestModel = last.place?.model;
    if (provider !== texts4.provider || requestModel !== texts4.requestModel || last.responseModel !== texts4.responseModel || last.substitution !== texts4.answeredByOther || last.finish !== texts4.finishReason) {
      texts4.joined =
        (provider === undefined ? '' : ',"provider":' + quoted4.of(provider)) +
        (requestModel === undefined ? '' : ',"request_model":' + quoted4.of(requestModel)) +
        (last.responseModel === undefined ? '' : ',"response_model":' + quoted4.of(last.responseModel)) +
        (last.substitution === undefined ? '' : ',"answered_by_other":' + quoted4.of(last.substitution)) +
        (last.finish === undefined ? '' : ',"finish_reason":' + quoted4.of(last.finish));
      texts4.provider = provider;
      texts4.requestModel = requestModel;
      texts4.responseModel = last.responseModel;
      texts4.answeredByOther = last.substitution;
      texts4.finishReason = last.finish;
    }
    line += texts4.joined;
  }
  const attempts = record.attempts;
  if (attempts.length > 0) {
    let before = ',"attempts":[{';
    for (const item of attempts) {
      line += before;
      const provider2 = item.place?.provider;
      if (item.target !== texts5.target || item.targetName !== texts5.targetName || item.why !== texts5.why || provider2 !== texts5.provider) {
        texts5.joined =
          (item.target === undefined ? '' : '"target":' + quoted5.of(item.target)) +
          (item.targetName === undefined ? '' : ',"target_name":' + quoted5.of(item.targetName)) +
          (item.why === undefined ? '' : ',"why":' + quoted5.of(item.why)) +
          (provider2 === undefined ? '' : ',"provider":' + quoted5.of(provider2));
        texts5.target = item.target;
        texts5.targetName = item.targetName;
        texts5.why = item.why;
        texts5.provider = provider2;
      }
      line += texts5.joined;
      const tries = item.tries.length;
      if (tries !== undefined) line += ',"tries":' + (typeof tries === 'number' && !Number.isFinite(tries) ? 'null' : tries);
      const status = item.tries.at(-1)?.status;
      if (status !== undefined) line += ',"status":' + (typeof status === 'number' && !Number.isFinite(status) ? 'null' : status);
      if (item.durationMs !== undefined) line += ',"duration_ms":' + msText(item.durationMs);
      const upstreamKind = item.failure?.upstreamKind;
      if (item.errorCode !== texts6.errorCode || upstreamKind !== texts6.upstreamKind) {
        texts6.joined =
          (item.errorCode === undefined ? '' : ',"error_code":' + quoted6.of(item.errorCode)) +
          (upstreamKind === undefined ? '' : ',"upstream_kind":' + quoted6.of(upstreamKind));
        texts6.errorCode = item.errorCode;
        texts6.upstreamKind = upstreamKind;
      }
      line += texts6.joined;
      const upstreamMessage = item.failure?.upstreamMessage;
      if (upstreamMessage !== undefined) line += ',"upstream_message":' + uniqueText(upstreamMessage);
      const upstreamParam = item.failure?.upstreamParam;
      const upstreamCode = item.failure?.upstreamCode;
      if (upstreamParam !== texts7.upstreamParam || upstreamCode !== texts7.upstreamCode) {
        texts7.joined =
          (upstreamParam === undefined ? '' : ',"upstream_param":' + quoted7.of(upstreamParam)) +
          (upstreamCode === undefined ? '' : ',"upstream_code":' + quoted7.of(upstreamCode));
        texts7.upstreamParam = upstreamParam;
        texts7.upstreamCode = upstreamCode;
      }
      line += texts7.joined;
      before = '},{';
    }
    line += '}]';
  }
  const retries = record.attempts.length > 0 ? record.retries : undefined;
  if (retries !== undefined) line += ',"retries":' + (typeof retries === 'number' && !Number.isFinite(retries) ? 'null' : retries);
  if (last !== undefined) {
    const semantic = last.semantic && semanticOf(last.semantic);
    if (semantic !== undefined) line += ',"semantic":' + jsonText(semantic);
    const tokenCount = last.estimated ? 'estimate' : undefined;
    if (tokenCount !== texts8.tokenCount) {
      texts8.joined =
        (tokenCount === undefined ? '' : ',"token_count":' + quoted8.of(tokenCount));
      texts8.tokenCount = tokenCount;
    }
    line += texts8.joined;
    const losses = last.losses.length > 0 ? last.losses.map(({ param, action }) => `${param}:${action}`) : undefined;
    if (losses !== undefined) line += ',"losses":' + textsText(losses);
    const files = last.files.length > 0 ? last.files : undefined;
    if (files !== undefined) line += ',"files":' + jsonText(files);
    const defaulted = last.defaulted.length > 0 ? last.defaulted.map(({ param, value }) => `${param}:${value}`) : undefined;
    if (defaulted !== undefined) line += ',"defaulted":' + textsText(defaulted);
    const tokens = last.answered ? last.usage : undefined;
    if (tokens !== undefined) {
      line += ',"tokens":{';
      if (tokens.input !== undefined) line += '"input":' + (typeof tokens.input === 'number' && !Number.isFinite(tokens.input) ? 'null' : tokens.input);
      if (tokens.output !== undefined) line += ',"output":' + (typeof tokens.output === 'number' && !Number.isFinite(tokens.output) ? 'null' : tokens.output);
      if (tokens.cacheRead !== undefined) line += ',"cache_read":' + (typeof tokens.cacheRead === 'number' && !Number.isFinite(tokens.cacheRead) ? 'null' : tokens.cacheRead);
      if (tokens.cacheWrite !== undefined) line += ',"cache_write":' + (typeof tokens.cacheWrite === 'number' && !Number.isFinite(tokens.cacheWrite) ? 'null' : tokens.cacheWrite);
      if (tokens.reasoning !== undefined) line += ',"reasoning":' + (typeof tokens.reasoning === 'number' && !Number.isFinite(tokens.reasoning) ? 'null' : tokens.reasoning);
      if (tokens.seconds !== undefined) line += ',"seconds":' + (typeof tokens.seconds === 'number' && !Number.isFinite(tokens.seconds) ? 'null' : tokens.seconds);
      line += '}';
    }
  }
  const cost = totalCost(record.attempts);
  if (cost !== undefined) {
    const costUsd = cost.nano === undefined ? undefined : cost.nano / 1e9;
    if (costUsd !== undefined) line += ',"cost_usd":' + (typeof costUsd === 'number' && !Number.isFinite(costUsd) ? 'null' : costUsd);
  }
  if (last !== undefined) {
    const costSource = last.cost?.source;
    if (costSource !== texts9.costSource) {
      texts9.joined =
        (costSource === undefined ? '' : ',"cost_source":' + quoted9.of(costSource));
      texts9.costSource = costSource;
    }
    line += texts9.joined;
  }
  if (cost !== undefined) {
    if (cost.unknown !== texts10.costUnknown) {
      texts10.joined =
        (cost.unknown === undefined ? '' : ',"cost_unknown":' + quoted10.of(cost.unknown));
      texts10.costUnknown = cost.unknown;
    }
    line += texts10.joined;
    const savedUsd = cost.saved === undefined ? undefined : cost.saved / 1e9;
    if (savedUsd !== undefined) line += ',"saved_usd":' + (typeof savedUsd === 'number' && !Number.isFinite(savedUsd) ? 'null' : savedUsd);
  }
  const skipped = record.skipped;
  if (skipped.length > 0) {
    let before2 = ',"skipped":[{';
    for (const item2 of skipped) {
      line += before2;
      if (item2.target !== texts11.target || item2.targetName !== texts11.targetName || item2.provider !== texts11.provider || item2.reason !== texts11.reason) {
        texts11.joined =
          (item2.target === undefined ? '' : '"target":' + quoted11.of(item2.target)) +
          (item2.targetName === undefined ? '' : ',"target_name":' + quoted11.of(item2.targetName)) +
          (item2.provider === undefined ? '' : ',"provider":' + quoted11.of(item2.provider)) +
          (item2.reason === undefined ? '' : ',"reason":' + quoted11.of(item2.reason));
        texts11.target = item2.target;
        texts11.targetName = item2.targetName;
        texts11.provider = item2.provider;
        texts11.reason = item2.reason;
      }
      line += texts11.joined;
      if (item2.after !== undefined) line += ',"after":' + (typeof item2.after === 'number' && !Number.isFinite(item2.after) ? 'null' : item2.after);
      before2 = '},{';
    }
    line += '}]';
  }
  const guards = record.guards && textsOf(record.guards, ({ guard, on, verdict }) => `${guard}:${on}:${verdict}`);
  if (guards !== undefined) line += ',"guards":' + textsText(guards);
  const errorType = record.errorCode ? record.errorType : undefined;
  if (record.errorCode !== texts12.errorCode || errorType !== texts12.errorType || record.plugin !== texts12.plugin || record.clientAddress !== texts12.clientIp || record.userAgent !== texts12.userAgent || record.limitedBy !== texts12.limitedBy) {
    texts12.joined =
      (record.errorCode === undefined ? '' : ',"error_code":' + quoted12.of(record.errorCode)) +
      (errorType === undefined ? '' : ',"error_type":' + quoted12.of(errorType)) +
      (record.plugin === undefined ? '' : ',"plugin":' + quoted12.of(record.plugin)) +
      (record.clientAddress === undefined ? '' : ',"client_ip":' + quoted12.of(record.clientAddress)) +
      (record.userAgent === undefined ? '' : ',"user_agent":' + quoted12.of(record.userAgent)) +
      (record.limitedBy === undefined ? '' : ',"limited_by":' + quoted12.of(record.limitedBy));
    texts12.errorCode = record.errorCode;
    texts12.errorType = errorType;
    texts12.plugin = record.plugin;
    texts12.clientIp = record.clientAddress;
    texts12.userAgent = record.userAgent;
    texts12.limitedBy = record.limitedBy;
  }
  line += texts12.joined;
  return line;
}
