// Generated from the tables of metrics by `node build/record-code/main.ts`. Do not edit.
import type { RequestRecord, RecordedAttempt } from '../record.ts';
import type { SeriesCells, AttemptCells, Counting } from './known-cells.ts';
import { OTHER, modelOf, type RequestSeries, type AttemptSeries } from './metric-spec.ts';
import { UPLOAD } from './library-metrics.ts';
import { knownParam, noteRetries, secondsPerToken } from './upstream-metrics.ts';
import { vectorsOf } from './usage-metrics.ts';

// Each comment has the metric that the code below it counts.

/** The numbers of steps when this was generated. */
export const GENERATED = { requests: 15, attempts: 29 };

export function countRequest(record: RequestRecord, cells: SeriesCells<RequestSeries>, to: Counting): void {
  const { by, series } = cells;
  const { exemplar } = to;
  // gatehouse_requests_total
  if (record.state) {
    const cell = series[0];
    if (cell !== undefined && !cell.removed) cell.add(1, exemplar);
    else series[0] = to.first(0, by, 1);
  }
  // gatehouse_request_errors_total
  if (record.errorCode) {
    const cell2 = series[1];
    if (cell2 !== undefined && !cell2.removed) cell2.add(1, exemplar);
    else series[1] = to.first(1, by, 1);
  }
  // gatehouse_request_duration_seconds
  const value = record.durationMs / 1000;
  if (value !== undefined) {
    const cell3 = series[2];
    if (cell3 !== undefined && !cell3.removed) cell3.add(value, exemplar);
    else series[2] = to.first(2, by, value);
  }
  // gatehouse_request_overhead_seconds
  const value2 = record.disconnectStage ? undefined : record.overheadMs / 1000;
  if (value2 !== undefined) {
    const cell4 = series[3];
    if (cell4 !== undefined && !cell4.removed) cell4.add(value2, exemplar);
    else series[3] = to.first(3, by, value2);
  }
  // gatehouse_request_body_bytes
  const value3 = record.bytesIn > 0 ? record.bytesIn : undefined;
  if (value3 !== undefined) {
    const cell5 = series[4];
    if (cell5 !== undefined && !cell5.removed) cell5.add(value3, exemplar);
    else series[4] = to.first(4, by, value3);
  }
  // gatehouse_response_body_bytes
  if (record.bytesOut !== undefined) {
    const cell6 = series[5];
    if (cell6 !== undefined && !cell6.removed) cell6.add(record.bytesOut, exemplar);
    else series[5] = to.first(5, by, record.bytesOut);
  }
  // gatehouse_requests_rejected_total
  if (record.rejection) {
    const cell7 = series[6];
    if (cell7 !== undefined && !cell7.removed) cell7.add(1, exemplar);
    else series[6] = to.first(6, by, 1);
  }
  // gatehouse_client_disconnects_total
  if (record.disconnectStage) {
    const cell8 = series[7];
    if (cell8 !== undefined && !cell8.removed) cell8.add(1, exemplar);
    else series[7] = to.first(7, by, 1);
  }
  // gatehouse_fallbacks_total
  {
    const { attempts } = record;
    const note = to.notes.fallbacks;
    for (let index = 1; index < attempts.length; index += 1) {
      const [before, attempt] = [attempts[index - 1]!, attempts[index]!];
      // Without a slug there is only the provider name of the request, which a caller writes freely.
      const [from_target, to_target] = [before.place?.provider ?? '', attempt.place?.provider ?? ''];
      note({ from_target, to_target, reason: before.errorType });
    }
  }
  // gatehouse_params_lost_total
  {
    const { attempts } = record;
    const note = to.notes.paramsLost;
    for (const { place, losses } of attempts)
      for (const { param, action, count } of losses)
        note({ provider: place?.provider ?? '', param: knownParam(param) ?? OTHER, action }, count);
  }
  // gatehouse_cache_requests_total
  {
    const { attempts } = record;
    const note = to.notes.cacheRequests;
    for (const { cache, cacheMode: mode } of attempts) if (cache) note({ mode, result: cache });
  }
  // gatehouse_alias_requests_total
  {
    const { alias, attempts, outcome } = record;
    const note = to.notes.aliasRequests;
    if (alias !== undefined) {
      const place = attempts.at(-1)?.place;
      note({ alias, provider: place?.provider ?? '', request_model: place?.modelLabel ?? '', outcome });
    }
  }
  // gatehouse_prompt_requests_total
  {
    const { prompt, outcome } = record;
    const note = to.notes.promptRequests;
    if (prompt) note({ prompt: prompt.id, version: String(prompt.version), outcome });
  }
  // gatehouse_file_uploads_total
  {
    const { operation, outcome } = record;
    const note = to.notes.fileUploads;
    if (operation === UPLOAD) note({ outcome });
  }
  // gatehouse_file_upload_bytes_total
  {
    const { operation, outcome, bytesIn } = record;
    const note = to.notes.fileUploadBytes;
    if (operation === UPLOAD) note({ outcome }, bytesIn);
  }
}

