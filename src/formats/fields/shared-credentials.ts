/**
 * Fields that reach what belongs to a provider account as a whole, not to one caller of it: files and caches other callers have
 * stored, containers, servers and indexes the account is connected to, stored completions, labels of its bill. Names hold in either
 * case, those after `**.` at any depth outside free maps.
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
  // The same of OpenAI: tools of type `mcp`, whose server is a connector or an address.
  '**.connector_id',
  '**.server_url',
  // Kept by the account: spoken answers of chat, and what its Responses API knows by id.
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

/** Keys whose texts a model reads as text, whatever they look like. */
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
