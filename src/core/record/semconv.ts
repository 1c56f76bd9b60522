/**
 * Names of span attributes and metrics, in one file because the GenAI conventions change: semantic-conventions-genai as
 * of 2026-08, for HTTP v1.44.0; earlier names: v1.41. The published package of constants has the old `gen_ai` names.
 */
export const SPAN = {
  // HTTP
  httpMethod: 'http.request.method',
  httpRoute: 'http.route',
  httpStatus: 'http.response.status_code',
  httpResend: 'http.request.resend_count',
  urlScheme: 'url.scheme',
  urlPath: 'url.path',
  urlFull: 'url.full',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  clientAddress: 'client.address',
  userAgent: 'user_agent.original',
  errorType: 'error.type',
  // GenAI
  operationName: 'gen_ai.operation.name',
  providerName: 'gen_ai.provider.name',
  promptName: 'gen_ai.prompt.name',
  promptVersion: 'gen_ai.prompt.version',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  // Gatehouse
  requestId: 'gatehouse.request.id',
  keyId: 'gatehouse.key.id',
  team: 'gatehouse.team',
  alias: 'gatehouse.alias',
  configId: 'gatehouse.config.id',
  configTarget: 'gatehouse.config.target',
  /** Followed by the metadata's own key. */
  metadata: 'gatehouse.metadata.',
  providerSlug: 'gatehouse.provider.slug',
  attempt: 'gatehouse.attempt',
  cacheStatus: 'gatehouse.cache.status',
  cacheSimilarity: 'gatehouse.cache.similarity',
  cost: 'gatehouse.cost.usd',
  costSource: 'gatehouse.cost.source',
  errorCode: 'gatehouse.error.code',
  lostParams: 'gatehouse.params_lost',
} as const;