export function countAttempt(attempt: RecordedAttempt, cells: AttemptCells<AttemptSeries>, to: Counting): void {
  const { by, series, ofTries } = cells;
  const { exemplar } = to;
  const usage = attempt.answered ? attempt.usage : undefined;
  // A model that counts seconds or pictures may count no tokens.
  const isInTokens = usage !== undefined && usage.seconds === undefined && (!usage.images || usage.total > 0);
  const tokens = isInTokens ? usage : undefined;
  // gatehouse_upstream_attempts_total
  if (attempt.counted) {
    const cell = series[0];
    if (cell !== undefined && !cell.removed) cell.add(1, exemplar);
    else series[0] = to.firstOfAttempt(0, by, 1);
  }
  // gatehouse_upstream_failures_total
  const value = attempt.failure?.kinds[0] === undefined ? undefined : 1;
  if (value !== undefined) {
    const cell2 = series[1];
    if (cell2 !== undefined && !cell2.removed) cell2.add(value, exemplar);
    else series[1] = to.firstOfAttempt(1, by, value);
  }
  // gatehouse_upstream_request_duration_seconds
  for (const one of attempt.tries) {
    const known = (ofTries[one.outcome] ??= []);
    const value2 = one.durationMs / 1000;
    if (value2 !== undefined) {
      const cell3 = known[2];
      if (cell3 !== undefined && !cell3.removed) cell3.add(value2, exemplar);
      else known[2] = to.firstOfTry(2, by, one.outcome, value2);
    }
  }
  // gatehouse_upstream_time_to_first_chunk_seconds
  const value3 = attempt.stream && attempt.answered && attempt.firstContentMs !== undefined && attempt.tries.length > 0 ? attempt.firstContentMs / 1000 : undefined;
  if (value3 !== undefined) {
    const cell4 = series[3];
    if (cell4 !== undefined && !cell4.removed) cell4.add(value3, exemplar);
    else series[3] = to.firstOfAttempt(3, by, value3);
  }
  // gatehouse_upstream_time_per_output_token_seconds
  const value4 = attempt.stream ? secondsPerToken(attempt) : undefined;
  if (value4 !== undefined) {
    const cell5 = series[4];
    if (cell5 !== undefined && !cell5.removed) cell5.add(value4, exemplar);
    else series[4] = to.firstOfAttempt(4, by, value4);
  }
  // gatehouse_upstream_pool_wait_seconds
  for (const one of attempt.tries) {
    const known = (ofTries[one.outcome] ??= []);
    const value5 = one.inLineMs === undefined ? undefined : one.inLineMs / 1000;
    if (value5 !== undefined) {
      const cell6 = known[5];
      if (cell6 !== undefined && !cell6.removed) cell6.add(value5, exemplar);
      else known[5] = to.firstOfTry(5, by, one.outcome, value5);
    }
  }
  // gatehouse_upstream_retries_total
  {
    const { tries } = attempt;
    const { provider } = by;
    const note = to.notes.upstreamRetries;
    if (tries.length !== 1 || tries[0]!.resent) noteRetries(tries, provider, note);
  }
  // gatehouse_tokens_total
  {
    const { semantic } = attempt;
    const note = to.notes.tokens;
    const call = semantic?.embedding;
    if (call?.tokens !== undefined) note({ ...vectorsOf(call), type: 'input' }, call.tokens);
  }
  // gatehouse_tokens_total
  if (tokens?.input !== undefined) {
    const cell7 = series[8];
    if (cell7 !== undefined && !cell7.removed) cell7.add(tokens.input, exemplar);
    else series[8] = to.firstOfAttempt(8, by, tokens.input);
  }
  // gatehouse_tokens_total
  if (tokens?.output !== undefined) {
    const cell8 = series[9];
    if (cell8 !== undefined && !cell8.removed) cell8.add(tokens.output, exemplar);
    else series[9] = to.firstOfAttempt(9, by, tokens.output);
  }
  // gatehouse_tokens_total
  if (tokens?.cacheRead !== undefined) {
    const cell9 = series[10];
    if (cell9 !== undefined && !cell9.removed) cell9.add(tokens.cacheRead, exemplar);
    else series[10] = to.firstOfAttempt(10, by, tokens.cacheRead);
  }
  // gatehouse_tokens_total
  if (tokens?.cacheWrite !== undefined) {
    const cell10 = series[11];
    if (cell10 !== undefined && !cell10.removed) cell10.add(tokens.cacheWrite, exemplar);
    else series[11] = to.firstOfAttempt(11, by, tokens.cacheWrite);
  }
  // gatehouse_tokens_total
  if (tokens?.reasoning !== undefined) {
    const cell11 = series[12];
    if (cell11 !== undefined && !cell11.removed) cell11.add(tokens.reasoning, exemplar);
    else series[12] = to.firstOfAttempt(12, by, tokens.reasoning);
  }
  // gatehouse_usage_doubted_total
  if (attempt.claimedUsage) {
    const cell12 = series[13];
    if (cell12 !== undefined && !cell12.removed) cell12.add(1, exemplar);
    else series[13] = to.firstOfAttempt(13, by, 1);
  }
  // gatehouse_audio_seconds_total
  const value6 = attempt.answered ? attempt.usage?.seconds : undefined;
  if (value6 !== undefined) {
    const cell13 = series[14];
    if (cell13 !== undefined && !cell13.removed) cell13.add(value6, exemplar);
    else series[14] = to.firstOfAttempt(14, by, value6);
  }
  // gatehouse_usage_units_total
  if (usage?.images) {
    const cell14 = series[15];
    if (cell14 !== undefined && !cell14.removed) cell14.add(usage.images, exemplar);
    else series[15] = to.firstOfAttempt(15, by, usage.images);
  }
  // gatehouse_usage_units_total
  if (usage?.searches) {
    const cell15 = series[16];
    if (cell15 !== undefined && !cell15.removed) cell15.add(usage.searches, exemplar);
    else series[16] = to.firstOfAttempt(16, by, usage.searches);
  }
  // gatehouse_usage_units_total
  if (usage?.fileSearches) {
    const cell16 = series[17];
    if (cell16 !== undefined && !cell16.removed) cell16.add(usage.fileSearches, exemplar);
    else series[17] = to.firstOfAttempt(17, by, usage.fileSearches);
  }
  // gatehouse_usage_units_total
  if (usage?.mapSearches) {
    const cell17 = series[18];
    if (cell17 !== undefined && !cell17.removed) cell17.add(usage.mapSearches, exemplar);
    else series[18] = to.firstOfAttempt(18, by, usage.mapSearches);
  }
  // gatehouse_usage_units_total
  if (usage?.containers) {
    const cell18 = series[19];
    if (cell18 !== undefined && !cell18.removed) cell18.add(usage.containers, exemplar);
    else series[19] = to.firstOfAttempt(19, by, usage.containers);
  }
  // gatehouse_cost_nano_usd_total
  {
    const { lostCosts, semantic } = attempt;
    const labels = by;
    const note = to.notes.cost;
    for (const { nano, source } of lostCosts) if (nano !== undefined) note({ ...modelOf(labels), source }, nano);
    const call = semantic?.embedding;
    if (call?.cost?.nano !== undefined) note({ ...vectorsOf(call), source: call.cost.source }, call.cost.nano);
  }
  // gatehouse_cost_nano_usd_total
  const value7 = attempt.cost?.source === 'cache' ? undefined : attempt.cost?.nano;
  if (value7 !== undefined) {
    const cell19 = series[21];
    if (cell19 !== undefined && !cell19.removed) cell19.add(value7, exemplar);
    else series[21] = to.firstOfAttempt(21, by, value7);
  }
  // gatehouse_cost_unknown_total
  {
    const { lostCosts, semantic } = attempt;
    const labels = by;
    const note = to.notes.costUnknown;
    for (const { unknown } of lostCosts) if (unknown) note({ ...modelOf(labels), reason: unknown });
    const call = semantic?.embedding;
    if (call?.cost?.unknown) note({ ...vectorsOf(call), reason: call.cost.unknown });
  }
  // gatehouse_cost_unknown_total
  const value8 = attempt.cost?.unknown === undefined ? undefined : 1;
  if (value8 !== undefined) {
    const cell20 = series[23];
    if (cell20 !== undefined && !cell20.removed) cell20.add(value8, exemplar);
    else series[23] = to.firstOfAttempt(23, by, value8);
  }
  // gatehouse_answered_by_other_total
  if (attempt.substitution) {
    const cell21 = series[24];
    if (cell21 !== undefined && !cell21.removed) cell21.add(1, exemplar);
    else series[24] = to.firstOfAttempt(24, by, 1);
  }
  // gatehouse_cache_saved_nano_usd_total
  const value9 = attempt.cost?.saved;
  if (value9 !== undefined) {
    const cell22 = series[25];
    if (cell22 !== undefined && !cell22.removed) cell22.add(value9, exemplar);
    else series[25] = to.firstOfAttempt(25, by, value9);
  }
  // gatehouse_request_tokens
  if (tokens?.input !== undefined) {
    const cell23 = series[26];
    if (cell23 !== undefined && !cell23.removed) cell23.add(tokens.input, exemplar);
    else series[26] = to.firstOfAttempt(26, by, tokens.input);
  }
  // gatehouse_request_tokens
  if (tokens?.output !== undefined) {
    const cell24 = series[27];
    if (cell24 !== undefined && !cell24.removed) cell24.add(tokens.output, exemplar);
    else series[27] = to.firstOfAttempt(27, by, tokens.output);
  }
  // gatehouse_cache_embeddings_total
  {
    const { semantic } = attempt;
    const note = to.notes.cacheEmbeddings;
    if (semantic?.embedding) note({ provider: semantic.embedding.provider, result: semantic.embedding.result });
  }
}
