/**
 * Fields that reach resources of a whole provider account, shared by all callers: files and caches that other callers
 * stored, containers, servers and indexes that the account is connected to, stored completions, labels of its bill.
 * Names match in either case; names after `**.` match at any depth outside free maps.
 */
export const SHARED_CREDENTIALS = [
  // Files API of OpenAI, Anthropic and Azure (docs/protocols/openai-chat.md#content-parts, docs/protocols/anthropic-messages.md#sources).
  // The gateway issues no file ids: every one is foreign.
  '**.file_id',
  '**.file_ids',
  // Gemini's caches belong to the project (docs/protocols/gemini.md#cached-content).
  '**.cached_content',
  // Anthropic's code execution (docs/protocols/anthropic-messages.md#container), OpenAI's code interpreter.
  '**.container',
  '**.mcp_servers',
  // OpenAI's counterpart: tools of type `mcp`, whose server is a connector or a URL.
  '**.connector_id',
  '**.server_url',
  // Stored in the account: audio answers of chat, and objects that the Responses API references by id.
  'messages[].audio.id',
  'conversation',
  '**.previous_response_id',
  'prompt.id',
  '**.vector_store_ids',
  // Azure OpenAI On Your Data.
  '**.data_sources',
  // Vertex AI's grounding in data stores and corpora of the project.
  '**.vertex_ai_search',
  '**.vertex_rag_store',
  '**.labels',
  '**.store',
] as const;

/** Keys whose string values are text for the model, whatever they look like. */
export const TEXT_KEYS: ReadonlySet<string> = new Set([
  'text',
  'content',
  'arguments',
  'system',
  'prompt',
  'negative_prompt',
  'thinking',
  'reasoning_content',
  'refusal',
  'description',
  'name',
  'title',
  'stop',
  'stop_sequences',
  'stopSequences',
  'user',
]);
