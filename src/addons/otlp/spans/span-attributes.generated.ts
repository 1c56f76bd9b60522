// Generated from the tables of fields by `node build/record-code/main.ts`. Do not edit.
import type { BoundedRecord } from '../../../core/record/bounded-record.ts';
import type { Bytes } from './protobuf.ts';
import type { RequestRecord, RecordedPlace, RecordedAttempt, RecordedTry } from '../../../core/record/record.ts';
import { METHODS, SERVERS } from './span-fields.ts';
import { attribute, plainAttribute, textAttribute } from './attribute-bytes.ts';
import { finishReasonsOf, namesOf, usdOfNano } from '../../../core/record/fields/attempt-fields.ts';
import { roundSimilarity } from '../../../core/record/record-semantic.ts';
import { totalCost } from '../../../core/record/costs.ts';

const server1 = textAttribute('http.request.method');
const server2 = textAttribute('url.path');
const server3 = textAttribute('url.scheme');
const server4 = textAttribute('client.address');
const server5 = textAttribute('http.route');
const server6 = textAttribute('user_agent.original');
const server7 = plainAttribute('http.response.status_code');
const server8 = textAttribute('gatehouse.cache.status');
const server9 = textAttribute('gatehouse.config.id');
const server10 = textAttribute('gatehouse.alias');
const server11 = plainAttribute('gatehouse.cache.similarity');
const server12 = textAttribute('gen_ai.prompt.name');
const server13 = textAttribute('gen_ai.prompt.version');
const server14 = textAttribute('gatehouse.key.id');
const server15 = textAttribute('gatehouse.team');
const server16 = plainAttribute('gen_ai.usage.input_tokens');
const server17 = plainAttribute('gen_ai.usage.output_tokens');
const server18 = plainAttribute('gatehouse.cost.usd');
const server19 = textAttribute('gatehouse.error.code');
const server20 = textAttribute('error.type');
const inference1 = textAttribute('gen_ai.operation.name');
const inference2 = textAttribute('gen_ai.prompt.name');
const inference3 = textAttribute('gen_ai.prompt.version');
const inference4 = textAttribute('gatehouse.config.id');
const place1 = textAttribute('gen_ai.provider.name');
const place2 = textAttribute('gen_ai.request.model');
const attempt1 = textAttribute('gatehouse.config.target');
const attempt2 = textAttribute('gatehouse.provider.slug');
const attempt3 = plainAttribute('gatehouse.attempt');
const attempt4 = textAttribute('gen_ai.response.model');
const attempt5 = plainAttribute('gen_ai.request.stream');
const attempt6 = plainAttribute('gen_ai.response.time_to_first_chunk');
const attempt7 = textAttribute('gatehouse.error.code');
const attempt8 = textAttribute('error.type');
const attempt9 = textAttribute('gatehouse.cache.status');
const attempt10 = plainAttribute('gatehouse.cache.similarity');
const attempt11 = plainAttribute('gen_ai.usage.input_tokens');
const attempt12 = plainAttribute('gen_ai.usage.output_tokens');
const attempt13 = plainAttribute('gen_ai.usage.cache_read.input_tokens');
const attempt14 = plainAttribute('gen_ai.usage.cache_write.input_tokens');
const attempt15 = plainAttribute('gen_ai.usage.reasoning.output_tokens');
const attempt16 = plainAttribute('gatehouse.cost.usd');
const attempt17 = textAttribute('gatehouse.cost.source');
const earlier1 = plainAttribute('gen_ai.usage.cache_creation.input_tokens');
const address1 = textAttribute('server.address');
const address2 = plainAttribute('server.port');
const call1 = textAttribute('http.request.method');
const call2 = textAttribute('url.full');
const call3 = textAttribute('server.address');
const call4 = plainAttribute('server.port');
const resent1 = plainAttribute('http.request.resend_count');
const tried1 = plainAttribute('http.response.status_code');
const tried2 = textAttribute('error.type');

