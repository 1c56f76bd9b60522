// Generated from the tables of fields by `node build/record-code/main.ts`. Do not edit.
import type { BoundedRecord } from '../bounded-record.ts';
import { branchOf, claimsOf, costFields, failureOf, textsOf, usdOfNano, wholeSemantic } from './attempt-fields.ts';
import { cut } from '../cut.ts';
import { finite, isoTime, roundedMs } from './stored-values.ts';
import { totalCost } from '../costs.ts';

/** The object of a stored record; absent fields are undefined. Its texts may have credentials. */
export function valuesOf(record: BoundedRecord): StoredObject {
  const values: StoredObject = { 'request_id': undefined, 'time': undefined, 'ended': undefined, 'state': undefined, 'trace_id': undefined, 'explain_id': undefined, 'method': undefined, 'route': undefined, 'path': undefined, 'operation': undefined, 'status': undefined, 'outcome': undefined, 'outcome_status': undefined, 'duration_ms': undefined, 'overhead_ms': undefined, 'first_content_ms': undefined, 'deadline_ms': undefined, 'bytes_in': undefined, 'bytes_out': undefined, 'stream': undefined, 'cache': undefined, 'settings_hash': undefined, 'config': undefined, 'model': undefined, 'alias': undefined, 'prompt': undefined, 'upload': undefined, 'key_id': undefined, 'team': undefined, 'origin': undefined, 'metadata': undefined, 'metadata_dropped': undefined, 'commit': undefined, 'finish_reason': undefined, 'attempts': undefined, 'retries': undefined, 'cost_usd': undefined, 'cost_unknown': undefined, 'saved_usd': undefined, 'skipped': undefined, 'guards': undefined, 'error': undefined, 'client_ip': undefined, 'client_left': undefined, 'rejected': undefined, 'limited_by': undefined, 'ignored': undefined, 'conditions': undefined, 'draws': undefined, 'left_out': undefined };
  if (record.id !== undefined) values['request_id'] = record.id;
  const shown = isoTime(record.receivedAt, undefined);
  if (shown !== undefined) values['time'] = shown;
  const over = record.state === 'running' ? undefined : record;
  if (over !== undefined) {
    const ended = over.receivedAt + over.durationMs;
    const shown2 = isoTime(ended, undefined);
    if (shown2 !== undefined) values['ended'] = shown2;
  }
  if (record.state !== undefined) values['state'] = record.state;
  if (record.traceId !== undefined) values['trace_id'] = record.traceId;
  if (record.explainId !== undefined) values['explain_id'] = record.explainId;
  if (record.method !== undefined) values['method'] = record.method;
  if (record.route !== undefined) values['route'] = record.route;
  if (record.path !== undefined) values['path'] = record.path;
  if (record.operation !== undefined) values['operation'] = record.operation;
  if (over !== undefined) {
    const shown3 = finite(over.status, undefined);
    if (shown3 !== undefined) values['status'] = shown3;
  }
  if (record.outcome !== undefined) values['outcome'] = record.outcome;
  if (over !== undefined) {
    const shown4 = finite(over.outcomeStatus, undefined);
    if (shown4 !== undefined) values['outcome_status'] = shown4;
  }
  const shown5 = roundedMs(record.durationMs, undefined);
  if (shown5 !== undefined) values['duration_ms'] = shown5;
  const shown6 = roundedMs(record.overheadMs, undefined);
  if (shown6 !== undefined) values['overhead_ms'] = shown6;
  const shown7 = roundedMs(record.firstContentMs, undefined);
  if (shown7 !== undefined) values['first_content_ms'] = shown7;
  const shown8 = roundedMs(record.deadlineMs, undefined);
  if (shown8 !== undefined) values['deadline_ms'] = shown8;
  const shown9 = finite(record.bytesIn, undefined);
  if (shown9 !== undefined) values['bytes_in'] = shown9;
  const shown10 = finite(record.bytesOut, undefined);
  if (shown10 !== undefined) values['bytes_out'] = shown10;
  const shown11 = finite(record.stream, undefined);
  if (shown11 !== undefined) values['stream'] = shown11;
  if (record.cache !== undefined) values['cache'] = record.cache;
  if (record.settingsHash !== undefined) values['settings_hash'] = record.settingsHash;
  const config = record.configId === undefined ? undefined : record;
  if (config !== undefined) {
    const one: StoredObject = { 'id': undefined, 'hash': undefined, 'by': undefined };
    if (config.configId !== undefined) one['id'] = config.configId;
    if (config.configHash !== undefined) one['hash'] = config.configHash;
    if (config.namesConfig !== undefined) one['by'] = config.namesConfig;
    values['config'] = one;
  }
  let model;
  {
    const { askedModel = '', configId } = record;
    model = askedModel === '' && configId === undefined ? undefined : cut(askedModel);
  }
  if (model !== undefined) values['model'] = model;
  if (record.alias !== undefined) values['alias'] = record.alias;
  const prompt = record.prompt;
  if (prompt !== undefined) {
    const one2: StoredObject = { 'id': undefined, 'version': undefined };
    if (prompt.id !== undefined) one2['id'] = prompt.id;
    const shown12 = finite(prompt.version, null);
    if (shown12 !== undefined) one2['version'] = shown12;
    values['prompt'] = one2;
  }
  if (record.upload !== undefined) values['upload'] = record.upload;
  if (record.keyId !== undefined) values['key_id'] = record.keyId;
  if (record.team !== undefined) values['team'] = record.team;
  if (record.origin !== undefined) values['origin'] = record.origin;
  if (record.metadata !== undefined) values['metadata'] = record.metadata;
  const metadataDropped = record.metadataDropped || undefined;
  const shown13 = finite(metadataDropped, undefined);
  if (shown13 !== undefined) values['metadata_dropped'] = shown13;
  const last = record.attempts.at(-1);
  if (last !== undefined) {
    if (last.commit !== undefined) values['commit'] = last.commit;
    if (last.finish !== undefined) values['finish_reason'] = last.finish;
  }
  const attempts = record.attempts;
  const all: StoredObject[] = [];
  for (const item of attempts) {
    const one3: StoredObject = { 'target': undefined, 'target_name': undefined, 'why': undefined, 'provider': undefined, 'request_model': undefined, 'response_model': undefined, 'answered_by_other': undefined, 'url': undefined, 'started_ms': undefined, 'duration_ms': undefined, 'first_content_ms': undefined, 'outcome': undefined, 'answered': undefined, 'failure': undefined, 'cache': undefined, 'semantic': undefined, 'finish_reason': undefined, 'tokens': undefined, 'tokens_claimed': undefined, 'prefixes': undefined, 'token_count': undefined, 'cost_usd': undefined, 'cost_source': undefined, 'cost_unknown': undefined, 'lost_costs': undefined, 'saved_usd': undefined, 'losses': undefined, 'files': undefined, 'defaulted': undefined, 'retries': undefined, 'tries': undefined };
    if (item.target !== undefined) one3['target'] = item.target;
    if (item.targetName !== undefined) one3['target_name'] = item.targetName;
    if (item.why !== undefined) one3['why'] = item.why;
    const provider = item.place?.provider;
    if (provider !== undefined) one3['provider'] = provider;
    const requestModel = item.place?.model;
    if (requestModel !== undefined) one3['request_model'] = requestModel;
    if (item.responseModel !== undefined) one3['response_model'] = item.responseModel;
    if (item.substitution !== undefined) one3['answered_by_other'] = item.substitution;
    const url = item.place?.url;
    if (url !== undefined) one3['url'] = url;
    const shown14 = roundedMs(item.startedMs, undefined);
    if (shown14 !== undefined) one3['started_ms'] = shown14;
    const shown15 = roundedMs(item.durationMs, undefined);
    if (shown15 !== undefined) one3['duration_ms'] = shown15;
    const shown16 = roundedMs(item.firstContentMs, undefined);
    if (shown16 !== undefined) one3['first_content_ms'] = shown16;
    if (item.outcome !== undefined) one3['outcome'] = item.outcome;
    const answered = item.answered || undefined;
    const shown17 = finite(answered, undefined);
    if (shown17 !== undefined) one3['answered'] = shown17;
    const failure = failureOf(item);
    if (failure !== undefined) one3['failure'] = failure;
    if (item.cache !== undefined) one3['cache'] = item.cache;
    const semantic = item.semantic && wholeSemantic(item.semantic);
    if (semantic !== undefined) one3['semantic'] = semantic;
    if (item.finish !== undefined) one3['finish_reason'] = item.finish;
    const tokens = item.usage;
    if (tokens !== undefined) {
      const one4: StoredObject = { 'input': undefined, 'output': undefined, 'cache_read': undefined, 'cache_write': undefined, 'reasoning': undefined, 'seconds': undefined, 'cache_write_1h': undefined, 'audio_in': undefined, 'image_in': undefined, 'audio_out': undefined, 'image_out': undefined, 'tool_use': undefined, 'searches': undefined, 'file_searches': undefined, 'map_searches': undefined, 'containers': undefined, 'images': undefined, 'tier': undefined };
      const shown18 = finite(tokens.input, null);
      if (shown18 !== undefined) one4['input'] = shown18;
      const shown19 = finite(tokens.output, null);
      if (shown19 !== undefined) one4['output'] = shown19;
      const shown20 = finite(tokens.cacheRead, null);
      if (shown20 !== undefined) one4['cache_read'] = shown20;
      const shown21 = finite(tokens.cacheWrite, null);
      if (shown21 !== undefined) one4['cache_write'] = shown21;
      const shown22 = finite(tokens.reasoning, null);
      if (shown22 !== undefined) one4['reasoning'] = shown22;
      const shown23 = finite(tokens.seconds, null);
      if (shown23 !== undefined) one4['seconds'] = shown23;
      const shown24 = finite(tokens.cacheWrite1h, null);
      if (shown24 !== undefined) one4['cache_write_1h'] = shown24;
      const shown25 = finite(tokens.inputAudio, null);
      if (shown25 !== undefined) one4['audio_in'] = shown25;
      const shown26 = finite(tokens.inputImage, null);
      if (shown26 !== undefined) one4['image_in'] = shown26;
      const shown27 = finite(tokens.outputAudio, null);
      if (shown27 !== undefined) one4['audio_out'] = shown27;
      const shown28 = finite(tokens.outputImage, null);
      if (shown28 !== undefined) one4['image_out'] = shown28;
      const shown29 = finite(tokens.toolUse, null);
      if (shown29 !== undefined) one4['tool_use'] = shown29;
      const shown30 = finite(tokens.searches, null);
      if (shown30 !== undefined) one4['searches'] = shown30;
      const shown31 = finite(tokens.fileSearches, null);
      if (shown31 !== undefined) one4['file_searches'] = shown31;
      const shown32 = finite(tokens.mapSearches, null);
      if (shown32 !== undefined) one4['map_searches'] = shown32;
      const shown33 = finite(tokens.containers, null);
      if (shown33 !== undefined) one4['containers'] = shown33;
      const shown34 = finite(tokens.images, null);
      if (shown34 !== undefined) one4['images'] = shown34;
      if (tokens.tier !== undefined) one4['tier'] = tokens.tier;
      one3['tokens'] = one4;
    }
    const tokensClaimed = item.claimedUsage && claimsOf(item.claimedUsage);
    if (tokensClaimed !== undefined) one3['tokens_claimed'] = tokensClaimed;
    if (item.prefixes !== undefined) one3['prefixes'] = item.prefixes;
    const tokenCount = item.estimated ? 'estimate' : undefined;
    if (tokenCount !== undefined) one3['token_count'] = tokenCount;
    const costUsd = usdOfNano(item.cost?.nano);
    const shown35 = finite(costUsd, undefined);
    if (shown35 !== undefined) one3['cost_usd'] = shown35;
    const costSource = item.cost?.source;
    if (costSource !== undefined) one3['cost_source'] = costSource;
    const costUnknown = item.cost?.unknown;
    if (costUnknown !== undefined) one3['cost_unknown'] = costUnknown;
    const lostCosts = item.lostCosts.length > 0 ? item.lostCosts.map(costFields) : undefined;
    if (lostCosts !== undefined) one3['lost_costs'] = lostCosts;
    const savedUsd = usdOfNano(item.cost?.saved);
    const shown36 = finite(savedUsd, undefined);
    if (shown36 !== undefined) one3['saved_usd'] = shown36;
    const losses = textsOf(item.losses, ({ param, action }) => `${param}: ${action}`);
    if (losses !== undefined) one3['losses'] = losses;
    const files = item.files.length > 0 ? item.files : undefined;
    if (files !== undefined) one3['files'] = files;
    const defaulted = textsOf(item.defaulted, ({ param, value }) => `${param}: ${value}`);
    if (defaulted !== undefined) one3['defaulted'] = defaulted;
    const shown37 = finite(item.retries, undefined);
    if (shown37 !== undefined) one3['retries'] = shown37;
    const tries = item.tries;
    const all2: StoredObject[] = [];
    for (const item2 of tries) {
      const one5: StoredObject = { 'started_ms': undefined, 'duration_ms': undefined, 'waited_ms': undefined, 'in_line_ms': undefined, 'outcome': undefined, 'status': undefined, 'error': undefined, 'resent': undefined, 'call': undefined };
      const shown38 = roundedMs(item2.startedMs, undefined);
      if (shown38 !== undefined) one5['started_ms'] = shown38;
      const shown39 = roundedMs(item2.durationMs, undefined);
      if (shown39 !== undefined) one5['duration_ms'] = shown39;
      const waitedMs = item2.waitedMs > 0 ? item2.waitedMs : undefined;
      const shown40 = roundedMs(waitedMs, undefined);
      if (shown40 !== undefined) one5['waited_ms'] = shown40;
      const shown41 = roundedMs(item2.inLineMs, undefined);
      if (shown41 !== undefined) one5['in_line_ms'] = shown41;
      if (item2.outcome !== undefined) one5['outcome'] = item2.outcome;
      const shown42 = finite(item2.status, undefined);
      if (shown42 !== undefined) one5['status'] = shown42;
      let error;
      {
        const { errorCode: code, errorType: type } = item2;
        error = (type === '' ? undefined : { code, type });
      }
      if (error !== undefined) one5['error'] = error;
      const resent = item2.resent || undefined;
      const shown43 = finite(resent, undefined);
      if (shown43 !== undefined) one5['resent'] = shown43;
      const call = item2.call || undefined;
      const shown44 = finite(call, undefined);
      if (shown44 !== undefined) one5['call'] = shown44;
      all2.push(one5);
    }
    one3['tries'] = all2;
    all.push(one3);
  }
  values['attempts'] = all;
  const shown45 = finite(record.retries, undefined);
  if (shown45 !== undefined) values['retries'] = shown45;
  const cost = totalCost(record.attempts);
  if (cost !== undefined) {
    const costUsd2 = cost.nano === undefined ? undefined : cost.nano / 1e9;
    const shown46 = finite(costUsd2, undefined);
    if (shown46 !== undefined) values['cost_usd'] = shown46;
  }
  if (cost !== undefined) {
    if (cost.unknown !== undefined) values['cost_unknown'] = cost.unknown;
    const savedUsd2 = cost.saved === undefined ? undefined : cost.saved / 1e9;
    const shown47 = finite(savedUsd2, undefined);
    if (shown47 !== undefined) values['saved_usd'] = shown47;
  }
  const skipped = record.skipped;
  const all3: StoredObject[] = [];
  for (const item3 of skipped) {
    const one6: StoredObject = { 'target': undefined, 'target_name': undefined, 'provider': undefined, 'reason': undefined, 'after': undefined };
    if (item3.target !== undefined) one6['target'] = item3.target;
    if (item3.targetName !== undefined) one6['target_name'] = item3.targetName;
    if (item3.provider !== undefined) one6['provider'] = item3.provider;
    if (item3.reason !== undefined) one6['reason'] = item3.reason;
    const shown48 = finite(item3.after, undefined);
    if (shown48 !== undefined) one6['after'] = shown48;
    all3.push(one6);
  }
  values['skipped'] = all3;
  if (record.guards !== undefined) values['guards'] = record.guards;
  let error2;
  {
    const { errorCode: code, errorType: type, plugin } = record;
    error2 = code && { code, type, plugin };
  }
  if (error2 !== undefined) values['error'] = error2;
  if (record.clientAddress !== undefined) values['client_ip'] = record.clientAddress;
  if (record.disconnectStage !== undefined) values['client_left'] = record.disconnectStage;
  if (record.rejection !== undefined) values['rejected'] = record.rejection;
  if (record.limitedBy !== undefined) values['limited_by'] = record.limitedBy;
  if (record.ignoredPlace !== undefined) values['ignored'] = record.ignoredPlace;
  const conditions = record.conditions.length > 0 ? record.conditions.map(branchOf) : undefined;
  if (conditions !== undefined) values['conditions'] = conditions;
  if (record.draws !== undefined) values['draws'] = record.draws;
  let leftOut2;
  {
    const { leftOut, metadataLeftOut } = record;
    leftOut2 = metadataLeftOut > 0 ? { ...leftOut, metadata: metadataLeftOut } : leftOut;
  }
  if (leftOut2 !== undefined) values['left_out'] = leftOut2;
  return values;
}

type StoredObject = Record<string, unknown>;
