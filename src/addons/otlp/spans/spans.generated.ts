// Generated from the tables of fields by `node build/record-code/main.ts`. Do not edit.
import type { Attributes } from '@opentelemetry/api';
import type { BoundedRecord } from '../../../core/record/bounded-record.ts';
import type { RequestRecord, RecordedPlace, RecordedAttempt, RecordedTry } from '../../../core/record/record.ts';
import { METHODS, SERVERS } from './span-fields.ts';
import { finishReasonsOf, namesOf, usdOfNano } from '../../../core/record/fields/attempt-fields.ts';
import { roundSimilarity } from '../../../core/record/record-semantic.ts';
import { totalCost } from '../../../core/record/costs.ts';


export const spanAttributes = {
  server(of: BoundedRecord): Attributes {
    const all: Attributes = {};
    const httpRequestMethod = METHODS.has(of.method) ? of.method : '_OTHER';
    if (httpRequestMethod !== undefined) all['http.request.method'] = httpRequestMethod;
    if (of.path !== undefined) all['url.path'] = of.path;
    const urlScheme = 'http';
    if (urlScheme !== undefined) all['url.scheme'] = urlScheme;
    if (of.clientAddress !== undefined) all['client.address'] = of.clientAddress;
    if (of.id !== undefined) all['gatehouse.request.id'] = of.id;
    if (of.route !== undefined) all['http.route'] = of.route;
    if (of.userAgent !== undefined) all['user_agent.original'] = of.userAgent;
    const over = of.state === 'running' ? undefined : of;
    if (over !== undefined) {
      if (over.status !== undefined) all['http.response.status_code'] = over.status;
    }
    if (of.cache !== undefined) all['gatehouse.cache.status'] = of.cache;
    if (of.configId !== undefined) all['gatehouse.config.id'] = of.configId;
    if (of.alias !== undefined) all['gatehouse.alias'] = of.alias;
    const last = of.attempts.at(-1);
    if (last !== undefined) {
      const gatehouseCacheSimilarity = roundSimilarity(last.semantic?.similarity);
      if (gatehouseCacheSimilarity !== undefined) all['gatehouse.cache.similarity'] = gatehouseCacheSimilarity;
    }
    const promptName = of.prompt?.id;
    if (promptName !== undefined) all['gen_ai.prompt.name'] = promptName;
    const promptVersion = of.prompt && String(of.prompt.version);
    if (promptVersion !== undefined) all['gen_ai.prompt.version'] = promptVersion;
    if (of.keyId !== undefined) all['gatehouse.key.id'] = of.keyId;
    if (of.team !== undefined) all['gatehouse.team'] = of.team;
    if (last !== undefined) {
      const usageInputTokens = last.answered ? last.usage?.input : undefined;
      if (usageInputTokens !== undefined) all['gen_ai.usage.input_tokens'] = usageInputTokens;
      const usageOutputTokens = last.answered ? last.usage?.output : undefined;
      if (usageOutputTokens !== undefined) all['gen_ai.usage.output_tokens'] = usageOutputTokens;
    }
    const cost = totalCost(of.attempts);
    if (cost !== undefined) {
      const gatehouseCostUsd = cost.nano === undefined ? undefined : cost.nano / 1e9;
      if (gatehouseCostUsd !== undefined) all['gatehouse.cost.usd'] = gatehouseCostUsd;
    }
    if (of.errorCode !== undefined) all['gatehouse.error.code'] = of.errorCode;
    const errorType = of.errorCode ? of.errorType : undefined;
    if (errorType !== undefined) all['error.type'] = errorType;
    return all;
  },
  inference(of: RequestRecord): Attributes {
    const all: Attributes = {};
    if (of.semconvName !== undefined) all['gen_ai.operation.name'] = of.semconvName;
    const promptName = of.prompt?.id;
    if (promptName !== undefined) all['gen_ai.prompt.name'] = promptName;
    const promptVersion = of.prompt && String(of.prompt.version);
    if (promptVersion !== undefined) all['gen_ai.prompt.version'] = promptVersion;
    if (of.configId !== undefined) all['gatehouse.config.id'] = of.configId;
    return all;
  },
  place(of: RecordedPlace): Attributes {
    const all: Attributes = {};
    if (of.semconvName !== undefined) all['gen_ai.provider.name'] = of.semconvName;
    if (of.model !== undefined) all['gen_ai.request.model'] = of.model;
    return all;
  },
  attempt(of: RecordedAttempt): Attributes {
    const all: Attributes = {};
    if (of.target !== undefined) all['gatehouse.config.target'] = of.target;
    const gatehouseProviderSlug = of.place?.provider;
    if (gatehouseProviderSlug !== undefined) all['gatehouse.provider.slug'] = gatehouseProviderSlug;
    if (of.number !== undefined) all['gatehouse.attempt'] = of.number;
    if (of.responseModel !== undefined) all['gen_ai.response.model'] = of.responseModel;
    const requestStream = of.stream || undefined;
    if (requestStream !== undefined) all['gen_ai.request.stream'] = requestStream;
    const responseTimeToFirstChunk = of.stream && of.firstContentMs !== undefined ? of.firstContentMs / 1000 : undefined;
    if (responseTimeToFirstChunk !== undefined) all['gen_ai.response.time_to_first_chunk'] = responseTimeToFirstChunk;
    if (of.errorCode !== undefined) all['gatehouse.error.code'] = of.errorCode;
    const errorType = of.errorType || undefined;
    if (errorType !== undefined) all['error.type'] = errorType;
    if (of.cache !== undefined) all['gatehouse.cache.status'] = of.cache;
    const gatehouseCacheSimilarity = roundSimilarity(of.semantic?.similarity);
    if (gatehouseCacheSimilarity !== undefined) all['gatehouse.cache.similarity'] = gatehouseCacheSimilarity;
    const responseFinishReasons = finishReasonsOf(of);
    if (responseFinishReasons !== undefined) all['gen_ai.response.finish_reasons'] = responseFinishReasons;
    const usageInputTokens = of.usage?.input;
    if (usageInputTokens !== undefined) all['gen_ai.usage.input_tokens'] = usageInputTokens;
    const usageOutputTokens = of.usage?.output;
    if (usageOutputTokens !== undefined) all['gen_ai.usage.output_tokens'] = usageOutputTokens;
    const usageCacheReadInputTokens = of.usage?.cacheRead;
    if (usageCacheReadInputTokens !== undefined) all['gen_ai.usage.cache_read.input_tokens'] = usageCacheReadInputTokens;
    const usageCacheWriteInputTokens = of.usage?.cacheWrite;
    if (usageCacheWriteInputTokens !== undefined) all['gen_ai.usage.cache_write.input_tokens'] = usageCacheWriteInputTokens;
    const usageReasoningOutputTokens = of.usage?.reasoning;
    if (usageReasoningOutputTokens !== undefined) all['gen_ai.usage.reasoning.output_tokens'] = usageReasoningOutputTokens;
    const gatehouseCostUsd = usdOfNano(of.cost?.nano);
    if (gatehouseCostUsd !== undefined) all['gatehouse.cost.usd'] = gatehouseCostUsd;
    const gatehouseCostSource = of.cost?.source;
    if (gatehouseCostSource !== undefined) all['gatehouse.cost.source'] = gatehouseCostSource;
    const gatehouseParamsLost = of.losses.length > 0 ? namesOf(of.losses) : undefined;
    if (gatehouseParamsLost !== undefined) all['gatehouse.params_lost'] = gatehouseParamsLost;
    return all;
  },
  earlier(of: RecordedAttempt): Attributes {
    const all: Attributes = {};
    const usageCacheCreationInputTokens = of.usage?.cacheWrite;
    if (usageCacheCreationInputTokens !== undefined) all['gen_ai.usage.cache_creation.input_tokens'] = usageCacheCreationInputTokens;
    return all;
  },
  address(of: string): Attributes {
    const all: Attributes = {};
    const serverAddress = SERVERS.of(of).address;
    if (serverAddress !== undefined) all['server.address'] = serverAddress;
    const serverPort = SERVERS.of(of).port;
    if (serverPort !== undefined) all['server.port'] = serverPort;
    return all;
  },
  call(of: string): Attributes {
    const all: Attributes = {};
    const httpRequestMethod = 'POST';
    if (httpRequestMethod !== undefined) all['http.request.method'] = httpRequestMethod;
    const urlFull = of;
    if (urlFull !== undefined) all['url.full'] = urlFull;
    const serverAddress = SERVERS.of(of).address;
    if (serverAddress !== undefined) all['server.address'] = serverAddress;
    const serverPort = SERVERS.of(of).port;
    if (serverPort !== undefined) all['server.port'] = serverPort;
    return all;
  },
  resent(of: number): Attributes {
    const all: Attributes = {};
    const httpRequestResendCount = of || undefined;
    if (httpRequestResendCount !== undefined) all['http.request.resend_count'] = httpRequestResendCount;
    return all;
  },
  tried(of: RecordedTry): Attributes {
    const all: Attributes = {};
    if (of.status !== undefined) all['http.response.status_code'] = of.status;
    const errorType = of.errorType || undefined;
    if (errorType !== undefined) all['error.type'] = errorType;
    return all;
  },
};