export const spanAttributeBytes = {
  server(of: BoundedRecord): Bytes {
    let all: Bytes = '';
    const httpRequestMethod = METHODS.has(of.method) ? of.method : '_OTHER';
    if (httpRequestMethod !== undefined) all += server1.of(httpRequestMethod);
    if (of.path !== undefined) all += server2.of(of.path);
    const urlScheme = 'http';
    if (urlScheme !== undefined) all += server3.of(urlScheme);
    if (of.clientAddress !== undefined) all += server4.of(of.clientAddress);
    if (of.id !== undefined) all += attribute('gatehouse.request.id', of.id);
    if (of.route !== undefined) all += server5.of(of.route);
    if (of.userAgent !== undefined) all += server6.of(of.userAgent);
    const over = of.state === 'running' ? undefined : of;
    if (over !== undefined) {
      if (over.status !== undefined) all += server7(over.status);
    }
    if (of.cache !== undefined) all += server8.of(of.cache);
    if (of.configId !== undefined) all += server9.of(of.configId);
    if (of.alias !== undefined) all += server10.of(of.alias);
    const last = of.attempts.at(-1);
    if (last !== undefined) {
      const gatehouseCacheSimilarity = roundSimilarity(last.semantic?.similarity);
      if (gatehouseCacheSimilarity !== undefined) all += server11(gatehouseCacheSimilarity);
    }
    const promptName = of.prompt?.id;
    if (promptName !== undefined) all += server12.of(promptName);
    const promptVersion = of.prompt && String(of.prompt.version);
    if (promptVersion !== undefined) all += server13.of(promptVersion);
    if (of.keyId !== undefined) all += server14.of(of.keyId);
    if (of.team !== undefined) all += server15.of(of.team);
    if (last !== undefined) {
      const usageInputTokens = last.answered ? last.usage?.input : undefined;
      if (usageInputTokens !== undefined) all += server16(usageInputTokens);
      const usageOutputTokens = last.answered ? last.usage?.output : undefined;
      if (usageOutputTokens !== undefined) all += server17(usageOutputTokens);
    }
    const cost = totalCost(of.attempts);
    if (cost !== undefined) {
      const gatehouseCostUsd = cost.nano === undefined ? undefined : cost.nano / 1e9;
      if (gatehouseCostUsd !== undefined) all += server18(gatehouseCostUsd);
    }
    if (of.errorCode !== undefined) all += server19.of(of.errorCode);
    const errorType = of.errorCode ? of.errorType : undefined;
    if (errorType !== undefined) all += server20.of(errorType);
    return all;
  },
  inference(of: RequestRecord): Bytes {
    let all: Bytes = '';
    if (of.semconvName !== undefined) all += inference1.of(of.semconvName);
    const promptName = of.prompt?.id;
    if (promptName !== undefined) all += inference2.of(promptName);
    const promptVersion = of.prompt && String(of.prompt.version);
    if (promptVersion !== undefined) all += inference3.of(promptVersion);
    if (of.configId !== undefined) all += inference4.of(of.configId);
    return all;
  },
  place(of: RecordedPlace): Bytes {
    let all: Bytes = '';
    if (of.semconvName !== undefined) all += place1.of(of.semconvName);
    if (of.model !== undefined) all += place2.of(of.model);
    return all;
  },
  attempt(of: RecordedAttempt): Bytes {
    let all: Bytes = '';
    if (of.target !== undefined) all += attempt1.of(of.target);
    const gatehouseProviderSlug = of.place?.provider;
    if (gatehouseProviderSlug !== undefined) all += attempt2.of(gatehouseProviderSlug);
    if (of.number !== undefined) all += attempt3(of.number);
    if (of.responseModel !== undefined) all += attempt4.of(of.responseModel);
    const requestStream = of.stream || undefined;
    if (requestStream !== undefined) all += attempt5(requestStream);
    const responseTimeToFirstChunk = of.stream && of.firstContentMs !== undefined ? of.firstContentMs / 1000 : undefined;
    if (responseTimeToFirstChunk !== undefined) all += attempt6(responseTimeToFirstChunk);
    if (of.errorCode !== undefined) all += attempt7.of(of.errorCode);
    const errorType = of.errorType || undefined;
    if (errorType !== undefined) all += attempt8.of(errorType);
    if (of.cache !== undefined) all += attempt9.of(of.cache);
    const gatehouseCacheSimilarity = roundSimilarity(of.semantic?.similarity);
    if (gatehouseCacheSimilarity !== undefined) all += attempt10(gatehouseCacheSimilarity);
    const responseFinishReasons = finishReasonsOf(of);
    if (responseFinishReasons !== undefined) all += attribute('gen_ai.response.finish_reasons', [...responseFinishReasons]);
    const usageInputTokens = of.usage?.input;
    if (usageInputTokens !== undefined) all += attempt11(usageInputTokens);
    const usageOutputTokens = of.usage?.output;
    if (usageOutputTokens !== undefined) all += attempt12(usageOutputTokens);
    const usageCacheReadInputTokens = of.usage?.cacheRead;
    if (usageCacheReadInputTokens !== undefined) all += attempt13(usageCacheReadInputTokens);
    const usageCacheWriteInputTokens = of.usage?.cacheWrite;
    if (usageCacheWriteInputTokens !== undefined) all += attempt14(usageCacheWriteInputTokens);
    const usageReasoningOutputTokens = of.usage?.reasoning;
    if (usageReasoningOutputTokens !== undefined) all += attempt15(usageReasoningOutputTokens);
    const gatehouseCostUsd = usdOfNano(of.cost?.nano);
    if (gatehouseCostUsd !== undefined) all += attempt16(gatehouseCostUsd);
    const gatehouseCostSource = of.cost?.source;
    if (gatehouseCostSource !== undefined) all += attempt17.of(gatehouseCostSource);
    const gatehouseParamsLost = of.losses.length > 0 ? namesOf(of.losses) : undefined;
    if (gatehouseParamsLost !== undefined) all += attribute('gatehouse.params_lost', [...gatehouseParamsLost]);
    return all;
  },
  earlier(of: RecordedAttempt): Bytes {
    let all: Bytes = '';
    const usageCacheCreationInputTokens = of.usage?.cacheWrite;
    if (usageCacheCreationInputTokens !== undefined) all += earlier1(usageCacheCreationInputTokens);
    return all;
  },
  address(of: string): Bytes {
    let all: Bytes = '';
    const serverAddress = SERVERS.of(of).address;
    if (serverAddress !== undefined) all += address1.of(serverAddress);
    const serverPort = SERVERS.of(of).port;
    if (serverPort !== undefined) all += address2(serverPort);
    return all;
  },
  call(of: string): Bytes {
    let all: Bytes = '';
    const httpRequestMethod = 'POST';
    if (httpRequestMethod !== undefined) all += call1.of(httpRequestMethod);
    const urlFull = of;
    if (urlFull !== undefined) all += call2.of(urlFull);
    const serverAddress = SERVERS.of(of).address;
    if (serverAddress !== undefined) all += call3.of(serverAddress);
    const serverPort = SERVERS.of(of).port;
    if (serverPort !== undefined) all += call4(serverPort);
    return all;
  },
  resent(of: number): Bytes {
    let all: Bytes = '';
    const httpRequestResendCount = of || undefined;
    if (httpRequestResendCount !== undefined) all += resent1(httpRequestResendCount);
    return all;
  },
  tried(of: RecordedTry): Bytes {
    let all: Bytes = '';
    if (of.status !== undefined) all += tried1(of.status);
    const errorType = of.errorType || undefined;
    if (errorType !== undefined) all += tried2.of(errorType);
    return all;
  },
};
